#!/usr/bin/env python3
"""What changed, and what a run brought: `stele changes`, `stele diff`, `stele report`."""

import hashlib
import json
import subprocess
import unittest

from archive_lab import STELE, Archive, record, response

HOST = "http://example.org"


def revisit(url, date, body):
    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    return record("revisit", url, date, b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n\r\n",
                  "WARC-Payload-Digest: " + digest,
                  "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")


def page(path, year, body, status=200):
    return response(HOST + path, f"{year}-05-01T10:00:00Z", body, status)


def picture(path, year, body):
    return response(HOST + path, f"{year}-05-01T10:00:00Z", body, mime="image/png")


class Two(Archive):
    """Two runs, ten years apart."""

    def setUp(self):
        super().setUp()
        self.bring("old", page("/", 2004, b"<p>Hello<p>world"), page("/gone", 2004, b"<p>gone"),
                   page("/lost", 2004, b"<p>lost"), page("/markup", 2004, b"<p>Two words"),
                   page("/same", 2004, b"<p>same"), page("/revisited", 2004, b"<p>again"),
                   picture("/a.png", 2004, b"one"))
        self.bring("new", page("/", 2014, b"<p>Hello<p>moon"), page("/lost", 2014, b"no", 404),
                   page("/markup", 2014, b"<div>two <i>words</i>!"), page("/new", 2014, b"<p>new"),
                   page("/same", 2014, b"<p>same"),
                   revisit(HOST + "/revisited", "2014-05-01T10:00:00Z", b"<p>again"),
                   picture("/a.png", 2014, b"two"))

    def bring(self, name, *records):
        self.stele("import", self.put(name + ".warc.gz", *records))

    def fails(self, *arguments, code, text):
        done = subprocess.run([STELE, arguments[0], "--archive", self.archive, *arguments[1:]],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr.decode())


class Changes(Two):
    def states(self, *arguments):
        lines = self.stele("changes", *arguments).splitlines()
        return {line.split()[1].removeprefix(HOST): line.split()[0] for line in lines[:-1]}

    def test_lists_what_is_not_identical(self):
        expected = {"/": "text", "/a.png": "changed", "/gone": "gone", "/lost": "gone",
                    "/markup": "same-text", "/new": "new"}
        self.assertEqual(self.states(), expected)
        self.assertEqual(self.states("--all"),
                         expected | {"/same": "identical", "/revisited": "identical"})
        self.assertEqual(self.stele("changes").splitlines()[-1],
                         "2 identical, 1 same text, 1 text changed, 1 file changed, 1 new, 2 gone")
        # A run that brought nothing new is no run to compare with.
        self.stele("import", self.folder / "new.warc.gz")
        self.assertEqual(self.states(), expected)
        self.assertEqual(self.states("--run", "1", "--run", "2"), expected)

    def test_of_pages_and_parts(self):
        self.assertNotIn("/a.png", self.states("--pages"))
        self.assertEqual(self.states("--pages")["/lost"], "gone")
        self.assertEqual(self.states("--prefix", HOST + "/m"), {"/markup": "same-text"})
        self.assertEqual(self.stele("changes", "--prefix", HOST + "/a").splitlines()[-1],
                         "0 identical, 0 same text, 0 texts changed, 1 file changed, 0 new, 0 gone")
        self.assertEqual(self.states("--host", "other.org"), {})
        self.assertEqual(len(self.states("--domain", "example.org")), 6)

    def test_between_moments(self):
        # What was not captured again is as it was.
        self.assertEqual(self.states("--from", "2005", "--to", "2015", "--all")["/gone"],
                         "identical")
        self.assertEqual(self.states("--from", "2004"),
                         {"/": "text", "/a.png": "changed", "/lost": "gone", "/markup": "same-text",
                          "/new": "new"})
        self.assertEqual(set(self.states("--from", "2003", "--to", "2004").values()), {"new"})
        self.assertEqual(self.states("--from", "2005", "--to", "2006"), {})

    def test_as_json(self):
        *changes, last = map(json.loads, self.stele("changes", "--json", "--all").splitlines())
        self.assertEqual(last["summary"],
                         {"identical": 2, "same-text": 1, "text": 2, "new": 1, "gone": 2})
        by_url = {change["url"].removeprefix(HOST): change for change in changes}
        self.assertEqual(len(by_url), 8)
        self.assertIsNone(by_url["/new"]["before"])
        self.assertIsNone(by_url["/gone"]["after"])
        self.assertEqual(by_url["/lost"]["after"]["status"], 404)
        self.assertEqual(by_url["/"]["before"]["run"], 1)
        self.assertTrue(by_url["/"]["page"])

    def test_errors_say_what_to_do(self):
        self.fails("changes", "--run", "1", code=2, text="give --run twice")
        self.fails("changes", "--run", "1", "--run", "7", code=2, text="there is no run 7")
        self.fails("changes", "--to", "2014", code=2, text="--to goes with --from")
        self.fails("changes", "--run", "1", "--run", "2", "--from", "2004", code=2,
                   text="leave out")
        self.fails("changes", "--from", "soon", code=2, text="--from soon is no time")

    def test_I7_a_run_that_was_withdrawn_is_not_compared(self):
        before = self.states()
        self.bring("3", page("/", 2024, b"<p>a mistake"))
        self.assertNotEqual(self.states(), before)
        self.stele("rm", "--run", "3", "--reason", "withdrawn")
        self.assertEqual([row["run"] for row in self.rows("--run", "3")], [])
        self.assertEqual(self.states(), before)
        self.stele("rm", "--purge")
        self.assertEqual(self.states(), before)
        self.stele("rm", "--run", "2", "--reason", "withdrawn")
        self.fails("changes", code=2, text="no two runs to compare")


