"""A small web on the loopback for the tests of the crawler, and a crawler to let loose on it."""

import collections
import gzip
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

STELE = os.environ["STELE"]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # clients that are killed hang up


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        web = self.server.web
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        with web.lock:
            web.requests.append((host, self.path, time.monotonic(), dict(self.headers)))
        answer = web.pages.get((host, self.path.split("?")[0])) or web.pages.get((host, "*"))
        time.sleep(web.latency)
        if callable(answer):
            answer = answer(self)
        if answer is None:
            answer = (404, {}, b"nothing here")
        status, headers, body = answer
        self.send_response_only(status)
        self.send_header("Date", "Mon, 16 Nov 2026 11:00:00 GMT")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *words):
        pass


class Web:
    """Hosts with pages: web.add("a.test", "/x", "<a href=/y>"). Each host has an address."""

    def __init__(self):
        self.pages = {}
        self.requests = []
        self.latency = 0
        self.lock = threading.Lock()
        self.addresses = {}
        self.servers = []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def url(self, host, path="/"):
        return f"http://{host}:{self.port}{path}"

    def listen(self, host):
        address = f"127.0.1.{len(self.addresses) + 1}"
        self.addresses[host] = address
        server = Server((address, self.port), Handler)
        server.web = self
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.servers.append(server)

    def add(self, host, path, body, mime="text/html", status=200, **headers):
        """`body` may be a function that gets the request's handler and returns an answer."""
        if host not in self.addresses:
            self.listen(host)
        if callable(body):
            self.pages[host, path] = body
            return
        fields = {"Content-Type": mime}
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        self.pages[host, path] = (status, fields, body.encode() if isinstance(body, str) else body)

    def asked(self, host):
        """How often each path of a host was asked for."""
        with self.lock:
            return collections.Counter(path for name, path, _, _ in self.requests if name == host)

    def times(self, host):
        with self.lock:
            return [(path, at) for name, path, at, _ in self.requests if name == host]

    def forget(self):
        with self.lock:
            self.requests.clear()

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class CrawlTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stele-crawl-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.web = Web()
        self.addCleanup(self.web.close)
        self.archive = self.folder / "archive"

    def words(self, *arguments, delay="0", favicons=False):
        words = [STELE, "crawl", "--archive", str(self.archive)]
        if not favicons:
            words += ["--no-favicons"]
        if delay is not None:
            words += ["--delay", delay]
        for host, address in self.web.addresses.items():
            words += ["--resolve", f"{host}={address}"]
        return words + [str(word) for word in arguments]

    def crawl(self, *arguments, code=0, **more):
        done = subprocess.run(self.words(*arguments, **more), capture_output=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, code, (done.stdout.decode(), done.stderr.decode()))
        self.said = done.stderr.decode()
        return done.stdout.decode()

    def stele(self, *words, code=0):
        done = subprocess.run([STELE, words[0], "--archive", str(self.archive), *words[1:]],
                              capture_output=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode()

    def captures(self, *arguments):
        return [json.loads(line) for line in self.stele("ls", "--json", *arguments).splitlines()]

    def urls(self, *arguments):
        """What was captured, with the status, without the port."""
        return sorted((row["url"].replace(f":{self.web.port}", ""), row["status"])
                      for row in self.captures(*arguments))

    def containers(self):
        return sorted(self.archive.glob("volumes/**/*.warc.gz"))

    def records(self):
        """All records of the containers, as (headers, block)."""
        for path in self.containers():
            data = gzip.decompress(path.read_bytes())
            while data:
                head, _, rest = data.partition(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
                size = int(fields["Content-Length"])
                yield fields, rest[:size]
                data = rest[size + 4:]

    def check_containers(self):
        self.assertTrue(self.containers())
        done = subprocess.run([STELE, "warc", "check", *map(str, self.containers())],
                              capture_output=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, (done.stdout.decode(), done.stderr.decode()))

    def run_folder(self, run):
        (folder,) = self.archive.glob(f"crawl/*/run-{run}")
        return folder

    def report(self, run):
        return json.loads((self.run_folder(run) / "report.json").read_text())

    def log(self, run):
        return [line.split() for line in
                (self.run_folder(run) / "crawl.log").read_text().splitlines()]
