"""Whatever a server sends, and whatever it is asked, lies in the archive byte for byte."""

import base64
import gzip
import hashlib
import re
import socketserver
import threading
import unittest
import zlib

from crawl_lab import CrawlTest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ZIPPED = gzip.compress(b"<p>zipped</p>", mtime=0)
PACKED = zlib.compress(b"<p>packed</p>")

# What is sent, after which the connection is closed; the payload; WARC-Truncated.
ANSWERS = {
    "plain": (HEAD + b"Content-Length: 3\r\n\r\nabc", b"abc", None),
    "chunks": (CHUNKED + b'3;ext="1"\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n', b"abcde", None),
    "until-close": (HEAD + b"\r\nto the end", b"to the end", None),
    "short": (HEAD + b"Content-Length: 99\r\n\r\nabc", b"abc", "disconnect"),
    "no-last-chunk": (CHUNKED + b"3\r\nabc\r\n", b"abc", "disconnect"),
    "chunk-cut": (CHUNKED + b"30\r\nabc", b"abc", "disconnect"),
    "not-chunked": (CHUNKED + b"<html>hello</html>", b"<html>hello</html>", None),
    "both-lengths": (HEAD + b"Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"3\r\nabc\r\n0\r\n\r\n", b"abc", None),
    "two-lengths": (HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", b"abcde", None),
    "no-reason": (b"HTTP/1.1 404\r\nContent-Length: 4\r\n\r\ngone", b"gone", None),
    "eight-bit": ("HTTP/1.1 404 Artículo no encontrado\r\nX: \xe9\r\n\r\nx".encode("latin-1"),
                  b"x", None),
    "line-feeds": (b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", b"abc", None),
    "folded": (b"HTTP/1.1 200 OK\r\nX-Odd : a\r\nX-Fold: b\r\n c\r\nno colon\r\nx: 1\r\nX: 2\r\n"
               b"\r\nabc", b"abc", None),
    "controls": (HEAD + b"X: a\0b\x01\r\nContent-Length: 3\r\n\r\na\0c", b"a\0c", None),
    "long-head": (HEAD + b"X: " + b"y" * 200_000 + b"\r\n\r\nabc", b"abc", None),
    "old": (b"HTTP/1.0 200 OK\r\n\r\nold", b"old", None),
    "radio": (b"ICY 200 OK\r\nicy-name: radio\r\n\r\nmp3", b"mp3", None),
    "gzip-and-more": (HEAD + b"Content-Encoding: gzip\r\n\r\n" + ZIPPED + b"garbage",
                      ZIPPED + b"garbage", None),
    "gzip-cut": (HEAD + b"Content-Encoding: gzip\r\n\r\n" + ZIPPED[:20], ZIPPED[:20], None),
    "no-gzip": (HEAD + b"Content-Encoding: gzip\r\n\r\n<p>x", b"<p>x", None),
    "deflate": (HEAD + b"Content-Encoding: deflate\r\n\r\n" + PACKED, PACKED, None),
    "nul": (HEAD + b"\r\n\0\0\0<p>\0", b"\0\0\0<p>\0", None),
    "empty": (HEAD + b"Content-Length: 0\r\n\r\n", b"", None),
}
# No answers; the crawl gives them up and says so.
FAILURES = {"nothing": b"", "ancient": b"<html>ancient</html>", "head-cut": b"HTTP/1.1 200 OK\r\nX"}


class WireHandler(socketserver.StreamRequestHandler):
    def handle(self):
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            request += line
        name = request.split()[1].decode().lstrip("/")
        self.server.asked.setdefault(name, []).append(request)
        if not name:
            links = "".join(f'<a href="/{name}">x</a>' for name in [*ANSWERS, *FAILURES])
            answer = HEAD + b"\r\n" + links.encode()
        elif name in FAILURES:
            answer = FAILURES[name]
        else:
            answer = ANSWERS.get(name, (b"HTTP/1.1 404 Not Found\r\n\r\n",))[0]
        self.wfile.write(answer)


class WireServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class Wire(CrawlTest):
    def test_I1_the_bytes_in_the_archive_are_those_on_the_wire(self):
        server = WireServer(("127.0.0.1", 0), WireHandler)
        server.asked = {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.crawl(f"http://127.0.0.1:{server.server_address[1]}/")
        responses, requests = {}, {}
        for fields, block in self.records():
            name = re.sub(r"^http://[^/]*/|>$", "", fields.get("WARC-Target-URI", ""))
            kind = {"response": responses, "request": requests}.get(fields["WARC-Type"], {})
            self.assertNotIn(name, kind)
            kind[name] = (fields, block)
        self.assertEqual(set(responses), {"", "robots.txt", *ANSWERS})
        for name, (sent, payload, truncated) in ANSWERS.items():
            with self.subTest(name):
                fields, block = responses[name]
                self.assertEqual(block, sent)
                digest = base64.b32encode(hashlib.sha1(payload).digest()).decode()
                self.assertEqual(fields["WARC-Payload-Digest"], "sha1:" + digest)
                self.assertEqual(fields.get("WARC-Truncated"), truncated)
                self.assertEqual(fields["WARC-IP-Address"], "127.0.0.1")
                self.assertEqual(requests[name][1], server.asked[name][-1])
                self.assertEqual(len(server.asked[name]), 2 if truncated else 1)
        logged = {line[3].rsplit("/", 1)[1]: line[1] for line in self.log(1)}
        self.assertEqual({name: logged[name] for name in FAILURES}, dict.fromkeys(FAILURES, "-3"))
        self.check_containers()
        self.stele("verify")


if __name__ == "__main__":
    unittest.main()