class Diff(Two):
    def test_shows_lines(self):
        expected = (f"--- 2004-05-01T10:00:00Z {HOST}/\n+++ 2014-05-01T10:00:00Z {HOST}/\n"
                    "@@ -1,2 +1,2 @@\n Hello\n-world\n+moon\n")
        self.assertEqual(self.stele("diff", HOST + "/"), expected)
        self.assertEqual(self.stele("diff", "/"), expected)
        self.assertEqual(self.stele("diff", "/", "--run", "1", "--run", "2"), expected)
        self.assertEqual(self.stele("diff", "/", "--from", "2004", "--to", "2014"), expected)
        # The same backwards.
        self.assertIn("-moon\n+world\n", self.stele("diff", "/", "--run", "2", "--run", "1"))

    def test_D6_shows_where_redirects_lead(self):
        for year, target in ((2004, "/a"), (2014, "http://evil.example/")):
            self.bring(f"to{year}", record(
                "response", HOST + "/to", f"{year}-05-02T10:00:00Z",
                b"HTTP/1.1 302 X\r\nContent-Type: text/html\r\nLocation: " + target.encode()
                + b"\r\n\r\n"))
        shown = self.stele("diff", HOST + "/to").splitlines()
        self.assertEqual(shown[-2:], [f"-leads to {HOST}/a", "+leads to http://evil.example/"])
        self.assertNotIn("identical", shown)
        self.assertNotIn("the text is the same, the bytes differ", shown)
        said = json.loads(self.stele("diff", "--json", HOST + "/to"))
        self.assertEqual([said["state"], said["before_leads_to"], said["after_leads_to"]],
                         ["text", HOST + "/a", "http://evil.example/"])

    def test_takes_the_captures_between_which_the_text_changed_last(self):
        self.bring("later", page("/", 2015, b"<p>Hello<p>moon!"), page("/", 2016, b"error", 500))
        self.assertIn("-world\n+moon\n", self.stele("diff", "/"))
        self.assertIn("-moon\n+moon!\n", self.stele("diff", "/", "--from", "2014", "--to", "2015"))

    def test_without_text_or_changes(self):
        lines = self.stele("diff", "/a.png").splitlines()
        self.assertIn("image/png, 3 bytes, sha256:" + hashlib.sha256(b"one").hexdigest(), lines[2])
        self.assertIn("image/png, 3 bytes, sha256:" + hashlib.sha256(b"two").hexdigest(), lines[3])
        self.assertTrue(self.stele("diff", "/revisited").endswith("\nidentical in all captures\n"))

    def test_the_same_with_another_status_is_told(self):
        self.bring("more", page("/err", 2004, b"<p>sorry"), page("/err", 2014, b"<p>sorry", 404))
        said = self.stele("diff", "/err", "--from", "2004", "--to", "2014")
        self.assertTrue(said.endswith("identical\n-status 200\n+status 404\n"), said)

    def test_a_page_does_not_steer_the_terminal(self):
        self.bring("third", page("/", 2015, b"<p>Hello<p>\x1b[2Jmoon &#x9b;"),
                   page("/\x1b[31m\x9b\u202e", 2015, b"new"),
                   page("/lost\x1b[31m\x9b\u202e", 2015, b"no", 404))
        for command in (("diff", "/", "--run", "2", "--run", "3"), ("report",), ("ls",),
                        ("changes", "--run", "2", "--run", "3")):
            shown = self.stele(*command)
            for character in "\x1b\x9b\u202e":
                self.assertNotIn(character, shown)

    def test_as_json(self):
        diff = json.loads(self.stele("diff", "/", "--json"))
        self.assertEqual((diff["state"], diff["has_text"]), ("text", True))
        self.assertEqual(diff["hunks"], [{"before_line": 2, "removed": ["world"],
                                          "after_line": 2, "added": ["moon"]}])
        diff = json.loads(self.stele("diff", "/a.png", "--json"))
        self.assertEqual((diff["state"], diff["has_text"], diff["hunks"]), ("text", False, []))

    def test_errors_say_what_to_do(self):
        self.fails("diff", code=2, text="Which URL?")
        self.fails("diff", "/never", code=3, text="there is no capture of it")
        self.fails("diff", "/new", "--run", "1", "--run", "2", code=3, text="run 1 has no capture")
        self.fails("diff", "/", "--from", "2003", code=3, text="2003-12-31T23:59:59Z or before")


