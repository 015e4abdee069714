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

TOURS = ("text/html; charset=utf-8", make_lighthouse.page(
    "Tours", "<p>By night, with lamps, on the first Friday of a month.</p>"))


def states():
    yield make_lighthouse.site("Tuesday to Sunday, 10 to 18.", ["Longer hours from February."])
    yield make_lighthouse.site("Every day, 9 to 20.", ["Summer hours.",
                                                      "Longer hours from February."])
    last = make_lighthouse.site("Every day, 9 to 20.", [
        "Tours by night: <a href=\"/tours.html\">see here</a>.", "Summer hours."])
    last["tours.html"] = TOURS
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
