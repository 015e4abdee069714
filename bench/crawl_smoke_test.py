#!/usr/bin/env python3
"""The whole of bench/crawl_run in miniature: a real nginx, few pages, no other crawlers."""

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

loader = importlib.machinery.SourceFileLoader("crawl_run", str(BENCH / "crawl_run"))
crawl_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("crawl_run", loader))
loader.exec_module(crawl_run)

STELE = sys.argv.pop()
HOSTS, PAGES = 3, 5


@unittest.skipUnless(shutil.which("nginx"), "the program nginx is not here")
class CrawlRun(unittest.TestCase):
    def test_rows_of_a_profile_are_a_share_and_a_name(self):
        told = ("# Overhead  Symbol            IPC   [IPC Coverage]\n"
                "     3.36%  [k] finish_task_switch.isra.0                   -      -            \n"
                "     1.12%  [.] stele::Varint<unsigned long>(char const*)   -      -\n"
                "     0.90%  [.] 0x000000000001f2c0                          -      -\n"
                "    32.37%  libdeflate.so.0       \n")
        self.assertEqual(crawl_run.shares_in(told),
                         [[3.36, "finish_task_switch.isra.0"], [1.12, "stele::Varint"],
                          [32.37, "libdeflate.so.0"]])

    def test_runs_all_experiments_and_writes_a_page(self):
        crawl_run.log = lambda text: None
        crawl_run.POLITE_PAGES = 3
        options = crawl_run.parse(["--quick", "--rounds", "2", "--stele", STELE])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder).chmod(0o755)  # nginx may be another user
            bench = crawl_run.CrawlBench(options)
            bench.folder = pathlib.Path(folder) / "scratch"
            bench.hosts, bench.pages, bench.polite_hosts = HOSTS, PAGES, 2
            bench.crawl_wget = bench.crawl_httrack = bench.crawl_heritrix = lambda: None
            bench.run()
        runs = {run["name"]: run for run in bench.results["runs"]}
        self.assertEqual([run["pages"] for run in runs.values()], [HOSTS * PAGES] * 2 + [6])
        self.assertEqual([run["code"] for run in runs.values()], [0] * 3)
        rounds = bench.results["index"]["rounds"]
        self.assertEqual([sides[name]["pages"] for sides in rounds for name in sides],
                         [HOSTS * PAGES] * 4)
        page = crawl_run.text_of(bench.results)
        self.assertIn("a full digest index", page)
        self.assertIn("A quick run", page)


if __name__ == "__main__":
    unittest.main()
