"""What the tests of an archive share: records made by hand, and an archive to bring them to."""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

STELE = os.environ["STELE"]


def record(kind, url, date, block, *fields):
    head = [b"WARC/1.1", b"WARC-Type: " + kind.encode(), b"WARC-Target-URI: " + url.encode(),
            b"WARC-Date: " + date.encode(),
            b"WARC-Record-ID: <urn:uuid:" +
            hashlib.md5((kind + url + date).encode()).hexdigest().encode() + b">",
            b"Content-Type: application/http; msgtype=response",
            b"Content-Length: " + str(len(block)).encode()] + [f.encode() for f in fields]
    return gzip.compress(b"\r\n".join(head) + b"\r\n\r\n" + block + b"\r\n\r\n")


def response(url, date, body, status=200, mime="text/html"):
    block = f"HTTP/1.1 {status} X\r\nContent-Type: {mime}\r\n\r\n".encode() + body
    return record("response", url, date, block)


class Archive(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stele-archive-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.archive = self.folder / "archive"

    def run_stele(self, *arguments, code=0, **more):
        done = subprocess.run([STELE, *map(str, arguments)], capture_output=True, check=False,
                              timeout=300, **more)
        self.said = done.stderr.decode()
        self.assertEqual(done.returncode, code, self.said)
        return done.stdout.decode("utf-8", "replace")

    def stele(self, command, *arguments, **more):
        return self.run_stele(command, "--archive", self.archive, *arguments, **more)

    def put(self, name, *records):
        path = self.folder / name
        path.write_bytes(b"".join(records))
        return path

    def rows(self, *arguments):
        return [json.loads(line) for line in self.stele("ls", "--json", *arguments).splitlines()]
