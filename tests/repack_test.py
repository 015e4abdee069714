#!/usr/bin/env python3
"""stele import --repack and --dedup: files that are written anew as they come in."""

import gzip
import hashlib
import pathlib
import unittest

from archive_lab import Archive, record, response

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
THEN, LATER = "2014-05-01T10:00:00Z", "2015-05-01T10:00:00Z"
URL = "http://example.org/"


class Repack(Archive):
    def contents(self):
        """{(url, time): payload} of all captures."""
        return {(row["url"], row["time"]): self.stele("get", "--at", row["time"], row["url"])
                for row in self.rows()}

    def kept(self, number):
        """The only file of a container."""
        path, = (self.archive / f"volumes/main/{number:08}").iterdir()
        return path

    def test_repacked_records_have_new_ids_and_the_same_contents(self):
        request = record("request", URL, THEN, b"GET / HTTP/1.1\r\n\r\n", "WARC-Concurrent-To: x")
        path = self.put("a.warc.gz", response(URL, THEN, b"page"), request)
        self.stele("import", "--repack", path)
        kept = self.kept(1)
        self.assertEqual(kept.name, "a.warc.gz")
        old, new = (gzip.decompress(p.read_bytes()) for p in (path, kept))
        for line in old.splitlines():
            if line.startswith(b"WARC-Record-ID"):
                self.assertNotIn(line, new)
        self.assertIn(b"source: a.warc.gz\r\nsource-sha256: ", new)
        self.assertEqual(self.stele("get", URL), "page")
        self.run_stele("warc", "check", kept)
        self.stele("verify")

    def test_I7_repacked_files_say_what_their_archive_is(self):
        self.stele("import", self.put("a.warc.gz", response(URL, THEN, b"page")))
        config = self.archive / "archive.toml"
        config.write_text(config.read_text()
                          .replace('creator = ""', 'creator = "A library"')
                          .replace('rights = ""', 'rights = "Reading room only"'))
        for number, option in ((2, "--repack"), (3, "--dedup")):
            self.stele("import", option, self.put(f"{number}.warc.gz", response(
                URL, f"201{number}-01-01T00:00:00Z", b"x")))
            self.assertIn(b"operator: A library\r\nrights: Reading room only\r\nsource: ",
                          gzip.decompress(self.kept(number).read_bytes()))

    def test_the_same_file_changes_nothing(self):
        path = self.put("a.warc.gz", response(URL, THEN, b"page"))
        self.stele("import", "--repack", path)
        for options in [["--repack"], ["--dedup"], []]:
            self.assertIn("here already", self.stele("import", *options, path))
        self.assertEqual(len(self.rows()), 1)

    def test_D6_what_is_known_becomes_a_revisit_and_nothing_else_changes(self):
        first = self.put("1.warc.gz", response(URL, THEN, b"same" * 99),
                         response(URL + "mirror", THEN, b"same" * 99),
                         response(URL + "empty", THEN, b""))
        second = self.put("2.warc.gz", response(URL, LATER, b"same" * 99),
                          response(URL + "new", LATER, b"new"),
                          response(URL + "empty", LATER, b""))
        self.stele("import", first, second)
        whole = self.contents()
        self.archive = self.folder / "other"
        said = self.stele("import", "--dedup", "--json", first, second)
        self.assertEqual(said.count('"new": true'), 2)
        self.assertEqual(self.contents(), whole)
        revisits = {(row["url"], row["time"]) for row in self.rows() if row["revisit"]}
        self.assertEqual({url for url, time in revisits}, {URL + "mirror", URL})
        self.assertEqual({time[:4] for url, time in revisits if url == URL}, {"2015"})
        for number in (1, 2):
            self.run_stele("warc", "check", self.kept(number))
        self.stele("verify")

    def test_D6_revisits_are_named_by_the_digest_that_the_crawler_used(self):
        digest = f"WARC-Payload-Digest: sha256:{hashlib.sha256(b'same').hexdigest()}"
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nsame"
        self.stele("import", "--dedup", self.put(
            "a.warc.gz", *(record("response", URL, time, block, digest) for time in (THEN, LATER))))
        self.assertEqual([row["revisit"] for row in self.rows()], [False, True])
        self.assertNotIn("not in this archive", self.stele("report"))
        self.run_stele("warc", "check", self.kept(1))

    def test_older_formats_become_warc(self):
        arc = EXAMPLES / "lighthouse-2006.arc.gz"
        self.stele("import", "--dedup", arc)
        self.stele("import", "--dedup", EXAMPLES / "lighthouse-2026-01.warc.gz")
        self.assertEqual(self.kept(1).name, "lighthouse-2006.warc.gz")
        self.assertIn("<p>Open on Sundays.</p>",
                      self.stele("get", "--at", "2010", "http://lighthouse.example/hours.html"))
        # The pictures are the same after twenty years.
        self.assertTrue(any(row["revisit"] and row["url"].endswith("tower.png")
                            for row in self.rows("--from", "2026")))
        self.stele("verify")

    def test_what_cannot_be_is_said(self):
        path = self.put("a.warc.gz", response(URL, THEN, b"page"))
        self.stele("import", "--repack", "--in-place", path, code=2)
        self.stele("import", "--repack", "-", code=3)
        broken = self.put("b.warc.gz", response(URL, THEN, b"page"),
                          response(URL + "lost", THEN, b"lost")[:-20])
        self.stele("import", "--repack", broken, code=1)
        self.assertEqual([row["url"] for row in self.rows()], [URL])


if __name__ == "__main__":
    unittest.main()
