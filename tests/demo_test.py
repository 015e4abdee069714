"""What the demo shows is what it says."""

import pathlib
import subprocess
import tempfile
import unittest

DEMO = pathlib.Path(__file__).resolve().parent.parent / "tools/demo.sh"


class Demo(unittest.TestCase):
    def test_W15_the_demo_crawls_compares_imports_mends_and_serves(self):
        with tempfile.TemporaryDirectory(prefix="stele-demo-") as folder:
            done = subprocess.run([DEMO, folder + "/work"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        said = done.stdout
        self.assertEqual(done.returncode, 0, said)
        # Three rounds, of which the later ones store only what changed.
        self.assertRegex(said, r"Run 1  3 pages, 7 files")
        for run in 2, 3:
            self.assertRegex(said, rf"Run {run}  .* identical, .*Stored \d+ B instead of")
        self.assertRegex(said, r"text +http://lighthouse\.example/news\.html\n"
                               r"new +http://lighthouse\.example/tours\.html")
        self.assertIn("+Tours by night", said)
        # A page of the older file, between those of the crawls.
        self.assertRegex(said, r"20060510120000 200 .*hours\.html")
        self.assertIn("<p>Open on Sundays.</p>", said)
        self.assertIn(": no defects", said)
        self.assertIn(": 1 defect\n", said)
        self.assertEqual(said.count("all is right"), 1, said)
        self.assertRegex(said, r'\$ stele serve\nhttp://127\.0\.0\.1:\d+/\n\{"status": "ok"\}')


if __name__ == "__main__":
    unittest.main()
