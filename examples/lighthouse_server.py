#!/usr/bin/env python3
"""Serves the example site of this folder live: lighthouse_server.py PORT_FILE

Listens on a free port of 127.0.0.1 and writes it to PORT_FILE. The site changes when the process
gets SIGUSR1: it has three states. It also answers as a proxy for http://lighthouse.example/, so that
a crawler sees it under its own name.
"""

import http.server
import signal
import sys
import urllib.parse

sys.dont_write_bytecode = True

import make_lighthouse  # noqa: E402

HTML = "text/html; charset=utf-8"
CSS = """body { font: 18px/1.5 Georgia, serif; max-width: 34em; margin: 3em auto; padding: 0 1em;
       color: #234; background: #f4f1e8 }
h1 { border-bottom: 3px solid #b33 }
a { color: #256 }
"""
TOWER = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 220" width="200" height="220">
<rect width="200" height="220" fill="#cfe3ee"/><path d="M100 40 L200 5 L200 75 Z" fill="#fff3b0"/>
<path d="M85 60 h30 l12 130 h-54 Z" fill="#fff"/><path d="M82 90 h36 l2 25 h-40 Z" fill="#b33"/>
<path d="M79 140 h44 l2 25 h-49 Z" fill="#b33"/><rect x="84" y="30" width="32" height="30"
fill="#234"/><circle cx="100" cy="45" r="9" fill="#ffe066"/><path d="M0 190 q25 -14 50 0 t50 0 t50 0
t50 0 V220 H0 Z" fill="#3a6f8f"/></svg>
"""


def site(hours, news):
    """As make_lighthouse has it, after the museum found a designer."""
    pages = make_lighthouse.site(hours, news)
    pages[""] = (HTML, make_lighthouse.page(
        "The Lighthouse at Cape Stele", "<p><img src=\"/tower.svg\" alt=\"The tower\"></p>\n"
        "<p>Built in 1871, 32 metres high.</p>"))
    pages["style.css"] = ("text/css", CSS.encode())
    pages["tower.svg"] = ("image/svg+xml", TOWER.encode())
    return pages


def states():
    yield site("Tuesday to Sunday, 10 to 18.", ["Longer hours from February."])
    yield site("Every day, 9 to 20.", ["Summer hours.", "Longer hours from February."])
    last = site("Every day, 9 to 20.", ["Tours by night: <a href=\"/tours.html\">see here</a>.",
                                        "Summer hours."])
    last["tours.html"] = (HTML, make_lighthouse.page(
        "Tours", "<p>By night, with lamps, on the first Friday of a month.</p>"))
    yield last


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    coming = states()
    pages = next(coming)

    @classmethod
    def change(cls, *_):
        cls.pages = next(cls.coming, cls.pages)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path.lstrip("/")
        kind, body = self.pages.get(path, ("text/html", b"<p>There is no such page.</p>\n"))
        self.send_response(200 if path in self.pages else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    signal.signal(signal.SIGUSR1, Site.change)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(f"{server.server_port}\n")
    server.serve_forever()


if __name__ == "__main__":
    main()
