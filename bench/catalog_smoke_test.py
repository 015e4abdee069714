#!/usr/bin/env python3
"""The whole of bench/catalog_run in miniature: every contender answers, and all say the same."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

import catalog_report  # noqa: E402

loader = importlib.machinery.SourceFileLoader("catalog_run", str(BENCH / "catalog_run"))
catalog_run = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("catalog_run", loader))
loader.exec_module(catalog_run)

LOAD = pathlib.Path(sys.argv[1])
SIZES = [3000, 6000]


class CatalogRun(unittest.TestCase):
    def run_tiny(self, folder):
        catalog_run.log = lambda text: None
        catalog_run.drop_caches = lambda: True
        catalog_run.WARM_SECONDS = catalog_run.HISTORY_SECONDS = 0.01
        # The first size is for all.
        for name in set(catalog_run.CONTENDERS) - {"stele", "rocksdb-keys"}:
            catalog_run.CONTENDERS[name] = SIZES[0]
        options = catalog_run.parse(["--quick", "--load", str(LOAD), "--directory",
                                     f"{folder}/scratch", "--sizes", *map(str, SIZES)])
        bench = catalog_run.CatalogBench(options)
        bench.run()
        return bench

    def test_everybody_gives_the_same_answers_and_a_page_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = self.run_tiny(folder)
            page = catalog_report.write(bench.results, pathlib.Path(folder)).read_text()
        there = subprocess.run([LOAD, "list"], capture_output=True, text=True).stdout.split()
        for name in catalog_run.CONTENDERS:
            answers = bench.results["warm"][str(SIZES[0])].get(name)
            self.assertEqual(answers is not None, name in there, name)
            if answers:
                self.assertGreater(answers["nearest"]["found"], 0)
                self.assertGreater(answers["alive-at"]["found"], 100)
                self.assertGreater(answers["prefix"]["found"], 100)
                self.assertIn(catalog_report.NAMES[name], page)
        self.assertEqual(bench.results["fill"][str(SIZES[1])]["stele"]["rows"], SIZES[1])
        self.assertEqual(set(bench.results["history"]), {"1", "10", "100"})
        self.assertIn("| rows and key index, 0.003 M |", page)

    def test_another_answer_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            options = catalog_run.parse(["--load", str(LOAD), "--directory", folder])
            bench = catalog_run.CatalogBench(options)
        one = {"count": 5, "found": 3, "sum": "a", "seconds": 1}
        bench.results["warm"] = {"10": {"stele": {"span": one},
                                        "cdx": {"span": {**one, "sum": "b"}}}}
        with self.assertRaises(catalog_run.Trouble):
            bench.compare()
        bench.results["warm"]["10"]["cdx"]["span"] = {**one, "count": 6, "sum": "b"}
        bench.compare()

    def test_goals_are_named_with_their_reasons(self):
        self.assertEqual({row["kind"] for row in catalog_report.goals(example())},
                         set(catalog_report.WHY))


def example():
    def filled(size, bytes_each, peak):
        return {"rows": size, "add_s": 1, "finish_s": 1, "bytes": size * bytes_each,
                "key_index_bytes": size, "pisa_bytes": size, "peak_bytes": peak}

    def answers(seconds):
        return {kind: {"count": 1, "found": 1, "sum": "a", "seconds": seconds, "peak_bytes": 1e8}
                for kind in catalog_report.KINDS}
    sizes = (5_000_000, 20_000_000)
    return {"fill": {str(size): {"stele": filled(size, 50, 2e8), "nothing": filled(size, 0, 1e8),
                                 "rocksdb-keys": filled(size, 11, 1e8)} for size in sizes},
            "warm": {str(size): {"stele": answers(1e-5), "rocksdb-keys": answers(2e-5)}
                     for size in sizes},
            "cold": {}, "history": {times: {"stele": answers(1), "stele-scan": answers(10)}
                                    for times in ("10", "100")}}


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
