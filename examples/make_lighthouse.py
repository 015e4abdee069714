#!/usr/bin/env python3
"""Makes the example archive files of this folder: a museum's small web site, collected three times.

The files are checked in; run this only to change them. Nothing of Stele is used, so that they are
an independent witness of what Stele reads.
"""

import base64
import gzip
import hashlib
import os
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = "http://lighthouse.example/"
CSS = "body { font-family: serif; background: #f4f1e8 url(waves.png) }\nh1 { color: #234 }\n"


def png(size, shade):
    """A grey square of `size` pixels: enough of a picture for a test."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\0" + bytes((shade + x * y) % 256 for x in range(size)) for y in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def page(title, body):
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>{title}</title><link rel=\"stylesheet\" href=\"/style.css\"></head>\n"
            f"<body><h1>{title}</h1>\n{body}\n"
            "<p><a href=\"/\">Home</a> <a href=\"/hours.html\">Opening hours</a> "
            "<a href=\"/news.html\">News</a></p></body></html>\n").encode()


def site(hours, news):
    return {
        "": ("text/html; charset=utf-8", page(
            "The Lighthouse at Cape Stele",
            "<p>Built in 1871, 32 metres high.</p><img src=\"/tower.png\" alt=\"The tower\">")),
        "hours.html": ("text/html; charset=utf-8", page("Opening hours", f"<p>{hours}</p>")),
        "news.html": ("text/html; charset=utf-8", page("News", "<ul>" + "".join(
            f"<li>{item}</li>" for item in news) + "</ul>")),
        "style.css": ("text/css", CSS.encode()),
        "tower.png": ("image/png", png(64, 40)),
        "waves.png": ("image/png", png(16, 90)),
        "robots.txt": ("text/plain", b"User-agent: *\nDisallow:\n"),
    }


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


class Warc:
    """WARC 1.1, one gzip member per record."""

    def __init__(self):
        self.bytes = b""
        self.count = 0

    def add(self, type, date, block, **fields):
        self.count += 1
        id = hashlib.md5(f"{type}{date}{self.count}".encode()).hexdigest()
        id = f"<urn:uuid:{id[:8]}-{id[8:12]}-4{id[13:16]}-a{id[17:20]}-{id[20:]}>"
        head = [f"WARC-Type: {type}", f"WARC-Date: {date}", f"WARC-Record-ID: {id}"]
        head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        head += [f"WARC-Block-Digest: {sha1(block)}", f"Content-Length: {len(block)}"]
        record = b"WARC/1.1\r\n" + "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"
        self.bytes += gzip.compress(record, 9, mtime=0)
        return id


def response(type, body, chunked):
    head = f"HTTP/1.1 200 OK\r\nServer: example\r\nContent-Type: {type}\r\n"
    if chunked:
        return (head + "Transfer-Encoding: chunked\r\n\r\n").encode() + \
            f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def collect(name, date, pages, earlier):
    """One run. `earlier`: payload digest to (URI, date, record id) of the runs before."""
    warc = Warc()
    about = b"software: examples/make_lighthouse.py\r\nformat: WARC File Format 1.1\r\n"
    warc.add("warcinfo", date, about,
             WARC_Filename=name, Content_Type="application/warc-fields")
    for path, (type, body) in pages.items():
        uri = SITE + path
        block = response(type, body, chunked=path == "news.html")
        digest = sha1(body)
        common = {"WARC_Target_URI": uri, "WARC_IP_Address": "192.0.2.1",
                  "WARC_Payload_Digest": digest}
        if digest in earlier:
            target, when, id = earlier[digest]
            warc.add("revisit", date, block[:block.index(b"\r\n\r\n") + 4], **common,
                     WARC_Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                     WARC_Refers_To=id, WARC_Refers_To_Target_URI=target, WARC_Refers_To_Date=when,
                     WARC_Truncated="length", Content_Type="application/http;msgtype=response")
            continue
        id = warc.add("response", date, block, **common,
                      Content_Type="application/http;msgtype=response")
        earlier[digest] = (uri, date, id)
        request = f"GET /{path} HTTP/1.1\r\nHost: lighthouse.example\r\n\r\n".encode()
        warc.add("request", date, request, WARC_Target_URI=uri, WARC_Concurrent_To=id,
                 Content_Type="application/http;msgtype=request")
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(warc.bytes)


def collect_arc(name, date, pages):
    """The same as crawlers wrote it before WARC."""
    first = "1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"
    records = [f"filedesc://{name} 0.0.0.0 {date} text/plain {len(first)}\n{first}\n".encode()]
    for path, (type, body) in pages.items():
        block = response(type, body, chunked=False)
        line = f"{SITE}{path} 192.0.2.1 {date} {type.split(';')[0]} {len(block)}\n"
        records.append(line.encode() + block + b"\n")
    with open(os.path.join(HERE, name), "wb") as file:
        for record in records:
            file.write(gzip.compress(record, 9, mtime=0))


def main():
    collect_arc("lighthouse-2006.arc.gz", "20060510120000",
                site("Open on Sundays.", ["The lamp is electric now."]))
    earlier = {}
    collect("lighthouse-2026-01.warc.gz", "2026-01-10T09:00:00Z",
            site("Tuesday to Sunday, 10 to 16.", ["Winter closing ends on 1 February."]), earlier)
    collect("lighthouse-2026-02.warc.gz", "2026-02-10T09:00:00Z",
            site("Tuesday to Sunday, 10 to 18.", ["Longer hours from February.",
                                                  "Winter closing ends on 1 February."]), earlier)


if __name__ == "__main__":
    main()
