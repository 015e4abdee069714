#!/usr/bin/env python3
"""The whole of bench/access_run in miniature: every case is answered, and a page is written."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

import make_warc  # noqa: E402
import peers  # noqa: E402

loader = importlib.machinery.SourceFileLoader("access_run", str(BENCH / "access_run"))
access_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("access_run", loader))
loader.exec_module(access_run)

STELE = pathlib.Path(sys.argv[1])
PAGES = 20


def tiny(path):
    """A file with a few pages, in place of the real ones."""
    with path.open("wb") as file:
        for number in range(PAGES):
            block = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=\"/%d\">x</a>" %
                     number)
            file.write(access_run.gzip.compress(make_warc.record("response", [
                ("WARC-Record-ID", make_warc.record_id("tiny", number)),
                ("WARC-Target-URI", f"http://tiny.example/{number}"),
                ("WARC-Date", make_warc.warc_date(1_000_000_000 + number)),
                ("Content-Type", "application/http; msgtype=response")], block)))
    return path


@unittest.skipUnless(shutil.which("wrk"), "wrk is not installed")
class AccessRun(unittest.TestCase):
    def test_every_case_is_answered_and_a_page_is_written(self):
        access_run.log = lambda text: None
        access_run.CONNECTIONS = [64]
        peers.prepare = lambda folder, log: {}
        with tempfile.TemporaryDirectory() as folder:
            bench = access_run.AccessBench(access_run.parse(["--quick", "--stele", str(STELE)]))
            bench.folder = pathlib.Path(folder) / "scratch"
            bench.often_count = 500
            bench.data = lambda: tiny(pathlib.Path(folder) / "tiny.warc.gz")
            bench.run()
        for case in access_run.CASES:
            run = bench.results["cases"][f"{case}, 64"]["Stele"][0]
            self.assertGreater(run["per_second"], 0, case)
            self.assertEqual(run["bad"], 0, case)
        page = access_run.page(bench.results)
        self.assertIn("| nearest of 500 captures | < 1 ms |", page)
        for what in access_run.REWRITTEN.values() if bench.rewriter.exists() else ():
            self.assertIn(f"| rewriting {what}, one thread | ≥ 200 MB/s |", page)
        self.assertIn("Left out: pywb", page)
        self.assertIn("Left out: OutbackCDX", page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
