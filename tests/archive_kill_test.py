"""An archive whose writer is killed at random moments, again and again, loses nothing."""

import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

STELE = os.environ["STELE"]
FILES = 40
CAPTURES = 25  # of each file
KILLS = 60


def warc(number):
    """A file with captures that no other file has, some of them revisits of the first."""
    out = b""
    for i in range(CAPTURES):
        url = f"http://site{number}.example/{i}"
        revisit = i % 5 == 4
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        block += b"" if revisit else f"<p>page {number} {i % 5}".encode() * 50
        fields = [f"WARC-Type: {'revisit' if revisit else 'response'}", f"WARC-Target-URI: {url}",
                  f"WARC-Date: 20{10 + i % 3}-0{1 + i % 9}-01T00:00:{i:02}Z",
                  f"WARC-Record-ID: <urn:x:{number}:{i}>",
                  "Content-Type: application/http; msgtype=response",
                  f"Content-Length: {len(block)}"]
        if revisit:
            fields += [f"WARC-Refers-To: <urn:x:{number}:0>",
                       "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                       "identical-payload-digest"]
        out += gzip.compress(("WARC/1.1\r\n" + "\r\n".join(fields) + "\r\n\r\n").encode()
                             + block + b"\r\n\r\n")
    return out


class Killed(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stele-archive-kill-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.archive = self.folder / "archive"
        self.dice = random.Random(7)
        self.files = []
        for number in range(FILES):
            path = self.folder / f"{number:02}.warc.gz"
            path.write_bytes(warc(number))
            self.files.append(str(path))

    def stele(self, *words):
        done = subprocess.run([STELE, words[0], "--archive", self.archive, *words[1:]],
                              capture_output=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, (words[0], done.stderr.decode()))
        return done.stdout.decode()

    def start(self, *words):
        return subprocess.Popen([STELE, *words, "--archive", self.archive],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def killed(self, span, *words):
        """What a command had said when it was killed within `span` seconds, or had ended."""
        process = self.start(*words)
        try:
            process.wait(self.dice.uniform(0, span))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].decode()
        return said, process.returncode == -signal.SIGKILL

    def captures(self):
        return [json.loads(line) for line in self.stele("ls", "--json").splitlines()]

    def timed(self, *words):
        begin = time.monotonic()
        self.stele(*words)
        return time.monotonic() - begin

    def test_W15_import_reindex_and_rm_killed_at_random_moments(self):
        span = self.timed("import", "--quiet", *self.files)
        shutil.rmtree(self.archive)
        promised, kills = set(), 0
        # Each time a little later, so that it ends however fast the machine is by then.
        for number in range(KILLS):
            said, was_killed = self.killed(span * number / 30, "import", "--json", *self.files)
            kills += was_killed
            for line in said.splitlines(keepends=True):
                if line.endswith("\n"):
                    promised.add(json.loads(line)["file"])
            if promised:
                # Who only reads has it, too, before any writer has finished what was interrupted.
                self.expect_all_of(promised)
                self.assertIn("all is right", self.stele("verify", "--quick"))
            if not was_killed:
                break
        self.assertGreater(kills, 5)
        self.assertGreater(len(promised), 5)
        # Whoever opens it next finds all that was promised, before anything is brought again.
        self.stele("hold", "--reason", "opens it for writing")
        self.stele("hold", "--end", "1")
        self.expect_all_of(promised)
        self.stele("import", "--quiet", *self.files)
        self.check(FILES * CAPTURES)

        span, kills = self.timed("reindex"), 0
        for number in range(KILLS // 4):
            kills += self.killed(span * number / 7, "reindex",
                                 *(["--from-files"] if number % 2 else []))[1]
            # Who only reads has all of it: the catalog that was there counts until then.
            self.assertEqual(len(self.captures()), FILES * CAPTURES)
            self.assertIn("all is right", self.stele("verify", "--quick"))
        self.assertGreater(kills, 2)
        self.stele("reindex")
        self.check(FILES * CAPTURES)
        self.read_beside("reindex")
        self.read_beside("reindex", "--from-files")

        # What was taken down stays down; what repeats it has its payload.
        first = f"http://site{FILES - 1}.example/0"
        span = self.timed("rm", first, "--reason", "a test")
        gone, kills = {first}, 0
        for number in range(KILLS // 4):
            url = f"http://site{number}.example/0"
            _, was_killed = self.killed(span * number / 4, "rm", url, "--reason", "a test")
            kills += was_killed
            if not was_killed:
                gone.add(url)
        self.assertGreater(kills, 0)
        self.stele("import", "--quiet", self.files[0])
        left = {row["url"] for row in self.captures()}
        self.assertFalse(gone & left)
        self.assertIn("all is right", self.stele("verify"))
        for number in range(KILLS // 4):
            page = self.stele("get", f"http://site{number}.example/4")
            self.assertEqual(page, f"<p>page {number} 0" * 50)
        self.purge_again_and_again()
        self.drop_a_month()

    def expect_all_of(self, files):
        """All captures of files that were acknowledged are there, each once."""
        urls = [row["url"] for row in self.captures()]
        for path in files:
            begin = f"http://site{int(pathlib.Path(path).name[:2])}.example/"
            self.assertEqual(sorted(url for url in urls if url.startswith(begin)),
                             sorted(f"{begin}{i}" for i in range(CAPTURES)))

    def read_beside(self, *words):
        """Whoever reads while a command goes on sees all captures, each time."""
        process, looks = self.start(*words), 0
        while process.poll() is None:
            self.assertEqual(len(self.captures()), FILES * CAPTURES)
            looks += 1
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertGreater(looks, 0)

    def purge_again_and_again(self):
        """What is purged is gone, and nothing else, however often that was interrupted."""
        gone, page = [], 0
        while self.interrupted_purges() < KILLS // 6:
            page += 1
            self.assertLess(page, CAPTURES, "too few kills hit a purge that had begun")
            urls = [f"http://site{number}.example/{page}" for number in range(KILLS // 4, FILES)]
            self.stele("rm", *urls, "--reason", "a test")
            gone += urls
            before = self.captures()
            while not self.killed_when_begun("rm", "--purge"):
                pass
        self.assertFalse(any(self.is_in_containers(url) for url in gone))
        self.assertEqual([row["url"] for row in self.captures()], [row["url"] for row in before])
        self.assertEqual([row["id"] for row in self.captures()], [row["id"] for row in before])
        self.assertIn("all is right", self.stele("verify"))
        self.assertEqual(self.stele("ls", "--removed"), self.stele("ls"))
        self.stele("reindex", "--from-files")
        self.assertEqual([row["id"] for row in self.captures()], [row["id"] for row in before])

    def drop_a_month(self):
        """Killed at any moment, it takes the month and nothing else, and can be gone on with."""
        before = self.captures()
        month = before[0]["id"].split("/")[0]
        stays = [row for row in before if not row["id"].startswith(month)]
        pages = {row["url"]: self.stele("get", row["url"]) for row in stays[:40]}
        kills = 0
        # Each time a little later, so that it ends. It may have done all of it when it is killed.
        while (self.stele("ls", "--removed", "--batch", month)
               and not self.killed_when_begun("batch", "drop", month, "--promote", "--reason",
                                              "a test", span=0.02 * (1 + kills))):
            kills += 1
            self.assertIn("all is right", self.stele("verify", "--quick"))
            self.assertLess(kills, KILLS)
        self.assertGreater(kills, 0)
        self.assertEqual([row["id"] for row in self.captures()], [row["id"] for row in stays])
        self.assertEqual({url: self.stele("get", url) for url in pages}, pages)
        self.assertIn("all is right", self.stele("verify"))

    def killed_when_begun(self, *words, span=0.02):
        """Kills a command a moment after it wrote to the ledger. Whether it had ended by then."""
        ledger = self.archive / "ledger" / "ledger.warc"
        size = ledger.stat().st_size
        process = self.start(*words)
        while process.poll() is None and ledger.stat().st_size == size:
            time.sleep(0.0005)
        try:
            process.wait(self.dice.uniform(0, span))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL))
        return process.returncode == 0

    def interrupted_purges(self):
        runs = json.loads(self.stele("info", "--json"))["runs"]
        return sum(run["kind"] == "purge" and run["end"] is None for run in runs)

    def is_in_containers(self, url):
        line = f"WARC-Target-URI: {url}\r\n".encode()
        files = list(self.archive.glob("volumes/main/*/*.warc.gz"))
        return any(line in gzip.decompress(path.read_bytes()) for path in files)

    def check(self, count):
        rows = self.captures()
        self.assertEqual(len(rows), count)
        self.assertEqual(len({row["id"] for row in rows}), count)
        self.assertEqual(len({row["url"] for row in rows}), count)
        self.assertIn("all is right", self.stele("verify"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
