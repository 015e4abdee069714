#!/usr/bin/env python3
"""The whole of bench/growth_run in miniature.

    growth_smoke_test.py STELE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parent
STELE = sys.argv.pop()
STEPS, STEP = 3, 300


class GrowthRun(unittest.TestCase):
    def test_an_archive_grows_and_a_page_says_how(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, str(BENCH / "growth_run"), "--stele", STELE, "--steps", str(STEPS),
                 "--step", str(STEP), "--directory", f"{folder}/scratch", "--out", f"{folder}/out"],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(pathlib.Path(f"{folder}/scratch").exists())
            results = json.loads(next(pathlib.Path(f"{folder}/out").glob("*.json")).read_text())
            page = next(pathlib.Path(f"{folder}/out").glob("*.md")).read_text()
        self.assertEqual([row["captures"] for row in results["rows"]],
                         [STEP * (i + 1) for i in range(STEPS)])
        # Each step and each single record is in the archive.
        self.assertEqual([row["listed"] for row in results["rows"]],
                         [(STEP + 1) * (i + 1) for i in range(STEPS)])
        self.assertTrue(all(row["import_s"] > 0 and row["catalog_bytes"] > 0
                            for row in results["rows"]))
        self.assertIn("a run of one record, s", page)


if __name__ == "__main__":
    unittest.main()
