#!/usr/bin/env python3
"""WACZ files of other programs brought into an archive, and ours judged by other programs.

py-wacz is used where it could be installed (bench/peers.py); where it is missing, that is said.
"""

import gzip
import hashlib
import json
import pathlib
import subprocess
import unittest
import zipfile

from archive_lab import STELE, Archive, response

PY_WACZ = pathlib.Path(__file__).resolve().parent.parent / "build/peers/bin/wacz"

RECORDS = (response("http://example.org/", "2014-05-01T10:00:00Z", b"<title>Home</title>page") +
           response("http://example.org/frame", "2014-05-01T10:00:01Z", b"frame"))
OTHERS = (response("http://other.example/", "2014-05-01T10:00:00Z", b"<p>other") +
          response("http://other.example/a", "2014-05-01T10:00:01Z", b"a"))
PAGES = (b'{"format": "json-pages-1.0"}\n'
         b'{"url": "http://example.org/", "ts": "2014-05-01T10:00:00Z"}\n')


class Import(Archive):
    def wacz(self, packed=()):
        """As zipfile writes it: lists deflated, and also those WARC files that are in `packed`."""
        path = self.folder / "x.wacz"
        with zipfile.ZipFile(path, "w") as file:
            for name, records in [("archive/1.warc.gz", RECORDS), ("archive/2.warc.gz", OTHERS)]:
                method = zipfile.ZIP_DEFLATED if name in packed else zipfile.ZIP_STORED
                file.writestr(name, records, method)
            file.writestr("pages/pages.jsonl", PAGES, zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(path, "a") as file:
            resources = [{"path": name,
                          "hash": "sha256:" + hashlib.sha256(file.read(name)).hexdigest()}
                         for name in file.namelist()]
            file.writestr("datapackage.json", json.dumps({"resources": resources}),
                          zipfile.ZIP_DEFLATED)
        return path

    def test_a_wacz_file_stays_whole_and_its_records_are_read_in_it(self):
        path = self.wacz()
        self.stele("import", path)
        kept = self.archive / "volumes/main/00000001/x.wacz"
        self.assertEqual(kept.read_bytes(), path.read_bytes())
        self.assertEqual(self.stele("get", "http://example.org/frame"), "frame")
        self.assertEqual([row["url"] for row in self.rows("--pages")], ["http://example.org/"])
        for row in self.rows():
            place = slice(row["offset"], row["offset"] + row["record_length"])
            self.assertIn(row["url"].encode(), gzip.decompress(kept.read_bytes()[place]))
        self.stele("reindex", "--from-files")
        self.assertEqual([row["url"] for row in self.rows("--pages")], ["http://example.org/"])
        self.stele("verify")
        self.stele("import", path)
        self.assertEqual(len(self.rows()), 4)

    def test_W15_packed_warc_files_are_read_too(self):
        self.stele("import", self.wacz(["archive/1.warc.gz", "archive/2.warc.gz"]))
        self.assertEqual(self.stele("get", "http://example.org/frame"), "frame")
        self.assertEqual(self.stele("get", "http://other.example/a"), "a")
        self.assertEqual([row["url"] for row in self.rows("--pages")], ["http://example.org/"])
        before = self.rows()
        self.stele("reindex", "--from-files")
        self.assertEqual(self.rows(), before)
        self.stele("verify")
        # The files that it was made of are known.
        self.stele("import", self.put("1.warc.gz", RECORDS), self.put("2.warc.gz", OTHERS))
        self.assertEqual(self.rows(), before)


    def test_I6_of_a_wacz_file_that_is_here_in_part_the_rest_is_listed(self):
        self.stele("import", self.put("1.warc.gz", RECORDS))
        path = self.wacz()
        self.stele("import", path)
        self.assertIn("1 of its 2 archive files is here already", self.said)
        kept = self.archive / "volumes/main/00000002/x.wacz"
        self.assertEqual(kept.read_bytes(), path.read_bytes())
        before = self.rows()
        self.assertEqual(len(before), 4)
        self.stele("import", path, self.put("2.warc.gz", OTHERS))
        self.assertNotIn("of its", self.said)
        self.assertEqual(self.rows(), before)
        self.stele("reindex", "--from-files")
        self.assertEqual(self.rows(), before)
        self.stele("verify")
        self.assertEqual(self.stele("get", "http://other.example/a"), "a")
        # The bytes of what is purged are in both files.
        self.stele("rm", "--purge", "--reason", "asked for", "http://example.org/frame")
        self.assertEqual(len(self.rows()), 3)
        for file in self.archive.glob("volumes/main/*/*"):
            self.assertNotIn(RECORDS, file.read_bytes())
        self.stele("verify")


class Export(Archive):
    def setUp(self):
        super().setUp()
        self.stele("import", self.put("x.warc.gz", RECORDS, OTHERS))
        self.path = self.folder / "out.wacz"
        self.stele("export", self.path)

    def test_zipfile_reads_it(self):
        with zipfile.ZipFile(self.path) as file:
            self.assertIsNone(file.testzip())
            package = json.loads(file.read("datapackage.json"))
            for resource in package["resources"]:
                content = file.read(resource["path"])
                self.assertEqual(len(content), resource["bytes"])
                self.assertEqual("sha256:" + hashlib.sha256(content).hexdigest(), resource["hash"])
            seal = json.loads(file.read("datapackage-digest.json"))
            self.assertEqual(seal["hash"], "sha256:" +
                             hashlib.sha256(file.read("datapackage.json")).hexdigest())
            pages = [json.loads(line) for line in file.read("pages/pages.jsonl").splitlines()]
            self.assertEqual(pages[0]["format"], "json-pages-1.0")
            self.assertEqual({page["url"]: page.get("title") for page in pages[1:]},
                             {"http://example.org/": "Home", "http://example.org/frame": None,
                              "http://other.example/": None, "http://other.example/a": None})
            warc = file.read("archive/data.warc.gz")
            lines = gzip.decompress(file.read("indexes/index.cdx.gz")).decode().splitlines()
            self.assertEqual(lines, sorted(lines))
            for line in lines:
                place = json.loads(line.split(" ", 2)[2])
                begin = int(place["offset"])
                record = gzip.decompress(warc[begin:begin + int(place["length"])])
                self.assertIn(place["url"].encode(), record)
        self.assertEqual(len(lines), 4)
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_W15_what_archive_toml_says_of_the_collection_goes_along(self):
        said = {name: f"the {name} of it"
                for name in ["title", "description", "creator", "rights", "contact", "language"]}
        config = self.archive / "archive.toml"
        lines = [line for line in config.read_text().splitlines() if line.split(" ")[0] not in said]
        config.write_text("\n".join([f'{k} = "{v}"' for k, v in said.items()] + lines) + "\n")
        self.stele("export", self.folder / "m.wacz")
        with zipfile.ZipFile(self.folder / "m.wacz") as file:
            package = json.loads(file.read("datapackage.json"))
            warc = gzip.decompress(file.read("archive/data.warc.gz")).decode()
        self.stele("export", self.folder / "m.warc")
        for warcinfo in [warc, (self.folder / "m.warc").read_bytes().decode()]:
            for value in said.values():
                self.assertIn(value, warcinfo.split("WARC/1.1")[1])
        for value in said.values():
            self.assertIn(value, json.dumps(package))

    def test_brought_in_again_it_is_the_same(self):
        facts = [(row["url"], row["time"], row["sha256"], row["page"]) for row in self.rows()]
        self.archive = self.folder / "other"
        self.stele("import", self.path)
        self.stele("verify")
        self.assertEqual([(row["url"], row["time"], row["sha256"], row["page"])
                          for row in self.rows()], facts)

    @unittest.skipUnless(PY_WACZ.exists(),
                         "the peer wacz is not installed (bench/peers.py installs it)")
    def test_py_wacz_finds_it_valid(self):
        done = subprocess.run([PY_WACZ, "validate", "-f", self.path], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Validation succeeded", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
