#!/usr/bin/env python3
"""The whole of bench/store_run in miniature: real servers, few pages, no NFS."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

import store_plots  # noqa: E402
import store_report  # noqa: E402

loader = importlib.machinery.SourceFileLoader("store_run", str(BENCH / "store_run"))
store_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("store_run", loader))
loader.exec_module(store_run)

STELE, STORE_LOAD = map(pathlib.Path, sys.argv[1:3])
PAGES = 20


class StoreRun(unittest.TestCase):
    def test_runs_all_experiments_and_writes_a_page_with_plots(self):
        store_run.PAGES, store_run.BUILD = PAGES, STORE_LOAD.parent.parent
        store_run.log = lambda text: None
        with tempfile.TemporaryDirectory() as folder:
            options = store_run.parse(["--quick", "--rounds", "1", "--no-nfs", "--stele",
                                       str(STELE), "--directory", f"{folder}/scratch"])
            bench = store_run.StoreBench(options)
            bench.clients = [1, 15]
            bench.settle = lambda: None
            bench.profile = lambda measure: None
            bench.leave_out_nfs("a test")
            bench.run()
            page = store_report.write(bench.results, pathlib.Path(folder)).read_text()
            plots = list(pathlib.Path(folder).glob("*.svg"))
            for plot in plots:
                xml.etree.ElementTree.parse(plot)
        self.assertIn("NFS was left out: a test", page)
        self.assertIn("| container, sha256 | duplicate |", page)
        self.assertEqual(len(plots), 9)
        row = bench.samples["clients"][store_run.OURS]["15"]
        self.assertEqual(row["retrieve"][0]["operations"], PAGES * store_run.RETRIEVE_TIMES)
        self.assertGreater(row["new"][0]["server_cpu_us"], 0)
        self.assertEqual(sum(bench.samples["balance"]["a process each"]["4"]["new"][0]
                             ["volumes"].values()), PAGES // 2)
        self.assertEqual(bench.samples["modes"]["regular"]["75"]["store"][0]["new_blocks"],
                         PAGES // 4)
        self.assertEqual(bench.samples["modes"]["force-new"]["75"]["store"][0]["new_blocks"],
                         PAGES)

    def test_load_generator_says_what_it_cannot_do(self):
        done = subprocess.run([STORE_LOAD, "--connector", "/none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/none", done.stderr)

    def test_goals_compare_medians_at_the_worst_number_of_clients(self):
        def row(rate):
            return [{"per_second": rate}] * 3
        samples = {"clients": {
            "NFS": {"15": {"new": row(100)}, "20": {"new": row(100)}},
            "ours": {"15": {"new": row(600), "duplicate": row(900)}, "20": {"new": row(400)}}}}
        found = {goal["what"]: goal for goal in store_report.goals(samples, "NFS", "ours")}
        self.assertEqual(found["new, 15 clients or more"]["measured"], "4.00× at 20")
        self.assertIs(found["new, 15 clients or more"]["reached"], False)
        self.assertEqual(found["duplicate, 15 clients or more"]["measured"], "9.00× at 15")
        self.assertIsNone(found["retrieve, one client"]["reached"])

    def test_slope_is_a_share_of_the_first(self):
        self.assertAlmostEqual(store_report.slope([(1, 100), (2, 115), (3, 130)]), 0.15)

    def test_axes_end_at_round_numbers(self):
        self.assertEqual(store_plots.steps(9_300), [0, 2000, 4000, 6000, 8000, 10000])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
