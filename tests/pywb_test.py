"""What is exported, and what is crawled, replays completely in a pywb that has nothing else.

pywb is used where it could be installed (bench/peers.py); where it is missing, that is said.
"""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import archive_lab
import crawl_lab

STELE = os.environ["STELE"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "build/peers/bin"
SAMPLES = pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "warc-samples"
EXAMPLES = ROOT / "examples"


def plain(url):
    """What an index takes for the same URL."""
    return re.sub(r"^https?://(www\d*\.)?|/$", "", url.lower())


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
        """A pywb that has these files and nothing else; of WACZ files it takes the index, too."""
        home = pathlib.Path(tempfile.mkdtemp(prefix="pywb-", dir=self.folder))
        unpack = ["--unpack-wacz"] if any(file.suffix == ".wacz" for file in files) else []
        for words in (["init", "c"], ["add", *unpack, "c", *files]):
            subprocess.run([PEERS / "wb-manager", *words], cwd=home, check=True,
                           capture_output=True)
        return self.begin(home)

    def serve_index(self, index):
        """A pywb that has this index, and finds the files as docs/archive.md says."""
        home = pathlib.Path(tempfile.mkdtemp(prefix="pywb-", dir=self.folder))
        subprocess.run(r"find $PWD/volumes/main -type f -printf '%f\t%p\n%P\t%p\n' | LC_ALL=C sort"
                       f" >{home}/paths.txt", cwd=self.archive, shell=True, check=True)
        (home / "config.yaml").write_text(
            f"collections:\n  c:\n    index: {index}\n    archive_paths: {home}/paths.txt\n")
        return self.begin(home)

    def begin(self, home):
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
        """Each capture that a GET leads to; returns how many had status 200."""
        subprocess.run([STELE, "import", "--quiet", "--archive", self.archive, *files],
                       capture_output=True, check=False)
        warc = self.folder / "out.warc.gz"
        self.stele("export", "--quiet", "--archive", self.archive, warc, codes=(0, 1))
        return self.compare_all(self.serve(warc))

    def rows(self, *words):
        return [json.loads(line) for line in
                self.stele("ls", "--json", "--archive", self.archive, *words).splitlines()]

    def redirect_of(self, row):
        head = self.stele("get", "--http", "--archive", self.archive, "--id", row["id"])
        found = re.search(rb"^location: *(.*?)\r?$", head, re.IGNORECASE | re.MULTILINE)
        return found and found[1].decode("latin-1").strip()

    def compare_all(self, port, rows=None):
        if rows is None:
            rows = self.rows()
        # pywb knows times to the second and one capture for each.
        count = {}
        for row in rows:
            count[row["key"], row["time"][:19]] = count.get((row["key"], row["time"][:19]), 0) + 1
        replayed = 0
        for row in rows:
            if (count[row["key"], row["time"][:19]] > 1 or row["status"] < 200
                    or "__wb_method" in row["key"] or not row["url"].startswith("http")):
                continue
            leads_to = self.redirect_of(row) if 300 <= row["status"] < 400 else None
            if leads_to and plain(leads_to) == plain(row["url"]):
                continue  # pywb passes over what leads to itself, from http to https, say
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
                self.assertEqual(answer.status, row["status"])
                self.assertEqual(answer.headers["Location"], leads_to)
                if row["status"] in (204, 304):
                    continue
                ours = self.stele("get", "--payload", "--archive", self.archive, "--at",
                                  row["time"], row["url"], codes=(0, 1))
                self.assertEqual(hashlib.sha256(body).hexdigest(),
                                 hashlib.sha256(ours).hexdigest())
            replayed += row["status"] == 200
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
            self.stele("crawl", "--archive", self.archive, "--delay", "0", "--no-favicons",
                       "--resolve",
                       f"site.test={web.addresses['site.test']}", *words, web.url("site.test"))
            time.sleep(1.1)  # so that pywb can tell the captures apart
        rows = self.rows()
        left_out = [row for row in rows if row.get("revisit") and "robots" not in row["url"]]
        self.assertEqual(len(left_out), 6)
        port = self.serve(*sorted(self.archive.glob("volumes/main/*/*.warc.gz")))
        for row in rows:
            row["status"] = 200 if row in left_out else row["status"]
        self.assertEqual(self.compare_all(port, rows), 9)

    def test_D6_the_example_site_replays(self):
        self.assertGreater(self.replay_all(*sorted(EXAMPLES.glob("*.warc.gz"))), 5)

    def import_rounds(self):
        """Two runs: the second has revisits of what the first captured, at the same URL, at
        another one, and at another site."""
        page, image = b"<title>A</title>page", b"\x89PNG" + bytes(range(256))
        then, later = "2004-05-01T10:00:0%dZ", "2005-06-01T10:00:0%dZ"

        def revisit(url, second, original, body, mime):
            digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
            return archive_lab.record(
                "revisit", url, later % second,
                f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nX-Round: 2\r\n\r\n".encode(),
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                f"WARC-Payload-Digest: sha1:{digest}",
                f"WARC-Refers-To-Target-URI: {original[0]}", f"WARC-Refers-To-Date: {original[1]}")

        home, picture = ("http://a.org/", then % 0), ("http://a.org/x.png", then % 1)
        first = [archive_lab.response(*home, page),
                 archive_lab.response(*picture, image, mime="image/png"),
                 archive_lab.response("http://b.org/only", then % 2, b"only then")]
        second = [revisit("http://a.org/", 0, home, page, "text/html"),
                  revisit("http://www.a.org/logo.png", 1, picture, image, "image/png"),
                  revisit("http://b.org/copy", 2, home, page, "text/html"),
                  archive_lab.response("http://b.org/new", later % 3, b"new")]
        for name, records in [("first", first), ("second", second)]:
            path = self.folder / f"{name}.warc.gz"
            path.write_bytes(b"".join(records))
            self.stele("import", "--quiet", "--archive", self.archive, path)

    def export(self, name, *words):
        path = self.folder / name
        self.stele("export", "--quiet", "--archive", self.archive, *words, path)
        return path

    def test_I5_a_part_of_an_archive_replays_without_the_rest(self):
        self.import_rounds()
        parts = {"run": (["--run", "2"], 4), "time": (["--from", "2005", "--to", "2006"], 4),
                 "host": (["--host", "b.org"], 3), "type": (["--mime", "image/png"], 2),
                 "url": (["--url", "http://b.org/copy"], 1)}
        for name, (words, count) in parts.items():
            with self.subTest(name):
                path = self.export(f"{name}.warc.gz", *words)
                records = self.stele("warc", "ls", "--json", path).decode()
                self.assertNotIn('"revisit"', records)
                selection = words[1:] if name == "url" else words
                self.assertEqual(self.compare_all(self.serve(path), self.rows(*selection)), count)

    def test_I5_the_index_of_everything_serves_pywb(self):
        """Also of what is inherited from what was taken down, and purged; names of files that are
        there twice are those of their folder and themselves."""
        self.import_rounds()
        shutil.copy(EXAMPLES / "lighthouse-2026-01.warc.gz", self.folder / "first.warc.gz")
        self.stele("import", "--quiet", "--archive", self.archive, self.folder / "first.warc.gz")
        for words in ([], ["--reason", "x", "http://a.org/", "--to", "2004"], ["--purge"]):
            if words:
                self.stele("rm", "--archive", self.archive, *words)
            port = self.serve_index(self.export("all.cdxj", "--force"))
            self.assertEqual(self.compare_all(port), 13 if words else 14)

    def test_I5_an_export_that_keeps_revisits_replays(self):
        self.import_rounds()
        path = self.export("out.warc.gz", "--keep-revisits")
        self.assertIn('"revisit"', self.stele("warc", "ls", "--json", path).decode())
        self.assertEqual(self.compare_all(self.serve(path)), 7)

    def test_I5_each_file_of_an_export_per_site_replays_alone(self):
        self.import_rounds()
        folder = self.export("sites", "--per-site")
        files = sorted(folder.iterdir())
        self.assertEqual([file.name for file in files], ["a.org.warc.gz", "b.org.warc.gz"])
        for file, count in zip(files, [4, 3]):
            site = file.name.removesuffix(".warc.gz")
            rows = [row for row in self.rows()
                    if f".{urllib.parse.urlsplit(row['url']).hostname}".endswith(f".{site}")]
            with self.subTest(site):
                self.assertEqual(self.compare_all(self.serve(file), rows), count)

    def test_I5_a_wacz_file_replays(self):
        self.import_rounds()
        self.stele("import", "--quiet", "--archive", self.archive, *EXAMPLES.glob("*.warc.gz"))
        whole = self.export("whole.wacz")
        self.assertGreater(self.compare_all(self.serve(whole)), 12)
        part = self.export("part.wacz", "--run", "2")
        self.assertEqual(self.compare_all(self.serve(part), self.rows("--run", "2")), 4)
        if not os.access(PEERS / "wacz", os.X_OK):
            self.skipTest("the peer py-wacz is not installed (bench/peers.py installs it)")
        for path in [whole, part]:
            judged = subprocess.run([PEERS / "wacz", "validate", "-f", path], check=False,
                                    capture_output=True)
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def test_I5_a_record_in_segments_replays_whole(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        url, date = "http://a.org/long", "2004-05-01T10:00:00Z"
        first = archive_lab.record("response", url, date, head + b"begin ",
                                   "WARC-Segment-Number: 1")
        origin = hashlib.md5(("response" + url + date).encode()).hexdigest()
        last = archive_lab.record(
            "continuation", url, date, b"end", "WARC-Segment-Number: 2",
            f"WARC-Segment-Origin-ID: <urn:uuid:{origin}>",
            f"WARC-Segment-Total-Length: {len(head) + 9}")
        for name, record in [("1.warc.gz", first), ("2.warc.gz", last)]:
            (self.folder / name).write_bytes(record)
            self.stele("import", "--quiet", "--archive", self.archive, self.folder / name)
        port = self.serve(self.export("out.warc.gz"))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", f"/c/20040501100000id_/{url}")
        self.assertEqual(connection.getresponse().read(), b"begin end")
        connection.close()

    @unittest.skipUnless(SAMPLES.is_dir(), "the samples of other projects are not here")
    def test_D6_samples_with_revisits_replay(self):
        # One is cut in its middle: pywb gives what HTTP says is there, we give what there is.
        files = [path for folder in ["pywb", "warcio"] for path in (SAMPLES / folder).iterdir()
                 if "arc" in path.name and path.name != "example-space-in-url.arc"]
        self.assertGreater(self.replay_all(*sorted(files)), 50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
