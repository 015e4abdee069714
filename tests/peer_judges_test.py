"""Other tools read what we write, and find nothing wrong with it.

They are used where they could be installed (bench/peers.py); each that is missing is named.
"""

import os
import subprocess
import tempfile
import unittest

from archive_samples import STELE, needs_samples, sample, stele

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(ROOT, "examples")
PEERS = os.path.join(ROOT, "build", "peers", "bin")


def peer(name):
    path = os.path.join(PEERS, name)
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest(f"the peer {name} is not installed (bench/peers.py installs it)")
    return path


class Judges(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def written_files(self):
        """Files from every command that writes WARC. The page that came in chunks is left out:
        warcio computes the payload digest of such pages over the chunks (warcio issue 74)."""
        warc = self.path("unchunked.warc.gz")
        done = stele("warc", "filter", "--url", "http://lighthouse.example/news.html", "--invert",
                     os.path.join(EXAMPLES, "lighthouse-2026-01.warc.gz"), "--output", warc)
        self.assertEqual(done.returncode, 0, done.stderr)
        yield warc
        arc = os.path.join(EXAMPLES, "lighthouse-2006.arc.gz")
        jobs = {"recompressed.warc.gz": ["recompress", warc], "filtered.warc.gz":
                ["filter", "--mime", "text/html", warc],
                "plain.warc": ["recompress", "--compression", "none", warc],
                "converted.warc.gz": ["convert", "--to", "warc", arc],
                "recovered.warc.gz": ["recover", warc]}
        for name, words in jobs.items():
            done = stele("warc", *words, "--output", self.path(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            yield self.path(name)

    def test_warcio_finds_no_fault_and_as_many_records(self):
        warcio = peer("warcio")
        for file in self.written_files():
            with self.subTest(os.path.basename(file)):
                subprocess.run([warcio, "check", file], check=True)
                index = subprocess.run([warcio, "index", file], check=True, capture_output=True)
                ours = stele("warc", "ls", "--quiet", file)
                self.assertEqual(len(index.stdout.splitlines()), len(ours.stdout.splitlines()))

    def test_fastwarc_verifies_every_digest(self):
        fastwarc = peer("fastwarc")
        for file in self.written_files():
            with self.subTest(os.path.basename(file)):
                subprocess.run([fastwarc, "check", "-q", file], check=True)

    @needs_samples
    def test_warcio_reads_a_converted_crawl(self):
        warcio = peer("warcio")
        out = self.path("blackbook.warc.gz")
        done = stele("warc", "convert", "--to", "warc", "--output", out,
                     sample("jwat/IAH-20080430204825-00000-blackbook.arc.gz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([warcio, "check", out], check=True)

    def test_zstd_files_are_read_by_the_zstd_program(self):
        warc = os.path.join(EXAMPLES, "lighthouse-2026-01.warc.gz")
        out = self.path("x.warc.zst")
        self.assertEqual(stele("warc", "recompress", "--compression", "zstd", "--dictionary",
                               "none", "--output", out, warc).returncode, 0)
        unpacked = subprocess.run(["zstd", "-dc", out], check=True, capture_output=True).stdout
        plain = subprocess.run([STELE, "warc", "cat", warc], check=True, capture_output=True).stdout
        self.assertEqual(unpacked, plain)


if __name__ == "__main__":
    unittest.main()
