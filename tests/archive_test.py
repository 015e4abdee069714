#!/usr/bin/env python3
"""An archive as a person uses it, and with samples of other projects where they are present."""

import gzip
import hashlib
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import unittest
import uuid
import zipfile

from archive_lab import STELE, Archive, record, response
from store_remote_test import Server

IDENTICAL = ("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
             "identical-payload-digest")
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
SAMPLES = pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "warc-samples"


class Everyday(Archive):
    def test_W15_import_ls_get_info(self):
        old = self.put("old.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"old"),
                       response("http://example.org/a.png", "2004-05-01T10:00:01Z", b"png",
                                mime="image/png"))
        new = self.put("new.warc.gz", response("http://example.org/", "2014-05-01T10:00:00Z", b"new"),
                       response("http://sub.example.org/x", "2014-05-01T10:00:00Z", b"gone", 404))
        self.stele("import", old)
        self.stele("import", new)
        self.assertEqual(self.stele("get", "http://example.org/"), "new")
        self.assertEqual(self.stele("get", "--at", "2005", "http://example.org/"), "old")
        self.assertIn("HTTP/1.1 200 X", self.stele("get", "--http", "http://example.org/"))
        self.assertIn("WARC-Type: response", self.stele("get", "--record", "http://example.org/"))
        self.stele("get", "http://example.org/nothing", code=3)
        urls = [row["url"] for row in self.rows("--domain", "example.org")]
        self.assertEqual(urls, ["http://example.org/"] * 2 + ["http://example.org/a.png",
                                                              "http://sub.example.org/x"])
        self.assertEqual(len(self.rows("--host", "example.org")), 3)
        self.assertEqual(len(self.rows("--prefix", "http://example.org/a")), 1)
        self.assertEqual(len(self.rows("--pages")), 2)
        self.assertEqual(len(self.rows("--mime", "image/*")), 1)
        self.assertEqual(len(self.rows("--status", "4xx")), 1)
        self.assertEqual(len(self.rows("--run", "2")), 2)
        self.assertEqual(len(self.rows("--batch", "200405")), 2)
        self.assertEqual(len(self.rows("--to", "2004")), 2)
        self.assertEqual([row["time"][:4] for row in self.rows("--at", "2010")], ["2004", "2004"])
        info = json.loads(self.stele("info", "--json"))
        self.assertEqual((info["captures"], info["containers"], info["title"]), (4, 2, "archive"))
        self.assertEqual([run["captures"] for run in info["runs"]], [2, 2])

    def test_I7_several_runs_and_months_are_taken_together(self):
        for year in (2004, 2005, 2006):
            self.stele("import", self.put(f"{year}.warc.gz", response(
                "http://a.org/", f"{year}-05-01T10:00:00Z", b"%d" % year)))
        out = self.folder / "out.warc"
        for words in (("--batch", "200405", "--batch", "200505"), ("--run", "1", "--run", "2")):
            self.assertEqual([row["time"][:4] for row in self.rows(*words)], ["2004", "2005"])
            self.stele("export", "--force", *words, out)
            self.assertIn("2 captures in 1 file", self.said)
            self.stele("rm", "--dry-run", *words)
            self.assertIn("2 captures; nothing was done", self.said)
        self.stele("ls", "--run", "1", "--run", "9", code=2)
        self.assertIn("there is no run 9", self.said)
        self.stele("export", "--format", "warc", "--format", "wacz", self.folder / "x", code=2)
        self.assertIn("--format is given twice", self.said)

    def test_I5_a_name_by_which_another_format_is_expected_is_refused(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2004-05-01T10:00:00Z",
                                                            b"a")))
        for ending in (".cdx", ".cdxj.gz", ".zip", ".json", ".html", ".arc.gz"):
            out = self.folder / f"out{ending}"
            self.stele("export", out, code=2)
            self.assertIn(f"{ending} files are not written; end the name with .warc.gz", self.said)
            self.assertFalse(out.exists())
        self.stele("export", "--format", "warc", self.folder / "out.txt")
        self.stele("export", self.folder / "named-as-i-like")

    def test_I7_what_is_not_there_is_said(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2004-05-01T10:00:00Z",
                                                            b"a")))
        for command in (("ls",), ("get",), ("rm", "--dry-run"), ("export", self.folder / "x.warc")):
            self.stele(*command, "--id", "999999/0", code=3)
            self.assertIn("there is no capture 999999/0", self.said)
        self.assertEqual(self.stele("ls", "http://a.org/other"), "")
        self.assertIn("nothing matches", self.said)
        self.assertEqual(self.stele("ls", "--json", "http://a.org/other"), "")
        self.assertEqual(self.said, "")
        self.run_stele("batch", "export", "--archive", self.archive, "200406",
                       self.folder / "x.warc", code=3)
        self.assertIn("stele batch ls lists the months", self.said)
        self.stele("export", "--batch", "200406", self.folder / "x.cdxj")
        self.assertIn("nothing matches", self.said)
        self.stele("rm", "http://a.org/", "--reason", "x", "--json")
        self.assertEqual(json.loads(self.stele("rm", "--list", "--json"))["what"], "http://a.org/")

    def test_I5_a_zip_file_without_archive_files_is_called_so(self):
        path = self.folder / "x.wacz"
        with zipfile.ZipFile(path, "w") as wacz:
            wacz.writestr("datapackage.json", "{}")
        self.stele("import", path, code=3)
        self.assertIn(f"{path} is a ZIP file without WARC files in archive/", self.said)

    def test_I7_what_an_archive_has_can_be_named_however_strange(self):
        urls = ["http://example.org/a*b", "dns:example.org", "urn:x:y", "http://exam ple.org/",
                "http://localhost:8080/x"]
        self.stele("import", self.put("x.warc.gz", *(
            record("response", url, "2004-05-01T10:00:00Z", b"HTTP/1.1 200 X\r\n\r\nx")
            for url in urls)))
        for text in [url.replace("*", "%2A") for url in urls]:
            self.assertIn("covers 1 capture", self.stele("hold", text, "--reason", "x"), text)

    def test_I7_a_hold_says_how_many_captures_it_covers(self):
        self.stele("import", self.put("x.warc.gz", *(
            response(f"http://a.org/{i}", "2004-05-01T10:00:00Z", b"x") for i in range(3))))
        self.stele("rm", "http://a.org/2", "--reason", "its bytes are here")
        self.assertEqual(self.stele("hold", "--host", "a.org", "--reason", "x"),
                         "hold 1 covers 3 captures\n")
        self.assertEqual(self.stele("hold", "http://a.org/9", "--reason", "x"),
                         "hold 2 covers 0 captures\n")
        self.assertEqual(json.loads(self.stele("hold", "--to", "2003", "--reason", "x", "--json")),
                         {"hold": 3, "captures": 0})

    def test_I7_a_path_is_meant_on_the_one_site_of_an_archive(self):
        when = "2004-05-01T10:00:00Z"
        self.stele("import", self.put("x.warc.gz", response("http://www.a.org:8080/news/", when, b"n"),
                                      response("http://www.a.org:8080/", when, b"home"),
                                      response("http://b.org/x.png", when, b"p", mime="image/png")))
        self.assertEqual([row["url"] for row in self.rows("/news/")],
                         ["http://www.a.org:8080/news/"])
        self.assertEqual(len(self.rows("--prefix", "/")), 2)
        self.assertEqual(self.stele("get", "/news/"), "n")
        self.assertEqual(len(self.stele("rm", "/news/", "--dry-run").splitlines()), 1)
        self.stele("export", "--url", "/news/", self.folder / "news.warc")
        self.assertIn("1 capture in 1 file", self.said)
        self.stele("hold", "/news/", "--reason", "a case")
        self.assertIn("http://a.org:8080/news/: a case", self.stele("hold", "--list"))
        self.stele("rm", "/news/", "--reason", "x", code=3)
        self.assertIn("under hold 1", self.said)
        self.stele("import", self.put("y.warc.gz", response("http://b.org/", when, b"another")))
        for command in (("ls",), ("get",), ("diff",), ("changes",), ("rm", "--dry-run"),
                        ("hold", "--reason", "x")):
            self.stele(*command, "/news/", code=2)
            self.assertIn("/news/: the archive has several sites (a.org:8080, b.org)", self.said)
        self.assertEqual(len(self.stele("hold", "--list").splitlines()), 1)

    def test_I6_two_captures_in_one_second_are_both_reachable(self):
        url, when = "http://example.org/", "2004-05-01T10:00:00Z"
        self.stele("import", self.put("1.warc.gz", response(url, when, b"one")))
        self.stele("import", self.put("2.warc.gz", response(url, when, b"two")))
        rows = self.rows(url)
        self.assertEqual(len({row["time"] for row in rows}), 1)
        ids = [row["id"] for row in rows]
        self.assertEqual({self.stele("get", "--id", one) for one in ids}, {"one", "two"})
        self.assertEqual([row["id"] for row in self.rows("--id", ids[1])], ids[1:])
        out = self.folder / "out.warc"
        self.stele("export", "--id", ids[0], out)
        self.assertIn("1 capture in 1 file\n", self.said)
        self.stele("rm", "--id", ids[0], "--reason", "a test")
        self.assertEqual([row["id"] for row in self.rows(url)], ids[1:])
        self.stele("get", "--id", ids[0], code=3)
        self.assertIn(f"there is no capture {ids[0]}", self.said)
        self.stele("get", "--id", "200405", code=2)
        self.assertIn("--id takes a batch and a number such as 200405/17, not 200405", self.said)
        self.stele("get", "--id", ids[1], url, code=2)

    def test_I5_progress_of_an_import_is_shown_on_a_terminal(self):
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen([STELE, "import", "--archive", self.archive, "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        process.stdin.write(response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        process.stdin.flush()
        shown = b""
        while b"MB/s" not in shown:  # before the file has ended
            shown += os.read(terminal, 1000)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(self.rows()), 1)

    def test_I7_a_purge_names_what_crashes_left(self):
        self.stele("import", self.put("x.warc.gz", response("http://example.org/",
                                                            "2004-05-01T10:00:00Z", b"x")))
        torn = self.archive / "volumes" / "main" / "00000009.torn"
        torn.write_bytes(b"a part of a record")
        self.stele("rm", "http://example.org/", "--reason", "a test", "--purge")
        self.assertIn(f"{torn} is what a crash left of a file", self.said)

    def test_I5_tianwang_files_are_brought_in(self):
        pages = [(f"http://example.org/{i}", f"2004-05-0{i + 1}T10:00:00Z", b"<p>page %d" % i)
                 for i in range(3)]
        self.stele("import", self.put("x.warc.gz", *(response(*page) for page in pages)))
        for name, words in (("plain.tw", []), ("packed.tw", ["--compress"])):
            path = self.folder / name
            self.run_stele("warc", "convert", "--to", "tianwang", *words, self.folder / "x.warc.gz",
                           "--output", path)
            whole = hashlib.sha256(path.read_bytes()).hexdigest()
            archive = self.folder / f"from-{name}"
            self.run_stele("import", "--archive", archive, path)
            rows = [json.loads(line) for line in
                    self.run_stele("ls", "--json", "--archive", archive).splitlines()]
            self.assertEqual([{key: row[key] for key in ("url", "time", "status", "mime", "sha1")}
                              for row in rows],
                             [{key: row[key] for key in ("url", "time", "status", "mime", "sha1")}
                              for row in self.rows()])
            for url, _, body in pages:
                self.assertEqual(self.run_stele("get", "--archive", archive, url), body.decode())
            (stored,) = archive.glob(f"volumes/main/*/{name}")
            self.assertEqual(hashlib.sha256(stored.read_bytes()).hexdigest(), whole)
            self.assertIn("all is right", self.run_stele("verify", "--archive", archive))

    def test_a_listing_goes_on_where_it_ended(self):
        self.stele("import", self.put("x.warc.gz", *(
            response(f"http://example.org/{i}", "2004-05-01T10:00:00Z", b"x") for i in range(5))))
        seen, resume = [], []
        while True:
            done = subprocess.run([STELE, "ls", "--archive", self.archive, "--json", "--limit", "2",
                                   *resume], capture_output=True, check=True)
            seen += [json.loads(line)["url"] for line in done.stdout.splitlines()]
            if b"--resume" not in done.stderr:
                break
            resume = ["--resume", done.stderr.split(b"--resume ")[1].strip()]
        self.assertEqual(seen, [f"http://example.org/{i}" for i in range(5)])

    def test_a_file_keeps_its_bytes_and_comes_once(self):
        path = self.put("x.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        self.stele("import", path)
        again = json.loads(self.stele("import", "--json", path))
        self.assertFalse(again["new"])
        kept = [p for p in self.archive.rglob("x.warc.gz")]
        self.assertEqual([p.read_bytes() for p in kept], [path.read_bytes()])
        self.assertEqual(again["sha256"], hashlib.sha256(path.read_bytes()).hexdigest())
        with open(path, "rb") as file:
            self.stele("import", "-", stdin=file)
        self.assertEqual(len(self.rows()), 1)

    def test_I5_what_comes_through_a_pipe_is_named_by_its_format(self):
        packed = self.put("x.warc.gz", response("http://a.org/", "2004-05-01T10:00:00Z", b"x"))
        plain = self.put("x.warc", gzip.decompress(response("http://b.org/", "2004-05-01T10:00:00Z",
                                                            b"x")))
        with zipfile.ZipFile(self.folder / "x.wacz", "w") as wacz:
            wacz.writestr("archive/a.warc.gz", response("http://c.org/", "2004-05-01T10:00:00Z",
                                                        b"x"))
        pages = self.folder / "x.tw"
        self.run_stele("warc", "convert", "--to", "tianwang", packed, "--output", pages)
        for path in (packed, plain, self.folder / "x.wacz", pages,
                     EXAMPLES / "lighthouse-2006.arc.gz"):
            with open(path, "rb") as file:
                # The WACZ file lacks its list of digests, which is said.
                self.stele("import", "-", stdin=file, code=int(path.suffix == ".wacz"))
        self.assertEqual(sorted(p.name for p in self.archive.glob("volumes/main/*/*")),
                         ["stdin.arc.gz", "stdin.tw", "stdin.wacz", "stdin.warc", "stdin.warc.gz"])
        self.assertIn("all is right", self.stele("verify"))
        self.stele("import", "-", code=3, input=b"no archive file")
        self.assertIn("stele: - is no WARC", self.said)

    def test_I6_an_import_of_nothing_new_is_no_run(self):
        path = self.put("x.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        self.stele("import", path)
        done = subprocess.run([STELE, "import", "--archive", self.archive, path],
                              capture_output=True, check=True)
        self.assertIn(b"nothing is new: 1 file, 1 of them here already; no run", done.stderr)
        note = self.put("notes.txt", b"no archive file")
        self.stele("import", note, code=3)
        self.assertEqual(len(json.loads(self.stele("info", "--json"))["runs"]), 1)
        other = self.put("y.warc.gz", response("http://example.org/", "2005-05-01T10:00:00Z", b"y"))
        self.stele("import", path, other)
        runs = json.loads(self.stele("info", "--json"))["runs"]
        self.assertEqual([(run["run"], run["captures"]) for run in runs], [(1, 1), (2, 1)])

    def test_I6_a_file_whose_captures_were_taken_down_is_said_to_be_one(self):
        path = self.put("x.warc.gz", *(response(f"http://example.org/{n}", "2004-05-01T10:00:00Z",
                                                b"x") for n in range(2)))
        self.stele("import", path)
        self.assertTrue(self.stele("import", path).endswith("as container 1\n"))
        for n in range(2):
            self.stele("rm", f"http://example.org/{n}", "--reason", "x")
            self.assertIn(f"as container 1; {n + 1} of its 2 captures taken down: stele rm --list",
                          self.stele("import", path))
            self.assertEqual(json.loads(self.stele("import", "--json", path))["removed"], n + 1)
            run = json.loads(self.stele("info", "--json"))["runs"][0]
            self.assertEqual((run["captures"], run["removed"]), (2, n + 1))
            self.assertIn(f"({n + 1} taken down)", self.stele("info"))
        self.assertEqual(self.rows(), [])

    def test_I6_an_archive_is_not_brought_to_itself(self):
        self.put("x.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        for _ in range(2):
            self.run_stele("import", "--archive", self.folder, self.folder)
        info = json.loads(self.run_stele("info", "--archive", self.folder, "--json"))
        self.assertEqual((info["containers"], len(info["runs"])), (1, 1))

    def test_I6_only_what_belongs_to_the_archive_is_left_out(self):
        self.run_stele("import", "--archive", self.folder, self.put(
            "x.warc.gz", response("http://x.org/", "2004-05-01T10:00:00Z", b"x")))
        names = ["crawl/mine", "ledger/old", "volumes/new", "audit/its",
                 "volumes/main/own", "crawl/job/theirs"]
        for name in names:
            path = self.folder / f"{name}.warc.gz"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(response(f"http://{name[-3:]}.org/", "2004-05-01T10:00:00Z", b"y"))
        (self.folder / "crawl/job/job.toml").write_text("")
        link = self.folder / "link"
        link.symlink_to(self.folder)
        done = subprocess.run([STELE, "import", "crawl", "ledger", "volumes", "audit", "catalog"],
                              capture_output=True, check=True, cwd=link)
        self.assertIn(b"belong to the archive itself and were left out", done.stderr)
        urls = {json.loads(line)["url"] for line in
                self.run_stele("ls", "--json", "--archive", self.folder).splitlines()}
        self.assertEqual(urls, {"http://x.org/", "http://ine.org/", "http://old.org/",
                                "http://new.org/", "http://its.org/",
                                "http://own.org/"})
        # Whoever names such a file is told in any case.
        done = subprocess.run([STELE, "import", "--quiet", link / "ledger/ledger.warc"],
                              capture_output=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"1 file belongs to the archive itself and was left out", done.stderr)

    def test_in_place_and_damaged_payload_is_named(self):
        path = self.put("x.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        self.stele("import", "--in-place", path)
        self.assertEqual(self.stele("get", "http://example.org/"), "x")
        path.write_bytes(response("http://example.org/", "2004-05-01T10:00:00Z", b"y"))
        self.stele("get", "http://example.org/", code=1)

    def test_errors_say_what_to_do(self):
        for arguments, code, text in [
                (["ls"], 3, "is no archive"), (["import"], 2, "Which file?"),
                (["import", self.folder / "missing.warc"], 3, "missing.warc"),
                (["ls", "--at", "soon"], 2, "--at soon is no time"),
                (["ls", "--status", "abc"], 2, "--status abc")]:
            done = subprocess.run([STELE, arguments[0], "--archive", self.archive, *arguments[1:]],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr.decode())
        note = self.put("notes.txt", b"no archive file")
        done = subprocess.run([STELE, "import", "--archive", self.archive, note],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("notes.txt is no WARC", done.stderr.decode())
        # In a directory it is passed over.
        (self.folder / "d").mkdir()
        self.put("d/notes.txt", b"no archive file")
        self.put("d/x.warc.gz", response("http://example.org/", "2004-05-01T10:00:00Z", b"x"))
        self.stele("import", self.folder / "d")
        self.assertEqual(len(self.rows()), 1)
        done = subprocess.run([STELE, "ls", "--archive", self.archive, "--run", "77"],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no run 77", done.stderr.decode())

    def test_I5_patterns_that_no_shell_expanded(self):
        for name in ["a-1.warc.gz", "a-2.warc.gz", "b-1.warc.gz"]:
            self.put(name, response(f"http://example.org/{name}", "2004-05-01T10:00:00Z", b"x"))
        self.put("a-notes.txt", b"no archive file")
        self.stele("import", self.folder / "a-*")
        self.assertEqual([row["url"] for row in self.rows()],
                         ["http://example.org/a-1.warc.gz", "http://example.org/a-2.warc.gz"])
        # A file may be called like a pattern, and a pattern may match nothing.
        odd = self.put("[b].warc.gz", response("http://example.org/odd", "2004-05-01T10:00:00Z",
                                               b"y"))
        self.stele("import", odd)
        self.assertEqual(len(self.rows()), 3)
        done = subprocess.run([STELE, "import", "--archive", self.archive, self.folder / "c-*"],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("c-*", done.stderr.decode())


class Keeping(Archive):
    def setUp(self):
        super().setUp()
        self.path = self.put("x.warc.gz", *(
            response(f"http://{host}.org/{i}", "2004-05-01T10:00:00Z", f"{host} {i}".encode())
            for host in ["a", "b"] for i in range(3)))
        self.stele("import", self.path)

    def test_a_wrong_name_makes_no_archive(self):
        fresh = self.folder / "fresh"
        self.run_stele("import", "--archive", fresh, self.put("empty.warc"), code=3)
        self.assertIn("empty.warc is empty", self.said)
        self.assertFalse(fresh.exists())
        inside = self.folder / "inside.warc.gz"
        inside.write_bytes(gzip.compress(b""))
        self.run_stele("import", "--archive", fresh, inside, code=3)
        self.assertIn("inside.warc.gz is empty: there is no record in it", self.said)
        self.assertFalse(fresh.exists())
        self.run_stele("import", "--archive", fresh, self.folder / "missing.warc", code=3)
        self.assertFalse(fresh.exists())
        self.run_stele("import", "--archive", fresh, self.folder / "missing.warc", self.path,
                       code=3)
        self.assertEqual(self.run_stele("ls", "--archive", fresh), self.stele("ls"))

    def test_verify_finds_a_flipped_bit_and_reindex_mends_indexes(self):
        self.assertIn("all is right", self.stele("verify"))
        kept = next(self.archive.rglob("x.warc.gz"))
        good = kept.read_bytes()
        kept.write_bytes(good[:100] + bytes([good[100] ^ 1]) + good[101:])
        self.assertIn("x.warc.gz: its SHA-256 is", self.stele("verify", code=1))
        kept.write_bytes(good)
        before = self.stele("ls", "--json")
        shutil.rmtree(self.archive / "catalog")
        self.assertIn("stele reindex", self.complaint("ls"))
        self.stele("reindex")
        self.assertEqual(self.stele("ls", "--json"), before)
        self.stele("reindex", "--from-files")
        self.assertEqual(self.stele("ls", "--json"), before)
        self.assertIn("all is right", self.stele("verify"))

    def test_W15_a_lost_container_is_named_and_comes_back(self):
        before = self.stele("ls", "--json")
        container = self.archive / "volumes/main/00000001"
        container.rename(self.folder / "away")
        self.stele("reindex", "--from-files", code=1)
        self.assertEqual(self.stele("ls", "--json"), before)  # by the rows that it had
        (self.archive / "volumes/main/00000001.rows").unlink()
        self.assertEqual(self.stele("reindex", code=1), "0 captures in 0 containers\n")
        done = subprocess.run([STELE, "ls", "--archive", self.archive], capture_output=True,
                              check=True)
        self.assertIn(b"the captures of container 1 (x.warc.gz) are not listed", done.stderr)
        (self.folder / "away").rename(container)
        self.stele("hold", "--reason", "any writer takes it in")
        self.assertEqual(self.stele("ls", "--json"), before)
        self.assertIn("all is right", self.stele("verify"))

    def test_P3_damage_in_the_last_event_of_the_ledger_is_not_cut_off(self):
        self.stele("hold", "--host", "a.org", "--reason", "case")
        ledger = self.archive / "ledger/ledger.warc"
        bad = ledger.read_bytes().replace(b"reason: case", b"reason: base")
        ledger.write_bytes(bad)
        for words in (("verify",), ("hold", "--list"), ("rm", "http://a.org/1", "--reason", "x"),
                      ("reindex",)):
            self.assertIn("restore it from a backup", self.complaint(*words))
        self.assertEqual(ledger.read_bytes(), bad)

    def test_W15_a_missing_ledger_is_not_made_anew(self):
        before = self.stele("ls", "--json")
        ledger = self.archive / "ledger/ledger.warc"
        ledger.rename(self.folder / "ledger.warc")
        more = self.put("more.warc.gz", response("http://c.org/", "2005-01-01T00:00:00Z", b"c"))
        for words in (("import", more), ("ls",), ("verify",), ("reindex",),
                      ("reindex", "--from-files")):
            said = self.complaint(*words)
            self.assertIn(f"{ledger}: the ledger is missing", said)
            self.assertIn("bring it back from a backup", said)
            self.assertFalse(ledger.exists())
        shutil.rmtree(self.archive / "catalog")
        self.assertIn("the ledger is missing", self.complaint("reindex"))
        self.assertFalse(ledger.exists())
        (self.folder / "ledger.warc").rename(ledger)
        self.stele("reindex")
        self.assertEqual(self.stele("ls", "--json"), before)
        self.assertIn("all is right", self.stele("verify"))

    def test_W15_a_ledger_that_is_older_than_what_is_stored_is_named(self):
        ledger = self.archive / "ledger/ledger.warc"
        old = ledger.read_bytes()
        more = self.put("more.warc.gz", response("http://c.org/", "2005-01-01T00:00:00Z", b"c"))
        self.stele("import", "--quiet", more)
        self.stele("rm", "http://a.org/1", "--reason", "a test")
        before, newer = self.stele("ls", "--json"), ledger.read_bytes()
        ledger.write_bytes(old)
        for words in (("ls",), ("verify",), ("import", more)):
            self.assertIn("Restore the newer one", self.complaint(*words))
        self.stele("reindex", code=1)
        self.assertIn("takedowns and holds that came since are forgotten", self.said)
        self.assertIn(f"more.warc.gz: is not in {ledger}", self.said)
        self.assertIn(f"more.warc.gz: is not in {ledger}", self.stele("verify", code=1))
        self.assertTrue((self.archive / "volumes/main/00000002.rows").exists())
        ledger.write_bytes(newer)
        self.stele("reindex")
        self.assertEqual(self.stele("ls", "--json"), before)
        self.assertIn("all is right", self.stele("verify"))

    def test_export_brought_in_again_is_the_same(self):
        out = self.folder / "out.warc.gz"
        self.stele("export", out)
        self.run_stele("warc", "check", out)
        self.stele("export", out, code=2)  # it is there
        other = self.folder / "other"
        self.run_stele("import", "--archive", other, out)
        lines = self.run_stele("ls", "--archive", other)
        self.assertEqual(lines, self.stele("ls"))
        self.stele("export", "--host", "a.org", "--force", out)
        self.assertEqual(self.run_stele("warc", "ls", "--json", out).count('"response"'), 3)
        self.stele("export", "--host", "nowhere.org", self.folder / "none.warc.gz", code=3)
        self.assertFalse((self.folder / "none.warc.gz").exists())

    def test_export_per_site_and_as_index(self):
        self.stele("export", "--per-site", self.folder / "sites")
        self.assertEqual(sorted(p.name for p in (self.folder / "sites").iterdir()),
                         ["a.org.warc.gz", "b.org.warc.gz"])
        self.assertEqual(self.stele("export", "--format", "cdxj", "-"),
                         self.run_stele("warc", "index", "--sort", self.path))

    def test_I5_more_sites_than_files_may_be_open(self):
        self.stele("import", self.put("many.warc.gz", *(
            response(f"http://site{i}.org/", "2004-05-01T10:00:00Z", b"x") for i in range(90))))
        for form in ["warc", "wacz", "tianwang"]:
            folder = self.folder / form
            self.stele("export", "--per-site", "--format", form, folder,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
            self.assertEqual(len(list(folder.iterdir())), 92)
        # All of them, or none.
        (self.folder / "wacz" / "a.org.wacz").unlink()
        self.stele("export", "--per-site", "--format", "wacz", self.folder / "wacz", code=2)
        self.assertEqual(len(list((self.folder / "wacz").iterdir())), 91)

    def test_I5_files_of_one_name_are_told_apart_in_an_index(self):
        (self.folder / "other").mkdir()
        self.stele("import", self.put("other/x.warc.gz",
                                      response("http://c.org/", "2004-05-01T10:00:00Z", b"c")))
        lines = self.stele("export", "--format", "cdxj", "-").splitlines()
        names = {json.loads(line.split(" ", 2)[2])["filename"] for line in lines}
        self.assertEqual(names, {"00000001/x.warc.gz", "00000002/x.warc.gz"})
        for name in names:
            self.assertTrue((self.archive / "volumes/main" / name).exists())

    def test_W15_a_record_without_an_id_gets_the_same_one_each_time(self):
        block = b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n\r\nno id"
        path = self.put("noid.warc", b"WARC/1.0\r\nWARC-Type: response\r\n"
                        b"WARC-Target-URI: http://noid.org/\r\nWARC-Date: 2004-05-01T10:00:00Z\r\n"
                        b"Content-Type: application/http; msgtype=response\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n")
        self.stele("import", path)
        ids = []
        for name in ["1.warc", "2.warc"]:
            self.stele("export", "--host", "noid.org", self.folder / name)
            record_ = (self.folder / name).read_text().split("WARC/1.0")[1]
            ids += [line.split(" ", 1)[1] for line in record_.splitlines()
                    if line.startswith("WARC-Record-ID")]
        space = uuid.UUID("8e1f4b0c-526d-5a37-9c21-5e04d17b6690")
        name = hashlib.sha256(path.read_bytes()).hexdigest() + ":0"
        self.assertEqual(ids, [f"<urn:uuid:{uuid.uuid5(space, name)}>"] * 2)

    def test_I6_what_was_taken_down_is_counted_apart(self):
        self.stele("rm", "http://a.org/1", "--reason", "x")
        info = json.loads(self.stele("info", "--json"))
        self.assertEqual((info["captures"], info["removed"]), (5, 1))
        self.assertIn("5 captures in 1 container", self.stele("info"))
        self.assertIn("1 other was taken down", self.stele("info"))
        self.stele("rm", "--purge")
        info = json.loads(self.stele("info", "--json"))
        self.assertEqual((info["captures"], info["removed"]), (5, 0))

    def test_P2_what_was_shown_then_passes_over_what_was_taken_down(self):
        self.stele("import", self.put("v.warc.gz",
                                      response("http://v.org/", "2004-05-01T10:00:00Z", b"v1"),
                                      response("http://v.org/", "2005-05-01T10:00:00Z", b"v2")))
        self.stele("rm", "http://v.org/", "--from", "2005", "--reason", "x")
        alive = ["--host", "v.org", "--alive", "--from", "2006", "--to", "2006"]
        for step in [["info"], ["rm", "--purge"], ["reindex"]]:
            self.stele(*step)
            self.assertEqual([row["time"][:4] for row in self.rows(*alive)], ["2004"], step)
            self.assertEqual(self.rows(*alive), self.rows("--host", "v.org", "--at", "2006"))
        self.stele("export", *alive, self.folder / "v.warc")
        self.assertIn(b"v1", (self.folder / "v.warc").read_bytes())

    def test_I7_what_cannot_be_meant_is_refused(self):
        """It would find nothing, and a hold protect nothing."""
        self.stele("import", self.put("x.warc.gz", response("http://example.org/",
                                                            "2004-05-01T10:00:00Z", b"x")))
        for words, text in ((("--from", "2014", "--to", "2013"), "--from 2014 is later than --to"),
                            (("--host", "http://example.org/x"), "no host like example.org"),
                            (("--domain", ""), "no host like example.org"),
                            (("--prefix", ""), "--prefix is empty"), (("",), "a URL is empty"),
                            (("not a url",), "not a url has no scheme or no host"),
                            (("http://",), "http:// has no scheme or no host"),
                            (("localhost:80/a",), "localhost:80/a has no scheme"),
                            (("--prefix", "https:///"), "--prefix https:/// has no scheme or no"),
                            (("http://example.org/*",), "there is --prefix, for a host --host"),
                            (("--prefix", "http://*.example.org/"), "below it --domain"),
                            (("--host", "*.example.org"), "hosts below a host --domain"),
                            (("--domain", "example.org:80"), "all its ports; leave out :80")):
            for command in (("hold", "--reason", "x"), ("rm", "--dry-run"), ("ls",)):
                with self.subTest(command=command, words=words):
                    self.stele(*command, *words, code=2)
                    self.assertIn(text, self.said)
        self.stele("get", "http://example.org/*", code=2)
        self.stele("export", "--url", "http://example.org/*", self.folder / "all.warc", code=2)
        self.assertEqual(self.stele("hold", "--list"), "")
        for words, text in ((("--batch", "200413"), "200413 is no month like 200405"),
                            (("--run", "9"), "there is no run 9")):
            for command in (("rm", "--dry-run"), ("ls",), ("export", self.folder / "out.warc")):
                with self.subTest(command=command, words=words):
                    self.stele(*command, *words, code=2)
                    self.assertIn(text, self.said)
        self.stele("reindex", "--batch", "200400", code=2)

    def test_rm_and_hold(self):
        url = "http://a.org/1"
        self.stele("hold", "--host", "a.org", "--reason", "a case")
        self.assertIn("goes on", self.stele("hold", "--list"))
        self.assertIn("under hold 1 (a case)", self.complaint("rm", url, "--reason", "x"))
        self.stele("hold", "--end", "1")
        self.assertEqual(len(self.stele("rm", url, "--dry-run").splitlines()), 1)
        self.assertIn("--reason", self.complaint("rm", url))
        self.assertIn("say what", self.complaint("rm", "--reason", "x"))
        self.assertEqual(len(self.rows()), 6)
        self.stele("rm", url, "--reason", "request of the owner")
        self.assertEqual(len(self.rows()), 5)
        self.assertEqual([row["removed"] for row in self.rows("--removed", url)], [True])
        self.stele("get", url, code=3)
        self.stele("export", "--url", url, self.folder / "none.warc.gz", code=3)
        ledger = (self.archive / "ledger/ledger.warc").read_text()
        self.assertIn("reason: request of the owner", ledger)
        self.stele("reindex")
        self.assertEqual(len(self.rows()), 5)
        self.assertIn("all is right", self.stele("verify"))

    def test_rm_purge_deletes_the_bytes(self):
        plain = self.folder / "plain.warc"
        self.run_stele("warc", "recompress", "--compression", "none", self.path, "--output", plain)
        self.stele("import", plain)
        self.stele("rm", "http://b.org/2", "--reason", "a court", "--purge")
        left = b"".join(p.read_bytes() for p in self.archive.glob("volumes/main/*/*.warc"))
        self.assertIn(b"b 1", left)
        self.assertNotIn(b"b 2", left)
        self.assertEqual(len(self.rows()), 10)
        self.assertEqual(self.stele("get", "http://b.org/1"), "b 1")
        self.assertIn("all is right", self.stele("verify"))

    def test_W15_a_purge_leaves_the_url_only_where_the_trail_names_it(self):
        self.stele("rm", "http://b.org/2", "--reason", "a court", "--purge")
        named = set()
        for path in (p for p in self.archive.rglob("*") if p.is_file()):
            content = path.read_bytes()
            if path.suffix == ".gz":
                content = gzip.decompress(content)
            if b"http://b.org/2" in content or b"org,b)/2" in content:
                named.add(path.name)
        self.assertEqual(named, {"ledger.warc"})
        self.assertEqual(self.rows("--removed"), self.rows())
        self.assertIn("all is right", self.stele("verify"))

    def test_D6_a_revisit_of_what_was_purged_says_so_before_and_after_a_reindex(self):
        digest = self.rows("http://b.org/2")[0]["sha1"]
        self.stele("rm", "http://b.org/2", "--reason", "a court")
        self.stele("import", self.put("r.warc.gz",
                                      record("revisit", "http://r.org/", "2005-05-01T10:00:00Z",
                                             b"HTTP/1.1 200 X\r\n\r\n", IDENTICAL,
                                             f"WARC-Payload-Digest: sha1:{digest}")))
        for step in [["info"], ["rm", "--purge"], ["reindex"], ["reindex", "--from-files"]]:
            self.stele(*step)
            self.assertIn("was taken down", self.complaint("get", "http://r.org/"), step)
        lacks = r"run \d+: originals are missing for 1 revisit: see stele report"
        self.assertRegex(self.stele("verify"), lacks)
        self.assertNotRegex(self.stele("verify", "--quick"), lacks)
        self.assertIn('"unresolved": 1}', self.stele("verify", "--json"))

    def test_W15_two_imports_may_make_one_archive(self):
        for number in range(5):
            fresh = self.folder / f"fresh{number}"
            words = [STELE, "import", "--archive", fresh, self.path]
            both = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    for _ in range(2)]
            said = [process.communicate()[1].decode() for process in both]
            codes = [process.returncode for process in both]
            self.assertIn(0, codes, said)
            for code, text in zip(codes, said):
                self.assertTrue(code == 0 or "is being written by" in text, text)
            self.assertEqual(len(self.run_stele("ls", "--archive", fresh).splitlines()), 6)

    def bytes_of_containers(self):
        """Of all of them, inflated."""
        files = [p.read_bytes() for p in self.archive.glob("volumes/main/*/*")]
        return b"".join(gzip.decompress(f) if f[:2] == b"\x1f\x8b" else f for f in files)

    def test_I7_what_was_taken_down_is_purged_later(self):
        self.stele("rm", "http://b.org/2", "--reason", "a court")
        done = subprocess.run([STELE, "rm", "--archive", self.archive, "http://b.org/2",
                               "--reason", "a court"], capture_output=True, check=True)
        self.assertIn(b"nothing more to take down: 1 capture went before", done.stderr)
        self.assertIn(b"b 2", self.bytes_of_containers())
        self.stele("rm", "--purge")
        self.assertNotIn(b"b 2", self.bytes_of_containers())
        self.stele("rm", "http://b.org/1", "--reason", "a court")
        self.stele("rm", "http://b.org/1", "--reason", "a court", "--purge")
        self.assertNotIn(b"b 1", self.bytes_of_containers())
        self.assertEqual(len(self.rows()), 4)
        self.stele("rm", "http://b.org/1", "--reason", "a court", "--purge", code=3)
        self.assertIn("all is right", self.stele("verify"))

    def test_I7_purging_what_was_not_said_is_refused(self):
        self.stele("rm", "http://b.org/2", "--reason", "a court")
        for words in [["--mime", "image/png"], ["--status", "404"], ["--pages"], ["--at", "2004"],
                      ["--alive"]]:
            self.assertIn("say what", self.complaint("rm", "--purge", *words, "--reason", "x"))
            self.complaint("rm", "--purge", *words)
        self.assertIn("say what", self.complaint("rm", "--purge", "--reason", "x"))
        self.assertIn(b"b 2", self.bytes_of_containers())

    def test_I7_the_trail_of_takedowns_can_be_read(self):
        digest = self.rows("http://a.org/1")[0]["sha1"]
        self.stele("rm", "--digest", digest, "--reason", "a virus")
        self.stele("rm", "--to", "2004", "--reason", "too old")
        self.assertEqual(self.rows(), [])
        self.assertIn("--digest soon is no SHA-256",
                      self.complaint("rm", "--digest", "soon", "--reason", "x"))
        self.stele("rm", "--purge")
        self.stele("reindex", "--from-files")
        trail = [json.loads(line) for line in self.stele("rm", "--list", "--json").splitlines()]
        self.assertEqual([(r["removal"], r["reason"], r["what"], len(r["captures"]))
                          for r in trail],
                         [(1, "a virus", f"--digest {digest}", 1), (2, "too old", "--to 2004", 5)])
        self.assertEqual(trail[0]["captures"], ["200405/1"])
        self.assertIn("too old", self.stele("rm", "--list"))

    def test_I7_a_hold_keeps_the_bytes_of_what_was_taken_down_before(self):
        self.stele("rm", "http://a.org/1", "--reason", "x")
        self.stele("hold", "--host", "a.org", "--reason", "a case")
        done = subprocess.run([STELE, "rm", "--archive", self.archive, "http://b.org/1",
                               "--reason", "x", "--purge"], capture_output=True, check=True)
        self.assertIn(b"the bytes of 1 capture stay, because of holds", done.stderr)
        self.assertIn(b"a 1", self.bytes_of_containers())
        self.assertNotIn(b"b 1", self.bytes_of_containers())
        self.assertEqual(len(self.rows()), 4)
        self.assertIn("all is right", self.stele("verify"))
        self.stele("hold", "--end", "1")
        self.stele("rm", "--purge")
        self.assertNotIn(b"a 1", self.bytes_of_containers())

    def test_I7_files_in_place_are_named_and_others_are_purged(self):
        lying = self.put("lying.warc.gz", response("http://c.org/", "2003-05-01T10:00:00Z", b"c"))
        self.stele("import", "--in-place", lying)
        self.stele("rm", "http://c.org/", "--reason", "x")
        done = subprocess.run([STELE, "rm", "--archive", self.archive, "http://b.org/1",
                               "--reason", "x", "--purge"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"lying.warc.gz was imported in place", done.stderr)
        self.assertNotIn(b"b 1", self.bytes_of_containers())

    def test_I7_a_purged_file_does_not_come_back_by_itself(self):
        self.stele("rm", "http://b.org/1", "--reason", "x", "--purge")
        self.assertIn("x.warc.gz was here", self.complaint("import", self.path))
        self.assertIn("x.warc.gz was here", self.complaint("import", "--repack", self.path))
        (self.folder / "incoming").mkdir()
        self.path.rename(self.folder / "incoming/x.warc.gz")
        self.stele("import", self.folder / "incoming")  # passed over
        self.assertEqual(len(self.rows()), 5)
        self.stele("import", "--again", self.folder / "incoming")
        self.assertEqual(len(self.rows("http://b.org/1")), 1)

    def test_I7_a_purged_file_that_is_repacked_is_named_by_its_own_name(self):
        self.stele("rm", "http://a.org/1", "--reason", "x", "--purge")
        self.stele("import", "--repack", self.path, code=3)
        self.assertIn(f"{self.path} was here", self.said)

    def test_I7_a_url_means_all_captures_of_it_whatever_the_request_was(self):
        def post(url, date, body, answer):
            both = response(url, date, answer)
            name = hashlib.md5(("response" + url + date).encode()).hexdigest()
            head = (f"POST /f HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n").encode()
            request = record("request", url, date, head + body,
                             f"WARC-Concurrent-To: <urn:uuid:{name}>")
            return both + gzip.compress(gzip.decompress(request).replace(b"msgtype=response",
                                                                         b"msgtype=request"))
        day = "2004-06-01T1{}:00:00Z"
        self.stele("import", self.put(
            "post.warc.gz", response("http://p.org/f", day.format(0), b"got"),
            post("http://p.org/f", day.format(1), b"name=joe&1=2", b"posted"),
            post("http://p.org/f?x=1", day.format(2), b"a=b", b"posted with x"),
            response("http://p.org/f?1=2", day.format(3), b"another page")))

        def listed(*words):
            return [row["time"][11:13] for row in self.rows(*words)]
        self.assertEqual(sorted(listed("--host", "p.org")), ["10", "11", "12", "13"])
        self.assertNotEqual(*[row["key"] for row in self.rows("http://p.org/f")])
        self.assertEqual(sorted(listed("http://p.org/f")), ["10", "11"])
        self.assertEqual(listed("http://p.org/f?x=1"), ["12"])
        self.assertEqual(self.stele("get", "http://p.org/f"), "got")
        self.assertEqual(self.stele("get", "--at", "20040601110000", "http://p.org/f"), "got")
        self.assertEqual(self.stele("get", "http://p.org/f?x=1"), "posted with x")
        self.stele("hold", "http://p.org/f", "--reason", "a case")
        self.stele("rm", "http://p.org/f", "--from", "20040601103000", "--reason", "x", code=3)
        self.assertIn("is under hold 1", self.said)
        self.stele("hold", "--end", "1")
        self.stele("rm", "http://p.org/f", "--reason", "x", "--purge")
        self.assertEqual(sorted(listed("--host", "p.org")), ["12", "13"])
        self.stele("rm", "http://p.org/f?x=1", "--reason", "x")
        self.assertEqual(listed("--host", "p.org"), ["13"])

    def test_I7_a_dry_run_only_reads(self):
        before = sorted((str(p), p.stat().st_mtime_ns) for p in self.archive.rglob("*"))
        self.stele("rm", "http://b.org/1", "--dry-run")
        self.assertIn("1 capture; nothing was done", self.said)
        after = sorted((str(p), p.stat().st_mtime_ns) for p in self.archive.rglob("*"))
        self.assertEqual(after, before)

    def test_I7_a_damaged_file_keeps_no_other_from_being_purged(self):
        self.stele("import", self.put(
            "c.warc.gz", response("http://c.org/1", "2004-05-01T10:00:00Z", b"c 1"),
            response("http://c.org/2", "2004-05-01T10:00:00Z", b"c 2")))
        kept = next(self.archive.glob("volumes/main/*/c.warc.gz"))
        kept.rename(self.folder / "away")
        self.stele("rm", "http://c.org/1", "--reason", "x")
        self.stele("rm", "http://b.org/1", "--reason", "x", "--purge", code=3)
        self.assertIn("c.warc.gz (container 2 in volume main) still holds some", self.said)
        self.assertNotIn(b"b 1", self.bytes_of_containers())
        (self.folder / "away").rename(kept)
        self.stele("rm", "--purge")
        self.assertNotIn(b"c 1", self.bytes_of_containers())
        self.assertIn("all is right", self.stele("verify"))

    def test_W15_what_was_not_modified_keeps_its_payload(self):
        revisit = record(
            "revisit", "http://a.org/0", "2005-06-01T10:00:00Z", b"HTTP/1.1 304 X\r\n\r\n",
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified",
            "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
        self.stele("import", self.put("later.warc.gz", revisit))
        words = ["batch", "drop", "--archive", self.archive, "200405", "--reason", "to tape"]
        self.run_stele(*words, code=3)
        self.run_stele(*words, "--promote")
        self.assertEqual(self.stele("get", "http://a.org/0"), "a 0")
        self.run_stele("batch", "drop", "--archive", self.archive, "200506", "--reason", "x")
        self.assertIn("took down 1 capture", self.said)
        self.assertIn("of 1 capture", self.said)

    def test_I6_batches_are_listed_exported_and_dropped(self):
        later = self.put("later.warc.gz", record(
            "revisit", "http://a.org/0", "2005-06-01T10:00:00Z",
            b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n\r\n",
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            "WARC-Refers-To-Target-URI: http://a.org/0",
            "WARC-Refers-To-Date: 2004-05-01T10:00:00Z"))
        self.stele("import", later)
        batches = [json.loads(line) for line in self.run_stele(
            "batch", "ls", "--json", "--archive", self.archive).splitlines()]
        self.assertEqual([(b["batch"], b["captures"]) for b in batches], [(200405, 6), (200506, 1)])
        self.stele("export", "--batch", "200405", self.folder / "may.warc.gz")
        self.run_stele("batch", "export", "--archive", self.archive, "200405",
                       self.folder / "again.warc.gz")
        self.assertEqual(self.captures_of(self.folder / "again.warc.gz"), 6)
        self.assertEqual(self.captures_of(self.folder / "may.warc.gz"), 6)
        words = ["batch", "drop", "--archive", self.archive, "200405", "--reason", "to tape"]
        self.run_stele(*words, code=3)
        self.assertEqual(len(self.rows()), 7)
        self.run_stele(*words, "--promote")
        self.assertEqual([row["id"] for row in self.rows()], ["200506/0"])
        self.assertEqual(self.stele("get", "http://a.org/0"), "a 0")
        self.assertIn("all is right", self.stele("verify"))

    def test_I6_a_month_is_indexed_on_its_own(self):
        dates = ["2004-05-02T10:00:00Z", "2004-06-01T10:00:00Z", "2005-06-01T10:00:00Z"]
        self.stele("import", self.put("months.warc.gz", *(
            response("http://a.org/1", date, date.encode()) for date in dates)))
        self.stele("hold", "--reason", "what opens it makes segments of the logs")

        def segments():
            paths = sorted(self.archive.glob("catalog/captures/*/*.rows"))
            return {path: (path.stat().st_ino, path.read_bytes()) for path in paths}

        def answers():
            lines = [json.loads(line) for line in self.stele("ls", "--json").splitlines()]
            pages = [self.stele("get", row["url"], "--at", row["time"]) for row in lines]
            return lines, pages, self.stele("export", "--format", "cdxj", "-")

        before, rows = answers(), segments()
        months = sorted({path.parent.name for path in rows})
        self.assertGreater(len(months), 1)
        month = months[0]
        for path in rows:
            if path.parent.name == month:
                path.unlink()
        for command in ("verify", "ls"):
            said = self.complaint(command)
            self.assertIn(f"catalog/captures/{month}/", said)
            self.assertIn(f"; make it anew with: stele reindex --batch {month}", said)
            self.assertEqual(said.count("reindex"), 1)
        for words in ((), ("--from-files",)):
            self.assertIn("capture", self.stele("reindex", "--batch", month, *words))
            self.assertEqual(answers(), before)
            self.assertIn("all is right", self.stele("verify"))
        for path, content in rows.items():
            if path.parent.name != month:
                self.assertEqual(segments()[path], content)
        self.assertIn("there never were", self.complaint("reindex", "--batch", "190001"))

    def add_server(self):
        """A volume on another machine, which is stopped at the end at the latest."""
        store = self.folder / "store"
        self.run_stele("store", "add-volume", "--store", store, "v1")
        server = Server(str(store), "v1")
        self.addCleanup(server.stop, signal.SIGKILL)
        (self.archive / "connector.xml").write_text(
            '<connector version="1" epoch="1"><volume name="v1" state="writable" depth="3" '
            f'host="127.0.0.1" port="{server.port}"/></connector>')
        with open(self.archive / "archive.toml", "a", encoding="utf-8") as config:
            config.write('\n[[volume]]\nname = "far"\nconnector = "connector.xml"\n')
        return server

    def test_I6_a_month_moves_to_a_volume_on_another_machine(self):
        server = self.add_server()
        before = self.rows()
        self.run_stele("batch", "move", "--archive", self.archive, "200405", "--to", "far")
        self.assertEqual(list((self.archive / "volumes/main").glob("*")), [])
        self.assertEqual(self.rows(), before)
        self.assertEqual(self.stele("get", "http://a.org/0"), "a 0")
        self.assertIn("all is right", self.stele("verify"))
        self.stele("export", self.folder / "all.warc.gz")
        info = json.loads(self.stele("info", "--json"))
        self.assertEqual([v["files"] for v in info["volumes"]], [0, 1])
        server.stop()
        self.assertIn("volume far of the archive", self.complaint("get", "http://a.org/0"))
        self.assertEqual(self.rows(), before)
        self.assertIn("volume far of the archive", self.stele("verify", code=1))

    def test_W15_a_volume_that_cannot_be_reached_stops_no_export_of_others(self):
        self.stele("import", self.put("near.warc.gz", response(
            "http://near.org/", "2014-05-01T10:00:00Z", b"near")))
        server = self.add_server()
        self.run_stele("batch", "move", "--archive", self.archive, "200405", "--to", "far")
        server.stop()
        away = [row["url"] for row in self.rows("--batch", "200405")]
        here = [row["url"] for row in self.rows() if row["url"] not in away]
        self.assertTrue(away and here)
        for name in ("all.warc.gz", "all.wacz", "all.tw"):
            self.stele("export", self.folder / name, code=1)
            for url in away:
                self.assertRegex(self.said, f"{re.escape(url)} of .* is left out: .*volume far")
            if name == "all.warc.gz":
                records = self.run_stele("warc", "ls", "--json", self.folder / name)
                for url in here:
                    self.assertIn(url, records)
                self.assertFalse([url for url in away if f'"{url}"' in records])
        for run in json.loads(self.stele("info", "--json"))["runs"]:
            self.assertIn("by status", self.stele("report", "--run", run["run"]))

    def captures_of(self, path):
        return self.run_stele("warc", "ls", "--json", path).count('"response"')

    def complaint(self, *arguments):
        done = subprocess.run([STELE, arguments[0], "--archive", self.archive, *arguments[1:]],
                              capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr.decode()


@unittest.skipUnless(SAMPLES.is_dir(), "the samples of other projects are not here")
class Samples(Archive):
    def test_I5_every_sample_lists_what_its_index_says(self):
        """What `warc index` says, which is compared with their own CDX files elsewhere."""
        done = subprocess.run([STELE, "import", "--archive", self.archive, SAMPLES],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)  # some are damaged
        passed = re.findall(r"passed over: (\S+) is (?:no|a ZIP)", done.stderr.decode())
        for path in sorted(SAMPLES.rglob("*")):
            if re.search(r"\.(w?arc(\.(gz|zst))?|wacz)$", path.name) and str(path) not in passed:
                self.assertIn(f"{path}: ", done.stdout.decode())
        self.assertEqual([path for path in passed if re.search(r"(arc|arc.gz|wacz)$", path)],
                         [str(SAMPLES / "pywb" / "invalid_example_1.wacz")])
        names = {}  # sha256 -> a file with these bytes
        for path in sorted(p for p in SAMPLES.rglob("*") if p.is_file()):
            names.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
        containers = {}
        for sha256, path in names.items():
            kept = [p for p in self.archive.glob(f"volumes/main/*/{path.name}")
                    if hashlib.sha256(p.read_bytes()).hexdigest() == sha256]
            for p in kept:
                containers[int(p.parent.name)] = path
        self.assertGreater(len(containers), 40)
        listed = {}
        for row in self.rows():
            line = (row["key"], row["time"][:19].replace("-", "").replace(":", "").replace("T", ""),
                    row["url"], row["offset"], row["record_length"])
            listed.setdefault(row["container"], []).append(line)
        for number, path in containers.items():
            index = subprocess.run([STELE, "warc", "index", path], capture_output=True, check=False)
            expected = []
            for line in index.stdout.decode("utf-8", "replace").splitlines():
                key, stamp, fields = line.split(" ", 2)
                fields = json.loads(fields)
                if stamp != "-":
                    expected.append((key, stamp, fields["url"], int(fields["offset"]),
                                     int(fields["length"])))
            with self.subTest(path=str(path)):
                self.assertEqual(sorted(listed.get(number, [])), sorted(expected))

    def test_P3_after_a_reindex_every_query_has_the_same_answer(self):
        subprocess.run([STELE, "import", "--quiet", "--archive", self.archive, SAMPLES],
                       capture_output=True, check=False)
        self.stele("rm", "--reason", "a test", "--domain", "example.com", "--from", "2017")
        queries = [[], ["--removed"], ["--domain", "iana.org"], ["--host", "www.iana.org"],
                   ["--prefix", "http://www.iana.org/d"], ["--at", "2014"], ["--pages"],
                   ["--alive", "--from", "2013", "--to", "2014"],
                   ["--from", "2014", "--to", "2016"], ["--run", "1"], ["--batch", "201401"],
                   ["--mime", "image/*"], ["--status", "4xx"], ["http://www.iana.org/"]]

        def answers():
            told = [self.stele("info", "--json"), self.stele("report", "--run", "1", "--json")]
            return [self.stele("ls", "--json", *query) for query in queries] + told

        before = answers()
        for query, answer in zip(queries, before):
            self.assertTrue(answer, query)
        for has_rows in (True, False):
            shutil.rmtree(self.archive / "catalog")
            for rows in [] if has_rows else self.archive.glob("volumes/main/*.rows"):
                rows.unlink()
            self.stele("reindex")
            for query, was, now in zip(queries, before, answers()):
                with self.subTest(query=query, has_rows=has_rows):
                    self.assertEqual(now, was)
            self.assertEqual(answers()[len(queries):], before[len(queries):])

    def test_I5_one_crawl_as_arc_and_as_warc_gives_the_same_captures(self):
        def captures(kind):
            archive = self.folder / kind
            self.run_stele("import", "--archive", archive,
                           SAMPLES / f"jwat/IAH-20080430204825-00000-blackbook.{kind}.gz")
            lines = self.run_stele("ls", "--json", "--archive", archive).splitlines()
            # Only in WARC did the crawler note how it got there, which tells pages from frames.
            own = {"id", "container", "offset", "record_length", "page"}
            return [{k: v for k, v in json.loads(line).items() if k not in own}
                    for line in lines]
        arc = captures("arc")
        self.assertEqual(len(arc), 299)
        self.assertEqual(arc, captures("warc"))

    def test_every_sample_is_exported_and_brought_in_again(self):
        subprocess.run([STELE, "import", "--quiet", "--archive", self.archive, SAMPLES],
                       capture_output=True, check=False)
        self.assertIn("all is right", self.stele("verify"))
        self.stele("export", "--quiet", self.folder / "all.warc.gz")
        self.stele("export", "--quiet", "--keep-revisits", self.folder / "kept.warc.gz")
        for name in ("all", "kept"):
            self.run_stele("import", "--archive", self.folder / name,
                           self.folder / f"{name}.warc.gz")

        def captures(archive, *names, whole=False):
            lines = self.run_stele("ls", "--json", "--archive", archive).splitlines()
            return sorted((row["key"], row["time"], row["url"].replace(" ", "%20"),
                           *(str(row.get(name)) for name in names))
                          for row in map(json.loads, lines) if not (whole and row.get("revisit")))

        def wholes(archive):
            return captures(archive, "status", "mime", "length", "sha1", "sha256", "page",
                            whole=True)

        all_fields = ("status", "mime", "length", "sha1", "sha256", "page", "revisit", "redirect",
                      "truncated")
        self.assertGreater(len(captures(self.archive)), 900)
        self.assertEqual(captures(self.folder / "kept", *all_fields),
                         captures(self.archive, *all_fields))
        # Where a revisit is whole now, only its own fields are others.
        self.assertEqual(captures(self.folder / "all"), captures(self.archive))
        self.assertLessEqual(set(wholes(self.archive)), set(wholes(self.folder / "all")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