class Report(Two):
    def report(self, *arguments):
        return json.loads(self.stele("report", "--json", *arguments))

    def test_counts_what_a_run_brought(self):
        last = self.report()
        self.assertEqual((last["run"], last["kind"], last["host_count"]), (2, "import", 1))
        self.assertEqual((last["all"]["captures"], last["pages"]["captures"]), (7, 5))
        self.assertEqual(last["duplicates"], {"captures": 2, "bytes": len(b"<p>same")})
        self.assertEqual(last["revisits"]["captures"], 1)
        self.assertEqual({status: sum["captures"] for status, sum in last["by_status"].items()},
                         {"2xx": 6, "4xx": 1})
        self.assertEqual(last["by_type"]["image/png"], {"captures": 1, "bytes": 3})
        self.assertEqual([error["url"] for error in last["errors"]["first"]], [HOST + "/lost"])
        self.assertEqual(last["unresolved"]["captures"], 0)
        first = self.report("--run", "1")
        self.assertEqual((first["all"]["captures"], first["duplicates"]["captures"]), (7, 0))
        text = self.stele("report")
        for part in ("run 2, import: ", "5 pages, 7 captures", "example.org", HOST + "/lost"):
            self.assertIn(part, text)

    def test_names_what_is_wrong(self):
        good = page("/good", 2016, b"<p>good")
        broken = bytearray(page("/broken", 2016, b"<p>broken"))
        broken[40:60] = b"#" * 20
        lost = revisit(HOST + "/elsewhere", "2016-05-01T10:00:00Z", b"<p>elsewhere")
        undated = response(HOST + "/undated", "some day", b"<p>x")
        self.stele("import", self.put("bad.warc.gz", good, bytes(broken), lost, undated), code=1)
        self.assertIn("1 revisit of run 3 depends on captures that are not here", self.said)
        report = self.report()
        self.assertEqual([trouble["url"] for trouble in report["unresolved"]["first"]],
                         [HOST + "/elsewhere"])
        self.assertEqual(report["unlisted"], 1)
        self.assertEqual(report["damaged"]["places"], 1)
        self.assertEqual((report["damaged"]["first"][0]["file"],
                          report["damaged"]["first"][0]["begin"]), ("bad.warc.gz", len(good)))
        text = self.stele("report")
        for part in ("1 repeats captures that are not in this archive",
                     "1 capture not listed, without a date",
                     f"bad.warc.gz: bytes {len(good)} to "):
            self.assertIn(part, text)

    def test_I7_what_was_purged_of_a_run_is_told_before_and_after_a_reindex(self):
        self.stele("rm", HOST + "/gone", "--reason", "x", "--purge")
        before = self.stele("report", "--run", "1")
        self.assertIn("1 other was taken down", before)
        self.assertIn("6 captures", before)
        self.assertIn("in 1 file of", before)
        self.stele("reindex")
        self.assertEqual(self.stele("report", "--run", "1"), before)

    def test_D6_an_import_that_brings_originals_later_lacks_nothing(self):
        lost = revisit(HOST + "/elsewhere", "2016-05-01T10:00:00Z", b"<p>elsewhere")
        self.stele("import", self.put("lost.warc.gz", lost))
        self.assertIn("1 revisit of run 3 depends", self.said)
        found = response(HOST + "/elsewhere", "2015-05-01T10:00:00Z", b"<p>elsewhere")
        self.stele("import", self.put("found.warc.gz", found))
        self.assertNotIn("not here", self.said)
        self.assertEqual(self.report("--run", "3")["unresolved"]["captures"], 0)

    def test_errors_say_what_to_do(self):
        self.fails("report", "--run", "9", code=2, text="there is no run 9")


if __name__ == "__main__":
    unittest.main(verbosity=2)
