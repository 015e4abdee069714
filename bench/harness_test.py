"""Shows that the data of bench/run is what it says and that its tools agree on it.

    harness_test.py BARE_INFLATE
"""

import base64
import gzip
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import make_warc  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402


def sha1(data):
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


def field(head, name):
    return re.search(rf"^{name}: (\S+)\r?$", head, re.MULTILINE).group(1)


class MadeUpWarc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.numbers = make_warc.write(cls.folder, 2, None)
        cls.raw = gzip.decompress((cls.folder / "pages.warc.gz").read_bytes())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_the_numbers_are_those_of_the_file(self):
        self.assertEqual(len(self.raw), self.numbers["raw_bytes"])
        self.assertEqual((self.folder / "pages.warc.gz").stat().st_size, self.numbers["file_bytes"])

    def test_every_record_has_right_lengths_and_digests(self):
        at, records = 0, 0
        while at < len(self.raw):
            head_end = self.raw.index(b"\r\n\r\n", at) + 4
            head = self.raw[at:head_end].decode()
            self.assertTrue(head.startswith("WARC/1.1\r\n"))
            block = self.raw[head_end:head_end + int(field(head, "Content-Length"))]
            self.assertEqual(field(head, "WARC-Block-Digest"), "sha1:" + sha1(block))
            if "WARC-Type: response" in head:
                http, _, payload = block.partition(b"\r\n\r\n")
                self.assertEqual(int(field(http.decode(), "Content-Length")), len(payload))
                self.assertEqual(field(head, "WARC-Payload-Digest"), "sha1:" + sha1(payload))
            at = head_end + len(block)
            self.assertEqual(self.raw[at:at + 4], b"\r\n\r\n")
            at += 4
            records += 1
        self.assertEqual(records, self.numbers["records"])

    def test_bare_inflate_counts_the_same_in_every_mode(self):
        for mode, hashed in (("inflate", 0), ("sha1", len(self.raw)), ("digests", None)):
            for threads in ("1", "2"):
                output = subprocess.run(
                    [BARE_INFLATE, mode, "--threads", threads, "half-0.warc.gz", "half-1.warc.gz"],
                    cwd=self.folder, check=True, capture_output=True).stdout
                told = json.loads(output)
                self.assertEqual(told["members"], self.numbers["records"])
                self.assertEqual(told["raw_bytes"], self.numbers["raw_bytes"])
                if hashed is None:
                    self.assertGreater(told["hashed_bytes"], len(self.raw))
                else:
                    self.assertEqual(told["hashed_bytes"], hashed)

    def test_bare_inflate_refuses_a_file_cut_short(self):
        data = (self.folder / "half-0.warc.gz").read_bytes()
        (self.folder / "cut.gz").write_bytes(data[:-10])
        done = subprocess.run([BARE_INFLATE, "inflate", self.folder / "cut.gz"],
                              capture_output=True)
        self.assertEqual(done.returncode, 3)


class Measuring(unittest.TestCase):
    def test_a_run_tells_exit_codes_memory_and_what_was_said(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "import sys; sys.exit(f'got {len(sys.stdin.read())}')"
            run = measure.run_together([[sys.executable, "-c", script]], folder, f"{folder}/log",
                                       feed=["printf", "12345"])
        self.assertEqual(run.exit_codes, [1])
        self.assertGreater(run.peak_mb, 1)
        self.assertIn("got 5", measure.Timing([run]).failure)

    def test_the_memory_told_is_that_of_the_program_not_ours(self):
        ballast = b"x" * (100 << 20)
        with tempfile.TemporaryDirectory() as folder:
            small = measure.run_together([["true"]], folder, f"{folder}/log")
            large = measure.run_together(
                [[sys.executable, "-c", "len(b'x' * (150 << 20))"]], folder, f"{folder}/log")
        self.assertEqual(small.exit_codes, [0])
        self.assertLess(small.peak_mb, 30)
        self.assertGreater(large.peak_mb, 150)
        self.assertEqual(len(ballast), 100 << 20)

    def test_contenders_take_turns_and_slow_ones_sit_out(self):
        seconds = {"fast": 1.0, "slow": 50.0}
        order = []

        def run_one(name):
            order.append(name)
            return measure.Run(seconds[name], 1.0, [0], "")

        timings = measure.measure_all(seconds, 3, 40, run_one, lambda *_: None)
        self.assertEqual(order, ["fast", "slow", "fast", "fast"])
        self.assertEqual(timings["slow"].best, 50.0)

    def test_a_page_is_written_also_when_nothing_was_measured(self):
        results = {"date": "2024-01-02", "commit": "abc", "quick": True, "peers": {}, "data": {},
                   "machine": report.machine(), "cases": [], "goals": [], "micro": []}
        self.assertIn("commit abc", report.page(results))


if __name__ == "__main__":
    BARE_INFLATE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
