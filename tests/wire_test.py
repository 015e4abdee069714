"""Whatever a server sends, and whatever it is asked, lies in the archive byte for byte."""

import base64
import fcntl
import gzip
import hashlib
import re
import socket
import socketserver
import struct
import termios
import threading
import time
import unittest
import zlib

from crawl_lab import CrawlTest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ZIPPED = gzip.compress(b"<p>zipped</p>", mtime=0)
PACKED = zlib.compress(b"<p>packed</p>")
EARLY = (b"HTTP/1.1 103 Early Hints\r\nLink: </linked/early>; rel=preload\r\n\r\n"
         b"HTTP/1.1 102  \r\n\r\n")
SIZE_MAX = 300_000


def linked(name):
    """A page of its own for each coding, by which one sees that it was read."""
    return f"<a href=/linked/{name}>x</a>".encode()


def brotli(data):
    """One block that is not compressed."""
    return ((len(data) - 1) << 4 | 1 << 20).to_bytes(3, "little") + data + b"\x03"


def zstd(data):
    """Likewise."""
    return (b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) +
            (len(data) << 3 | 1).to_bytes(3, "little") + data)


def chunk(data):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)


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
    "early": (EARLY + HEAD + b"Content-Length: 3\r\n\r\nabc", b"abc", None),
    "partial": (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/9\r\n"
                b"Content-Length: 3\r\n\r\nabc", b"abc", None),
    "no-content": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", None),
    "reset": (HEAD + b"Content-Length: 99\r\n\r\nabc", b"abc", "disconnect"),
    "surplus": (HEAD + b"Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\nmore", b"abc", None),
    "blank-lines": (b"\r\n\r\n" + HEAD + b"Content-Length: 3\r\n\r\nabc", b"abc", None),
    "too-long": (HEAD + b"\r\n" + b"x" * (SIZE_MAX + 9), b"x" * SIZE_MAX, "length"),
    "br": (HEAD + b"Content-Encoding: br\r\n\r\n" + brotli(linked("br")), brotli(linked("br")),
           None),
    "zstd": (HEAD + b"Content-Encoding: zstd\r\n\r\n" + zstd(linked("zstd")),
             zstd(linked("zstd")), None),
    "coded-chunks": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" +
                     chunk(gzip.compress(linked("chunks"), mtime=0)),
                     gzip.compress(linked("chunks"), mtime=0), None),
}
# What is stored of it, where that is not all.
STORED = {"early": ANSWERS["early"][0].removeprefix(EARLY),
          "surplus": ANSWERS["surplus"][0].partition(b"HTTP/1.1 200 OK\r\n\r\nmore")[0],
          "too-long": ANSWERS["too-long"][0][:-9]}
LINKED = {f"linked/{name}" for name in ("early", "br", "zstd", "chunks")}
# No answers; the crawl gives them up and says so.
FAILURES = {"nothing": b"", "ancient": b"<html>ancient</html>", "head-cut": b"HTTP/1.1 200 OK\r\nX",
            "endless-head": HEAD + b"X: " + b"y" * (2 << 20)}


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
        if name == "surplus":
            self.rfile.readline()  # it is the client who hangs up
        if name == "reset":
            self.reset()

    def reset(self):
        """Hangs up without a goodbye, when all is there: what is on its way would be lost."""
        unsent = bytearray(4)
        while True:
            fcntl.ioctl(self.connection, termios.TIOCOUTQ, unsent)
            if not any(unsent):
                break
            time.sleep(0.001)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())


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
        self.crawl(f"http://127.0.0.1:{server.server_address[1]}/", "--max-file-size", SIZE_MAX,
                   "--dedup", "off")
        responses, requests, notes = {}, {}, {}
        for fields, block in self.records():
            name = re.sub(r"^http://[^/]*/|>$", "", fields.get("WARC-Target-URI", ""))
            kind = {"response": responses, "request": requests,
                    "metadata": notes}.get(fields["WARC-Type"], {})
            self.assertNotIn(name, kind)
            kind[name] = (fields, block)
        self.assertEqual(set(responses), {"", "robots.txt", *ANSWERS, *LINKED})
        interim = re.search(rb"^interimResponses: (.*)\r$", notes["early"][1], re.MULTILINE)
        self.assertEqual(base64.b64decode(interim[1]), EARLY)
        for name, (sent, payload, truncated) in ANSWERS.items():
            with self.subTest(name):
                fields, block = responses[name]
                self.assertEqual(block, STORED.get(name, sent))
                digest = base64.b32encode(hashlib.sha1(payload).digest()).decode()
                self.assertEqual(fields["WARC-Payload-Digest"], "sha1:" + digest)
                self.assertEqual(fields.get("WARC-Truncated"), truncated)
                self.assertEqual(fields["WARC-IP-Address"], "127.0.0.1")
                self.assertEqual(requests[name][1], server.asked[name][-1])
                self.assertEqual(len(server.asked[name]), 2 if truncated == "disconnect" else 1)
        logged = {line[3].rsplit("/", 1)[1]: line for line in self.log(1)}
        self.assertEqual({logged[name][1] for name in FAILURES}, {"-3"})
        self.assertIn("notHttp", logged["ancient"][11].split(","))
        self.assertIn("headerTrunc", logged["endless-head"][11].split(","))
        self.check_containers()
        self.stele("verify")


if __name__ == "__main__":
    unittest.main()
