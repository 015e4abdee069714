"""What is exported, and what is crawled, replays completely in a pywb that has nothing else.

pywb is used where it could be installed (bench/peers.py); where it is missing, that is said.
"""

import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import crawl_lab

STELE = os.environ["STELE"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "build/peers/bin"
SAMPLES = pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "warc-samples"
EXAMPLES = ROOT / "examples"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(os.access(PEERS / "wayback", os.X_OK),
                     "the peer pywb is not installed (bench/peers.py installs it)")
class Pywb(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stele-pywb-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.archive = self.folder / "archive"

    def stele(self, *words, codes=(0,)):
        done = subprocess.run([STELE, *map(str, words)], capture_output=True, check=False)
        self.assertIn(done.returncode, codes, done.stderr.decode())
        return done.stdout

    def serve(self, *files):
        home = self.folder / "pywb"
        home.mkdir()
        for words in (["init", "c"], ["add", "c", *files]):
            subprocess.run([PEERS / "wb-manager", *words], cwd=home, check=True,
                           capture_output=True)
        port = free_port()
        server = subprocess.Popen([PEERS / "wayback", "-p", str(port), "--bind", "127.0.0.1"],
                                  cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.1)
        self.fail("pywb does not answer")

    def replay_all(self, *files):
        """Each capture with status 200 that a GET leads to; returns how many there were."""
        subprocess.run([STELE, "import", "--quiet", "--archive", self.archive, *files],
                       capture_output=True, check=False)
        warc = self.folder / "out.warc.gz"
        self.stele("export", "--quiet", "--archive", self.archive, warc, codes=(0, 1))
        return self.compare_all(self.serve(warc))

    def compare_all(self, port, rows=None):
        if rows is None:
            rows = [json.loads(line) for line in
                    self.stele("ls", "--json", "--archive", self.archive).splitlines()]
        # pywb knows times to the second and one capture for each.
        count = {}
        for row in rows:
            count[row["key"], row["time"][:19]] = count.get((row["key"], row["time"][:19]), 0) + 1
        replayed = 0
        for row in rows:
            if (count[row["key"], row["time"][:19]] > 1 or row["status"] != 200
                    or "__wb_method" in row["key"] or not row["url"].startswith("http")):
                continue
            stamp = row["time"][:19].translate(str.maketrans("", "", "-:T"))
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            url = row["url"] if row["url"].count("/") > 2 else row["url"].replace("?", "/?", 1)
            if url.count("/") == 2:
                url += "/"
            connection.request("GET", f"/c/{stamp}id_/{url.replace(' ', '%20')}", headers={
                "Connection": "close", "Accept-Encoding": "gzip, deflate, br"})
            answer = connection.getresponse()
            try:
                body = answer.read()
            except http.client.IncompleteRead as cut:  # what was captured was cut, too
                body = cut.partial
            connection.close()
            with self.subTest(row["url"], time=row["time"]):
                self.assertEqual(answer.status, 200)
                ours = self.stele("get", "--payload", "--archive", self.archive, "--at",
                                  row["time"], row["url"], codes=(0, 1))
                self.assertEqual(hashlib.sha256(body).hexdigest(),
                                 hashlib.sha256(ours).hexdigest())
            replayed += 1
        return replayed

    def test_D6_containers_of_crawls_replay_as_they_lie_there(self):
        port_file = self.folder / "port"
        site = subprocess.Popen([sys.executable, EXAMPLES / "lighthouse_server.py", port_file])
        self.addCleanup(site.wait)
        self.addCleanup(site.kill)
        while not (port_file.exists() and port_file.read_text().endswith("\n")):
            time.sleep(0.05)
        for _ in range(3):
            self.stele("crawl", "--archive", self.archive, "--delay", "0", "--proxy",
                       f"127.0.0.1:{port_file.read_text().strip()}", "http://lighthouse.example/")
            site.send_signal(signal.SIGUSR1)
            time.sleep(1.1)  # so that pywb can tell the captures apart
        rows = self.stele("ls", "--json", "--archive", self.archive)
        self.assertGreater(rows.count(b'"revisit": true'), 5)
        files = sorted(self.archive.glob("volumes/main/*/*.warc.gz"))
        self.assertEqual(len(files), 3)
        self.assertGreater(self.compare_all(self.serve(*files)), 15)

    def test_D4_what_was_not_fetched_again_replays(self):
        web = crawl_lab.Web()
        self.addCleanup(web.close)

        def answer(handler):
            body = (b'<img src="/x.png"><a href="/next">next</a>' if handler.path != "/x.png"
                    else b"\x89PNG" + bytes(range(256)))
            fields = {"Content-Type": "image/png" if handler.path == "/x.png" else "text/html",
                      "Last-Modified": "Thu, 01 Feb 2001 10:00:00 GMT", "ETag": '"1"'}
            if handler.headers.get("If-None-Match") == '"1"':
                return 304, {"ETag": '"1"'}, b""
            return 200, fields, body
        for path in ("/", "/next", "/x.png"):
            web.add("site.test", path, answer)
        for words in ([], ["--dedup-headers", "etag", "--dedup-text"],
                      ["--dedup-headers", "timestamp", "--dedup-text", "--dedup-abort"]):
            self.stele("crawl", "--archive", self.archive, "--delay", "0", "--resolve",
                       f"site.test={web.addresses['site.test']}", *words, web.url("site.test"))
            time.sleep(1.1)  # so that pywb can tell the captures apart
        rows = [json.loads(line) for line in
                self.stele("ls", "--json", "--archive", self.archive).splitlines()]
        left_out = [row for row in rows if row.get("revisit") and "robots" not in row["url"]]
        self.assertEqual(len(left_out), 6)
        port = self.serve(*sorted(self.archive.glob("volumes/main/*/*.warc.gz")))
        for row in rows:
            row["status"] = 200 if row in left_out else row["status"]
        self.assertEqual(self.compare_all(port, rows), 9)

    def test_D6_the_example_site_replays(self):
        self.assertGreater(self.replay_all(*sorted(EXAMPLES.glob("*.warc.gz"))), 5)

    @unittest.skipUnless(SAMPLES.is_dir(), "the samples of other projects are not here")
    def test_D6_samples_with_revisits_replay(self):
        # One is cut in its middle: pywb gives what HTTP says is there, we give what there is.
        files = [path for folder in ["pywb", "warcio"] for path in (SAMPLES / folder).iterdir()
                 if "arc" in path.name and path.name != "example-space-in-url.arc"]
        self.assertGreater(self.replay_all(*sorted(files)), 50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
