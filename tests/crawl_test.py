"""The crawler on a small web that behaves, and on one that does not."""

import base64
import ctypes
import errno
import gzip
import hashlib
import http.server
import json
import random
import re
import shutil
import signal
import ssl
import subprocess
import threading
import time
import unittest
import zlib

from archive_lab import response
from crawl_lab import STELE, CrawlTest

HOST = "site.test"


def links(*urls):
    return "<title>page</title>" + "".join(f'<a href="{url}">x</a>' for url in urls)


def gunzip(data):
    """The member that begins here, as far as it is there."""
    try:
        return zlib.decompressobj(31).decompress(data)
    except zlib.error:
        return b""


def unzstd(data):
    """The frame that begins here, where there is a program for it."""
    if not shutil.which("zstd"):
        return b""
    return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False).stdout


def unlz4(table):
    """The blocks of a table of RocksDB that are compressed: a length, then what LZ4 made of as
    much. Where a block begins is not known, so that it is tried everywhere."""
    lz4 = ctypes.CDLL("liblz4.so.1")  # which RocksDB needs, too
    packed = ctypes.create_string_buffer(table, len(table))
    for at in range(len(table) - 2):
        length = table[at] & 0x7f | table[at + 1] << 7  # of a block of 128 to 16383 bytes
        if table[at] < 0x80 or table[at + 1] >= 0x80:
            continue
        block = ctypes.create_string_buffer(length)
        if lz4.LZ4_decompress_safe_partial(ctypes.byref(packed, at + 2), block,
                                           len(table) - at - 2, length, length) == length:
            yield block.raw


class Other(http.server.BaseHTTPRequestHandler):
    """A server that notes who logs in."""

    def do_GET(self):
        self.server.logins.append(self.headers.get("Authorization"))
        self.send_response_only(204)
        self.end_headers()

    def log_message(self, *words):
        pass


class Site(CrawlTest):
    """A site with pages, pictures elsewhere, a redirect, and links that lead outside."""

    LOGO = random.Random(3).randbytes(30_000)

    def setUp(self):
        super().setUp()
        web = self.web
        web.add(HOST, "/robots.txt", "User-agent: *\nDisallow: /secret\n", "text/plain")
        web.add(HOST, "/", links("/a", "/b", "/old", "/secret/x", "/missing",
                                 web.url("elsewhere.test"))
                + '<link rel=stylesheet href="/style.css"><img src="/logo.png">')
        web.add(HOST, "/a", links("/", "/b", "/c") + f'<img src="{web.url("cdn.test", "/p.png")}">')
        web.add(HOST, "/b", links("/a#part", "/c") + "<p>of the b page")
        web.add(HOST, "/c", links("/a"))
        web.add(HOST, "/old", "", status=301, Location="/new")
        web.add(HOST, "/new", links("/"))
        web.add(HOST, "/secret/x", links("/"))
        web.add(HOST, "/style.css", "body { background: url(/back.png) }", "text/css")
        web.add(HOST, "/back.png", b"\x89PNG back", "image/png")
        web.add(HOST, "/logo.png", self.LOGO, "image/png")
        web.add("cdn.test", "/p.png", b"\x89PNG from elsewhere", "image/png")
        web.add("elsewhere.test", "/", links("/more"))

    EXPECTED = sorted([
        (f"http://{HOST}/robots.txt", 200), (f"http://{HOST}/", 200), (f"http://{HOST}/a", 200),
        (f"http://{HOST}/b", 200), (f"http://{HOST}/c", 200), (f"http://{HOST}/old", 301),
        (f"http://{HOST}/new", 200), (f"http://{HOST}/missing", 404),
        (f"http://{HOST}/style.css", 200), (f"http://{HOST}/back.png", 200),
        (f"http://{HOST}/logo.png", 200), ("http://cdn.test/robots.txt", 404),
        ("http://cdn.test/p.png", 200)])

    def test_I1_a_site_is_captured_whole_and_nothing_else(self):
        out = self.crawl(self.web.url(HOST))
        self.assertRegex(self.said, r"Created archive \S+   \(robots obeyed; host scope; "
                                    r"embeds anywhere\)")
        self.assertRegex(out, r"^Run 1  5 pages, 13 files, \S+ \S+ in \S+s\.\n$")
        self.assertEqual(self.urls(), self.EXPECTED)
        self.assertEqual(set(self.web.asked(HOST).values()), {1})
        self.assertEqual(self.web.asked(HOST)["/secret/x"], 0)
        self.assertEqual(sum(self.web.asked("elsewhere.test").values()), 0)
        self.check_containers()
        self.stele("verify")

    def test_I1_the_log_and_the_reports_tell_it_as_Heritrix_would(self):
        self.crawl(self.web.url(HOST))
        lines = self.log(1)
        self.assertEqual(len(lines), 14)  # and what robots.txt forbids
        by_url = {line[3].replace(f":{self.web.port}", ""): line for line in lines}
        self.assertEqual(by_url[f"http://{HOST}/secret/x"][1], "-9998")
        self.assertEqual(by_url[f"http://{HOST}/back.png"][4], "EE")
        self.assertEqual(by_url["http://cdn.test/p.png"][4], "LE")
        report = self.report(1)
        self.assertEqual(report["all"]["urls"], 13)
        self.assertEqual(report["hosts"][HOST]["robots"], 1)
        self.assertEqual(report["rejected"], {"outside": 1})
        self.assertEqual(report["missing_count"], 0)
        for name in ("seeds", "hosts", "mimetype", "responsecode", "scope"):
            self.assertTrue((self.run_folder(1) / f"{name}-report.txt").exists(), name)
        self.assertIn(f"outside", (self.run_folder(1) / "scope.log").read_text())

    def test_D2_D6_W15_a_second_run_stores_no_payload_again(self):
        self.crawl(self.web.url(HOST))
        before = sum(path.stat().st_size for path in self.containers())
        out = self.crawl()
        self.assertIn("Run 2 of", self.said)
        self.assertRegex(out, r"^Run 2  5 pages, 13 files: 11 identical, 0 same text, "
                              r"0 texts changed, 0 new, 0 gone\. Stored ")
        self.assertEqual(self.urls("--run", "2"), self.EXPECTED)
        # What was not found is the same, but not there. The redirect has no body to be the same.
        rows = self.captures("--run", "2")
        whole = [row["url"] for row in rows if not row.get("revisit")]
        self.assertEqual([url for url in whole if not url.endswith("/old")], [])
        grown = sum(path.stat().st_size for path in self.containers()) - before
        self.assertLess(grown, before / 2)
        body = subprocess.run([STELE, "get", "--archive", self.archive, "--run", "2",
                               self.web.url(HOST, "/logo.png")], capture_output=True, check=True)
        self.assertEqual(body.stdout, self.LOGO)
        self.assertEqual(self.report(2)["all"]["duplicate_urls"], 12)
        self.check_containers()
        self.stele("verify")

    def test_I7_a_path_is_meant_where_the_crawls_begin(self):
        self.crawl(self.web.url(HOST))
        other = self.archive / "other.warc.gz"
        other.write_bytes(response("http://other.org/b", "2004-05-01T10:00:00Z",
                                   b"another page"))
        self.stele("import", other)
        self.assertEqual([row["url"] for row in self.captures("/b")], [self.web.url(HOST, "/b")])

    def test_W15_what_changed_between_runs_is_told(self):
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/b", links("/a#part", "/c", "/d") + "<p>of another b page")
        self.web.add(HOST, "/c", links("/a") + "<!-- 17 -->")
        self.web.add(HOST, "/d", links("/a"))
        del self.web.pages[HOST, "/logo.png"]
        out = self.crawl()
        self.assertRegex(out, r": 8 identical, 1 same text, 1 text changed, 1 new, 1 gone\.")
        self.assertRegex(out, r"1 embed missing: see stele report")
        (missing,) = self.report(2)["missing"]
        self.assertEqual(missing["url"], self.web.url(HOST, "/logo.png"))
        self.assertEqual(missing["page"], self.web.url(HOST))
        self.assertIn("404", missing["reason"])
        self.assertIn("the server answered 404\n    to do: nothing, if it is gone\n",
                      self.stele("report"))

    def test_D2_W15_files_that_are_compressed_anew_each_time_have_not_changed(self):
        moments = iter(range(100))
        def packed(mime, body):
            return lambda _: (200, {"Content-Type": mime, "Content-Encoding": "gzip"},
                              gzip.compress(body, mtime=next(moments)))
        self.web.add(HOST, "/", packed("text/html", b"<link rel=stylesheet href=/s.css>hello"
                                       b"<script src=/j.js></script><img src=/i.png>"))
        self.web.add(HOST, "/s.css", packed("text/css", b"a { color: red }" * 500))
        self.web.add(HOST, "/j.js", packed("text/javascript", b"var x = 1;" * 500))
        self.web.add(HOST, "/i.png", b"one", "image/png")
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/i.png", b"two", "image/png")
        self.assertRegex(self.crawl(), r": 1 identical, 3 same text, 0 texts changed, "
                                       r"1 file changed, 0 new, 0 gone\.")
        lines = self.stele("changes").replace(self.web.url(HOST, ""), "").splitlines()
        self.assertEqual(sorted(lines[:-1]), ["changed   /i.png", "same-content /j.js",
                                              "same-content /s.css", "same-text /"])
        self.assertRegex(lines[-1], "0 texts changed, 1 file changed, 0 new")

    def test_I1_an_archive_is_made_in_a_directory_with_the_name_of_the_host(self):
        address = self.web.addresses[HOST]
        done = subprocess.run([STELE, "crawl", "--delay", "0", "--resolve", f"{HOST}={address}",
                               f"{HOST}:{self.web.port}"], cwd=self.folder, capture_output=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.archive = self.folder / f"{HOST}_{self.web.port}"
        self.assertIn((f"http://{HOST}/c", 200), self.urls())

    def test_I1_errors_say_what_to_do(self):
        for words, text in (((), "say what to crawl"), (("ftp://a.test/",), "no http or https URL"),
                            (("--scope", "moon", "a.test"), "host, domain"),
                            (("--exclude", "moon", "a.test"), "regex:EXPRESSION"),
                            (("--resolve", "a.test", "a.test"), "example.org=192.0.2.1"),
                            (("--max-time", "long", "a.test"), "10m"),
                            (("--job", "press: daily", "a.test"), "such as news-sites"),
                            (("--depth", "-1", "a.test"),
                             "--depth takes a number such as 1000, not -1\n"),
                            (("--max-bytes", "x", "a.test"),
                             "takes a size such as 1000 or 20MB, not x\n")):
            self.crawl(*words, code=2)
            self.assertIn(text, self.said)
        self.crawl(self.web.url(HOST), "--depth", "0")
        self.crawl(self.web.url("other.test"), "--job", f"{HOST}_{self.web.port}", code=2)
        self.assertIn("other seeds", self.said)

    def test_I1_depth_and_rules_limit_what_is_crawled(self):
        out = self.crawl(self.web.url(HOST), "--depth", "1", "--exclude", "regex:.*\\.png",
                         "--include", "host:elsewhere.test")
        # "/c" and "/more"; what else pages of that depth lead to is known, or nothing of ours.
        self.assertIn("2 links too deep: see --depth", out)
        urls = [url for url, _ in self.urls()]
        self.assertIn("http://elsewhere.test/", urls)
        self.assertNotIn("http://elsewhere.test/more", urls)
        self.assertNotIn(f"http://{HOST}/c", urls)
        self.assertFalse([url for url in urls if url.endswith(".png")])
        missing = {entry["url"].rsplit("/", 1)[1] for entry in self.report(1)["missing"]}
        self.assertEqual(missing, {"logo.png", "back.png", "p.png"})


class Misbehaving(CrawlTest):
    def test_I1_the_logs_explain_why_each_url_was_taken_or_left(self):
        self.web.add(HOST, "/", links("/a", self.web.url("b.test"), self.web.url("c.test"))
                     + f'<img src="{self.web.url("c.test", "/x.png")}">')
        self.web.add(HOST, "/a", "a")
        self.web.add("b.test", "/", "b")
        self.web.add("c.test", "/x.png", b"png", "image/png")
        self.crawl(self.web.url(HOST), "--include", "host:b.test")
        reasons = {line[3].replace(f":{self.web.port}", ""):
                   json.loads(" ".join(line[12:]))["scope"]
                   for line in self.log(1) if not line[3].endswith("robots.txt")}
        self.assertEqual(reasons, {f"http://{HOST}/": "seed", f"http://{HOST}/a": "host",
                                   "http://b.test/": "rule +host:b.test",
                                   "http://c.test/x.png": "embed"})
        left = [line.split() for line in
                (self.run_folder(1) / "scope.log").read_text().splitlines()]
        self.assertEqual([(line[1], line[4]) for line in left],
                         [(self.web.url("c.test"), "outside")])

    def test_I1_the_end_says_what_to_do(self):
        self.web.add(HOST, "/", links("/a"))
        self.web.add(HOST, "/a", "a")
        self.crawl(self.web.url(HOST), "--max-pages", "1")
        self.assertIn("the limit of pages was reached, with 1 URL left; the next stele crawl "
                      "begins anew, and gets further with a higher --max-pages\n", self.said)
        # Nobody listens at port 80 of this address.
        job = self.archive / "crawl" / "secure" / "job.toml"
        job.parent.mkdir()
        job.write_text('seeds = ["http://only-https.test/x"]\ntries = 1\n')
        self.crawl("--job", "secure", "--resolve", "only-https.test=127.9.8.7", code=1)
        self.assertIn("; it may answer by https: stele crawl https://only-https.test/x\n",
                      self.said)
        # Nor at port 443, which a seed without a scheme is asked for at, too.
        job.write_text('seeds = ["only-https.test/x"]\ntries = 1\n')
        self.crawl("--job", "secure", "--resolve", "only-https.test=127.9.8.7", code=1)
        self.assertRegex(self.said, "the seed http://only-https.test/x could not be fetched: .*"
                                    "https://only-https.test:443: .*; http://only-https.test:80: ")
        self.assertNotIn("it may answer by https", self.said)

    def test_I1_robots_that_cannot_be_had_mean_stop(self):
        self.web.add(HOST, "/robots.txt", "later", status=500)
        self.web.add(HOST, "/", links("/a"))
        self.crawl(self.web.url(HOST), code=1)
        reason = "its robots.txt could not be had: the server answered 500"
        self.assertIn(f"seed {self.web.url(HOST)} could not be fetched: {reason}\n", self.said)
        self.assertEqual([seed["problem"] for seed in self.report(1)["seeds"]], [reason])
        self.assertEqual(set(self.web.asked(HOST)), {"/robots.txt"})
        self.web.forget()
        self.crawl("--robots", "ignore")
        self.assertEqual(set(self.web.asked(HOST)), {"/", "/a"})

    def test_I1_robots_are_followed_where_they_are_moved_and_bind_embeds_by_choice(self):
        self.web.add(HOST, "/robots.txt", "", status=302,
                     Location=self.web.url("rules.test", "/r"))
        self.web.add("rules.test", "/r", "User-agent: stele\nDisallow: /x\nSitemap: /map.xml\n")
        self.web.add(HOST, "/", links("/x") + "<img src=/x/y.png>")
        self.web.add(HOST, "/x/y.png", b"png", "image/png")
        self.web.add("rules.test", "/none", "none")
        self.crawl(self.web.url(HOST), self.web.url("rules.test", "/none"), "--no-sitemaps")
        self.assertEqual(set(self.web.asked(HOST)), {"/robots.txt", "/"})
        self.assertEqual(self.report(1)["missing_count"], 1)
        self.assertIn("--robots embeds", self.report(1)["missing"][0]["remedy"])
        self.web.forget()
        self.crawl("--robots", "embeds")
        self.assertIn("/x/y.png", self.web.asked(HOST))
        self.assertNotIn("/x", self.web.asked(HOST))

    def test_I1_robots_that_come_compressed_are_obeyed(self):
        self.web.add(HOST, "/robots.txt", gzip.compress(b"User-agent: *\nDisallow: /secret\n"),
                     "text/plain", Content_Encoding="gzip")
        self.web.add(HOST, "/", links("/secret", "/a"))
        self.crawl(self.web.url(HOST))
        self.assertEqual(set(self.web.asked(HOST)), {"/robots.txt", "/", "/a"})

    def test_I1_the_icon_of_each_host_with_pages_is_asked_for_once(self):
        self.web.add(HOST, "/", links("/a", "/b") + f"<img src={self.web.url('cdn.test', '/i')}>")
        self.web.add(HOST, "/a", links("/b"))
        self.web.add(HOST, "/b", links("/a"))
        self.web.add("cdn.test", "/i", b"png", "image/png")
        self.crawl(self.web.url(HOST), favicons=True)
        self.assertEqual(self.web.asked(HOST)["/favicon.ico"], 1)
        self.assertEqual(self.web.asked("cdn.test")["/favicon.ico"], 0)
        # No page asked for it: where there is none, none is missing.
        self.assertEqual(self.report(1)["missing"], [])
        self.assertNotIn("missing", self.stele("report"))
        self.assertEqual({line[4] for line in self.log(1) if line[3].endswith(".ico")}, {"I"})
        self.web.add(HOST, "/favicon.ico", b"icon", "image/x-icon")
        self.crawl(favicons=True)
        self.assertIn((f"http://{HOST}/favicon.ico", 200), self.urls("--run", "2"))
        self.web.forget()
        self.crawl()
        self.assertEqual(self.web.asked(HOST)["/favicon.ico"], 0)

    def test_I1_sitemaps_are_read(self):
        self.web.add(HOST, "/robots.txt", f"Sitemap: {self.web.url(HOST, '/index.xml')}\n")
        self.web.add(HOST, "/", "nothing")
        self.web.add(HOST, "/index.xml", "<sitemapindex><sitemap><loc>" +
                     self.web.url(HOST, "/map.xml") + "</loc></sitemap></sitemapindex>", "text/xml")
        self.web.add(HOST, "/map.xml", "<urlset><url><loc>" + self.web.url(HOST, "/hidden") +
                     "</loc></url></urlset>", "text/xml")
        self.web.add(HOST, "/hidden", "found")
        self.crawl(self.web.url(HOST))
        self.assertIn((f"http://{HOST}/hidden", 200), self.urls())

    def test_I1_sitemaps_are_read_behind_redirects_and_compressed(self):
        def packed(path):
            return gzip.compress(f"<urlset><url><loc>{self.web.url(HOST, path)}</loc></url>"
                                 "</urlset>".encode())
        self.web.add(HOST, "/robots.txt", "Sitemap: /sitemap.xml\nSitemap: /old.xml.gz\n")
        self.web.add(HOST, "/", "nothing")
        self.web.add(HOST, "/sitemap.xml", "", status=301, Location="/index.xml")
        self.web.add(HOST, "/index.xml", "<sitemapindex><sitemap><loc>" +
                     self.web.url(HOST, "/map.xml.gz") + "</loc></sitemap></sitemapindex>",
                     "application/xml")
        self.web.add(HOST, "/map.xml.gz", packed("/hidden"), "application/gzip")
        self.web.add(HOST, "/old.xml.gz", "", status=302, Location="/new.xml.gz")
        self.web.add(HOST, "/new.xml.gz", packed("/too"), "application/gzip")
        self.web.add(HOST, "/hidden", "found")
        self.web.add(HOST, "/too", "found")
        self.crawl(self.web.url(HOST))
        self.assertIn((f"http://{HOST}/hidden", 200), self.urls())
        self.assertIn((f"http://{HOST}/too", 200), self.urls())

    def test_I1_a_redirected_seed_makes_its_target_a_seed_and_loops_end(self):
        self.web.add(HOST, "/", "", status=301, Location=self.web.url("www2.test", "/home"))
        self.web.add("www2.test", "/home", links("/a", "/loop"))
        self.web.add("www2.test", "/a", "a")
        self.web.add("www2.test", "/loop", "", status=302, Location="/loop2")
        self.web.add("www2.test", "/loop2", "", status=302, Location="/loop")
        self.web.add("www2.test", "/self", "", status=302, Location="/self")
        # The target is on another private address, and is a seed now.
        self.crawl(self.web.url(HOST), self.web.url("www2.test", "/self"), code=1)
        self.assertIn("/self could not be fetched: it is redirected in a circle", self.said)
        self.assertEqual(self.said.count("in a circle"), 1)
        urls = self.urls()
        self.assertIn(("http://www2.test/a", 200), urls)
        self.assertIn(("http://www2.test/loop2", 302), urls)
        self.assertEqual(set(self.web.asked("www2.test").values()), {1})
        seeds = {seed["url"]: seed for seed in self.report(1)["seeds"]}
        self.assertEqual(seeds[self.web.url(HOST)]["redirect"], self.web.url("www2.test", "/home"))

    def test_I1_both_seeds_that_are_redirected_to_each_other_are_named(self):
        self.web.add(HOST, "/a", "", status=302, Location="/b")
        self.web.add(HOST, "/b", "", status=302, Location="/a")
        self.crawl(self.web.url(HOST, "/a"), self.web.url(HOST, "/b"), code=1)
        for path in ("/a", "/b"):
            self.assertIn(f"seed {self.web.url(HOST, path)} could not be fetched: it is redirected "
                          "in a circle", self.said)

    def test_I1_seeds_that_lead_nowhere_or_were_left_are_named(self):
        self.web.add(HOST, "/a", "", status=302, Location="/b")
        self.web.add(HOST, "/b", "", status=302, Location="/a")
        self.web.add(HOST, "/nowhere", "", status=302)
        self.web.add(HOST, "/fine", "fine")
        self.web.add("late.test", "/", lambda _: (429, {"Retry-After": "3600"}, b""))
        self.crawl(self.web.url(HOST, "/a"), self.web.url(HOST, "/nowhere"),
                   self.web.url(HOST, "/fine"), self.web.url(HOST, "/more"),
                   self.web.url("late.test"), "--max-time", "2", "--max-host-urls", "3", code=1)
        problems = {seed["url"].replace(f":{self.web.port}", ""): seed["problem"]
                    for seed in self.report(1)["seeds"]}
        self.assertEqual(problems, {
            f"http://{HOST}/a": "its host had as many URLs as it may",
            f"http://{HOST}/nowhere": "it is redirected to nowhere",
            f"http://{HOST}/fine": "",
            f"http://{HOST}/more": "its host had as many URLs as it may",
            "http://late.test/": "the limit of time was reached"})
        self.assertEqual(self.said.count("could not be fetched"), 4)

    def test_I1_too_many_requests_are_answered_with_patience(self):
        """After ten requests the server wants to be left alone for a second, again and again."""
        answered, pause_ends, too_early = [], [0], []

        def page(handler):
            if len(answered) == 10 * len(pause_ends):
                pause_ends.append(time.monotonic() + 1)
            elif time.monotonic() < pause_ends[-1]:
                too_early.append(handler.path)
            else:
                answered.append(handler.path)
                return 200, {"Content-Type": "text/html"}, b"fine"
            return 429, {"Retry-After": "1"}, b"slow down"
        for i in range(32):
            self.web.add(HOST, f"/{i}", page)
        self.web.add(HOST, "/", links(*(f"/{i}" for i in range(32))))
        self.crawl(self.web.url(HOST), "--connections", "1")
        self.assertEqual([status for url, status in self.urls() if url[-1].isdigit()], [200] * 32)
        self.assertEqual(sorted(answered), sorted(f"/{i}" for i in range(32)))
        self.assertEqual((len(pause_ends), too_early), (4, []))

    def test_I1_traps_end_and_are_reported(self):
        def endless(handler):
            number = int(re.search(r"\d+$", handler.path).group() or 0)
            return 200, {"Content-Type": "text/html"}, links(
                f"/cal?month={2026 + number}-01&n={number + 1}", "deeper/x/").encode()

        def deeper(handler):
            return 200, {"Content-Type": "text/html"}, links("sub/").encode()

        def same(handler):
            return 200, {"Content-Type": "text/html"}, b"<p>whatever you ask for"
        self.web.add(HOST, "/", links("/cal?n=1", "/sub/", *(f"/same?p={i}" for i in range(40)),
                                      "/late"))
        self.web.add(HOST, "/late", links(*(f"/same?p=late{i}" for i in range(160))))
        self.web.add(HOST, "/cal", endless)
        self.web.add(HOST, "*", deeper)
        self.web.add(HOST, "/robots.txt", "", status=404)
        self.web.add(HOST, "/same", same)
        self.crawl(self.web.url(HOST), "--connections", "1")
        rejected = self.report(1)["rejected"]
        self.assertIn("trap calendar", rejected)
        self.assertIn("trap repeating-segments", rejected)
        # Those that came later, and most of those that waited.
        self.assertIn(rejected["trap identical-content"], range(160 + 5, 160 + 15))
        self.assertLess(len(self.web.asked(HOST)), 100)

    def test_I1_pages_without_end_are_told_from_sites_that_are_large(self):
        def one_page(_):
            return 200, {"Content-Type": "text/html"}, links(
                *(f"part{i}/" for i in range(6))).encode()

        def shop(handler):
            query = handler.path.partition("?")[2]
            return 200, {"Content-Type": "text/html"}, (links(
                *(f"/shop?{query}{i}" for i in range(4))) + handler.path).encode()

        def article(handler):
            return 200, {"Content-Type": "text/html"}, (links("/") + handler.path).encode()
        self.web.add(HOST, "/", links("/wiki/", "/shop?color=1&size=2",
                                      *(f"/article?id={i}" for i in range(300)),
                                      *(f"/{i}.html" for i in range(300))))
        self.web.add(HOST, "/robots.txt", "", status=404)
        self.web.add(HOST, "*", lambda handler: one_page(handler)
                     if handler.path.startswith("/wiki/") else article(handler))
        self.web.add(HOST, "/shop", shop)
        self.web.add(HOST, "/article", article)
        # What is under way when a trap is found was asked for.
        out = self.crawl(self.web.url(HOST), "--max-query-urls", "320", "--connections", "8")
        self.assertRegex(out, r"  \d traps, with \d+ URLs left alone: see stele report")
        asked = self.web.asked(HOST)
        kinds = {kind: sum(path.startswith(kind) for path in asked)
                 for kind in ("/wiki/", "/shop?", "/article?")}
        self.assertEqual(kinds["/shop?"], 320)
        self.assertEqual(kinds["/article?"], 300)
        self.assertEqual(sum(path.endswith(".html") for path in asked), 300)
        self.assertGreater(kinds["/wiki/"], 100)
        self.assertLess(kinds["/wiki/"], 300)
        traps = {trap["kind"]: trap for trap in self.report(1)["traps"]}
        self.assertEqual(traps["identical-pages"]["place"], self.web.url(HOST, "/wiki/"))
        self.assertEqual(traps["endless-parameters"]["place"],
                         self.web.url(HOST, "/shop?color&size"))
        self.assertIn("--max-query-urls", traps["endless-parameters"]["remedy"])
        text = self.stele("report")
        self.assertIn(f"identical-pages {self.web.url(HOST, '/wiki/')}, with", text)
        self.assertIn("a larger --max-same-pages", text)
        scope = (self.run_folder(1) / "scope.log").read_text()
        self.assertIn("trap identical-pages: from here on\n", scope)
        self.assertIn("trap endless-parameters\n", scope)

    def test_I1_pages_by_turns_and_optional_arguments_end_and_a_shop_does_not(self):
        def html(text):
            return 200, {"Content-Type": "text/html"}, text.encode()

        def by_turns(handler):
            return html(f"<p>banner {int(handler.path.partition('=')[2]) % 4}")

        def choose(handler):
            chosen = handler.path.partition("?")[2]
            more = (f"/shop?{chosen}&{name}={value}" for name in "abcdefgh" for value in range(3)
                    if name not in chosen)
            return html(links(*more) + chosen)

        def product(handler):
            number = int(handler.path.partition("=")[2])
            return html(f"product {number}" if number % 3 else "not available")
        self.web.add(HOST, "/", links("/shop?a=1", *(f"/list?p={i}" for i in range(150)),
                                      *(f"/product?id={i}" for i in range(150))))
        self.web.add(HOST, "/robots.txt", "", status=404)
        self.web.add(HOST, "/list", by_turns)
        self.web.add(HOST, "/shop", choose)
        self.web.add(HOST, "/product", product)
        out = self.crawl(self.web.url(HOST), "--max-query-urls", "150", "--connections", "1")
        asked = self.web.asked(HOST)
        kinds = {kind: sum(path.startswith(kind) for path in asked)
                 for kind in ("/list?", "/shop?", "/product?")}
        self.assertEqual(kinds["/product?"], 150)
        self.assertEqual(kinds["/shop?"], 4 * 150)
        # The first of each of the four, then each 25 times on the average.
        self.assertIn(kinds["/list?"], range(104, 110))
        self.assertIn("  2 traps, with ", out)
        traps = {trap["kind"]: trap for trap in self.report(1)["traps"]}
        self.assertEqual({kind: trap["place"] for kind, trap in traps.items()},
                         {"identical-content": self.web.url(HOST, "/list"),
                          "endless-combinations": self.web.url(HOST, "/shop")})
        text = self.stele("report")
        self.assertIn("    to do: a larger --max-same-answers", text)
        self.assertIn("a larger --max-query-urls", text)

    def test_I1_private_addresses_are_asked_only_for_seeds(self):
        self.web.add(HOST, "/", "")
        self.web.add("inside.test", "/x.png", b"secret", "image/png")
        inside = self.web.addresses.pop("inside.test")
        self.web.add(HOST, "/", f'<img src="{self.web.url(inside, "/x.png")}">'
                                f'<img src="{self.web.url("localhost", "/y.png")}">')
        self.crawl(self.web.url(HOST))
        self.assertEqual({host for host, _, _, _ in self.web.requests}, {HOST})
        self.assertEqual(self.report(1)["missing_count"], 2)
        self.assertIn("not public", self.report(1)["missing"][0]["reason"])

    def test_I1_a_name_that_a_person_gave_an_address_may_be_private_in_any_case(self):
        self.web.add("inside.test", "/x.png", b"png", "image/png")
        self.web.add(HOST, "/", f'<img src="{self.web.url("inside.test", "/x.png")}">')
        inside = self.web.addresses.pop("inside.test")
        self.crawl(self.web.url(HOST), "--resolve", f"Inside.TEST={inside}")
        self.assertIn(("http://inside.test/x.png", 200), self.urls())

    def test_D2_redirects_that_did_not_change_lead_on_where_links_do_not(self):
        self.web.add(HOST, "/robots.txt", lambda _: (301, {"Location": "/rules"}, b"moved"))
        self.web.add(HOST, "/rules", "User-agent: *\nDisallow: /private\n", "text/plain")
        self.web.add(HOST, "/", lambda _: (301, {"Location": "/start"}, b"moved"))
        counter = iter(range(100))
        self.web.add(HOST, "/start", lambda _: (200, {"Content-Type": "text/html"}, (
            links("/private", "/next") + f"<p>{next(counter)}").encode()))
        self.web.add(HOST, "/private", "secret")
        self.web.add(HOST, "/next", "next")
        for run in ("1", "2"):
            self.crawl(self.web.url(HOST), "--dedup-before-links")
            paths = {url.removeprefix(f"http://{HOST}") for url, _ in self.urls("--run", run)}
            self.assertEqual(paths, {"/robots.txt", "/rules", "/", "/start", "/next"})

    def test_I1_a_host_that_is_not_there_is_given_up(self):
        self.web.add(HOST, "/", links("/a"))
        self.web.add(HOST, "/a", "a")
        self.web.servers.pop().server_close()
        out = self.crawl(self.web.url(HOST), "no.invalid", code=1)
        self.assertIn("Run 1  0 pages", out)
        self.assertRegex(self.said, rf"seed http://{HOST}:\d+/ could not be fetched: .*"
                                    r"[Cc]onnection refused")
        self.assertRegex(self.said, r"seed http://no.invalid/ could not be fetched: .*no address")
        seeds = {seed["status"]: seed["problem"] for seed in self.report(1)["seeds"]}
        self.assertIn("refused", seeds[-2])
        self.assertIn("no address", seeds[-1])
        self.assertEqual({line[1] for line in self.log(1) if line[3].endswith("/")}, {"-1", "-2"})
        self.assertIn("refused", (self.run_folder(1) / "seeds-report.txt").read_text())

    def test_I1_a_port_that_is_closed_costs_no_other_page_and_is_named(self):
        closed = f"http://{HOST}:{self.web.port - 1}"
        self.web.add(HOST, "/", links(closed + "/x", *(f"/{i}" for i in range(20))),
                     status=200)
        for i in range(20):
            self.web.add(HOST, f"/{i}", f"page {i}")
        summary = json.loads(self.crawl(self.web.url(HOST), "--json", "--include", f"host:{HOST}"))
        self.assertEqual(len(self.urls()), 22)
        self.assertEqual((summary["failed"], summary["given_up"]), (1, [closed]))
        self.assertIn(f"{closed} was given up", self.said)
        self.assertIn("refused", self.report(1)["given_up"][closed]["problem"])
        self.assertEqual([entry["url"] for entry in self.report(1)["failed"]], [closed + "/x"])
        text = self.stele("report")
        self.assertIn("1 URL could not be fetched", text)
        self.assertIn("1 place given up", text)

    def test_I1_a_site_that_stops_answering_is_named_and_costs_the_exit_code(self):
        def hang_up(_):
            raise ConnectionAbortedError

        self.web.add(HOST, "/", links(*(f"/{i}" for i in range(50))))
        self.web.add(HOST, "/robots.txt", "", "text/plain")
        self.web.add(HOST, "*", hang_up)
        self.crawl(self.web.url(HOST), code=1)
        self.assertIn(f"{self.web.url(HOST).rstrip('/')} was given up", self.said)
        self.assertIn("a site that was asked for is not whole", self.said)
        self.assertEqual(len(self.urls()), 2)

    def test_I1_who_hangs_up_may_want_https(self):
        def hang_up(_):
            raise ConnectionAbortedError

        self.web.add(HOST, "*", hang_up)
        self.crawl(self.web.url(HOST), "--robots", "ignore", code=1)
        secure = self.web.url(HOST).replace("http://", "https://")
        self.assertIn(f"it may answer by https: stele crawl {secure}\n", self.said)

    def test_I1_pages_that_hang_up_cost_no_other_page(self):
        def hang_up(_):
            raise ConnectionAbortedError

        self.web.add(HOST, "/", links(*(f"/{kind}/{i}" for kind in ("bad", "good")
                                        for i in range(20))))
        for i in range(20):
            self.web.add(HOST, f"/bad/{i}", hang_up)
            self.web.add(HOST, f"/good/{i}", f"<p>page {i}")
        self.crawl(self.web.url(HOST))
        self.assertEqual(len([url for url, _ in self.urls() if "/good/" in url]), 20)
        self.assertEqual(self.report(1)["given_up"], {})

    def test_I1_hosts_get_pauses_and_embeds_none(self):
        self.web.add(HOST, "/", links(*(f"/{i}" for i in range(3))) + "<img src=/1.png>"
                     "<img src=/2.png>")
        for i in range(3):
            self.web.add(HOST, f"/{i}", "page")
            self.web.add(HOST, f"/{i}.png", b"png", "image/png")
        self.crawl(self.web.url(HOST), delay="0.4")
        pages = [at for path, at in self.web.times(HOST)
                 if not path.endswith(".png") and path != "/robots.txt"]
        for earlier, later in zip(pages, pages[1:]):
            self.assertGreaterEqual(later - earlier, 0.39)
        order = [path for path, _ in self.web.times(HOST)]
        self.assertEqual(order[:2], ["/robots.txt", "/"])
        self.assertEqual(set(order[2:4]), {"/1.png", "/2.png"})

    def test_I1_limits_end_a_crawl(self):
        for i in range(60):
            self.web.add(HOST, f"/{i}", links(*(f"/{i * 2 + j}" for j in (1, 2) if i * 2 + j < 60)))
        self.crawl(self.web.url(HOST, "/0"), "--max-pages", "10")
        self.assertIn("limit of pages", self.said)
        self.assertEqual(len(self.urls()), 11)  # with robots.txt
        left = int(re.search(r"with (\d+) URL", self.said).group(1))
        hosts = (self.run_folder(1) / "hosts-report.txt").read_text().splitlines()
        self.assertEqual(int(hosts[1].split()[4]), left)
        # Each page has less than a hundred bytes, and eight may be under way.
        summary = json.loads(self.crawl("--max-bytes", "1kB", "--max-pages", "60", "--json"))
        self.assertIn("limit of bytes", self.said)
        self.assertLess(summary["bytes"], 1000 + 8 * 100)
        self.crawl("--max-time", "1s", "--max-pages", "60", delay="0.3")
        self.assertIn("limit of time", self.said)
        self.assertLess(len(self.urls("--run", "3")), 10)
        self.crawl("--max-time", "500ms", "--max-pages", "60", delay="0.3")
        self.assertIn("limit of time", self.said)
        # What was not reached is not gone.
        out = self.crawl("--max-pages", "1", "--connections", "1")
        self.assertNotIn("gone", out)

    def test_I1_many_links_are_followed_and_more_are_counted(self):
        self.web.add(HOST, "*", lambda _: (200, {"Content-Type": "text/plain"}, b"one"))
        self.web.add(HOST, "/", links(*(f"/p{i}" for i in range(7000))))
        self.crawl(self.web.url(HOST), "--max-pages", "1", "--connections", "1")
        self.assertGreater(int(re.search(r"with (\d+) URL", self.said).group(1)), 6990)
        self.web.add(HOST, "/", links(*(f"/p{i}" for i in range(50_100))))
        out = self.crawl("--max-pages", "1", "--connections", "1")
        self.assertIn("100 links left out, of pages with too many", out)
        self.assertEqual(self.report(2)["links_left_out"], 100)

    def test_I1_cookies_come_back(self):
        self.web.add(HOST, "/", links("/a"), Set_Cookie="visit=7; Path=/")
        self.web.add(HOST, "/a", "a")
        self.crawl(self.web.url(HOST))
        headers = {path: fields for _, path, _, fields in self.web.requests}
        self.assertEqual(headers["/a"].get("Cookie"), "visit=7")
        self.assertIn("stele/", headers["/a"]["User-Agent"])
        self.assertEqual(headers["/a"]["Referer"], self.web.url(HOST))

    def stored(self):
        """All bytes of the archive, as they are, and what is compressed among them as it was."""
        everything = b"".join(path.read_bytes() for path in sorted(self.archive.rglob("*"))
                              if path.is_file())
        out = everything
        for magic, unpack in ((b"\x1f\x8b\x08", gunzip), (b"\x28\xb5\x2f\xfd", unzstd)):
            at = everything.find(magic)
            while at >= 0:
                out += b"\0" + unpack(everything[at:])
                at = everything.find(magic, at + 1)
        return out + b"\0".join(self.rows())

    def rows(self):
        """Of the frontier and other tables of RocksDB, what is compressed."""
        for table in self.archive.glob("**/*.sst"):
            yield from unlz4(table.read_bytes())

    def test_I1_secrets_are_nowhere_after_a_kill(self):
        def page(handler):
            good = handler.headers.get("Authorization") == "Bearer hunter2"
            fields = {"Content-Type": "text/html", "Set-Cookie": "visit=seventh; Path=/"}
            return (200, fields, links(*(f"/{i}" for i in range(60))).encode()) if good else (
                401, {}, b"who are you?")
        self.web.add(HOST, "*", page)
        self.web.latency = 0.01
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} bearer hunter2\n")
        cookies = self.folder / "cookies.txt"
        cookies.write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tsession\tswordfish\n")
        # All rows are written when it is stopped, and made a table, compressed, when it goes on.
        for count, end in ((20, signal.SIGINT), (40, signal.SIGKILL)):
            process = subprocess.Popen(self.words(self.web.url(HOST), "--logins", logins,
                                                  "--cookies", cookies), stderr=subprocess.DEVNULL)
            while len(self.web.asked(HOST)) < count:
                time.sleep(0.01)
            process.send_signal(end)
            process.wait()
        for part in ("frontier", "crawl.log"):
            self.assertTrue(list(self.archive.glob(f"crawl/*/**/{part}")), part)
        rows = b"".join(self.rows())
        self.assertGreater(rows.count(self.web.url(HOST).encode()), 40)
        self.assertIn(b"seventh", rows)  # as the server gave it
        stored = self.stored()
        self.assertIn(b"Authorization: [redacted]", stored)
        for secret in (b"hunter2", b"swordfish"):
            self.assertNotIn(secret, stored)

    def test_I1_secrets_are_sent_and_never_stored(self):
        def page(handler):
            good = (handler.headers.get("Authorization") == "Basic bWU6aHVudGVyMg=="
                    and "session=swordfish" in handler.headers.get("Cookie", ""))
            return (200, {"Content-Type": "text/html"}, links("/in").encode()) if good else (
                401, {}, b"who are you?")
        self.web.add(HOST, "/", page)
        self.web.add(HOST, "/in", page)
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} basic me:hunter2\n")
        cookies = self.folder / "cookies.txt"
        cookies.write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tsession\tswordfish\n")
        seeds = self.folder / "seeds"
        seeds.write_text(f"# the site\n{self.web.url(HOST)}\n")
        self.crawl("--seeds", seeds, "--logins", logins, "--cookies", cookies)
        self.assertIn((f"http://{HOST}/in", 200), self.urls())
        self.crawl()  # the job knows where they are
        self.assertIn((f"http://{HOST}/in", 200), self.urls("--run", "2"))
        stored = self.stored()
        for secret in (b"hunter2", b"bWU6aHVudGVyMg", b"swordfish"):
            self.assertNotIn(secret, stored)
        self.assertIn(b"Authorization: [redacted]", stored)
        self.assertIn(b"Cookie: [redacted]", stored)
        cookies.write_text("no cookies\n")
        self.crawl(code=2)
        self.assertIn("has no cookie that still holds", self.said)

    def test_I1_a_login_goes_to_no_other_port_of_its_host(self):
        self.web.listen(HOST)
        other = http.server.HTTPServer((self.web.addresses[HOST], 0), Other)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        other.logins = []
        self.web.add(HOST, "/", links(f"http://{HOST}:{other.server_address[1]}/"))
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} basic me:hunter2\n")
        self.crawl(self.web.url(HOST), "--logins", logins, "--robots", "ignore",
                   "--include", f"host:{HOST}")
        self.assertEqual(other.logins, [None])
        (login,) = [fields["Authorization"] for _, _, _, fields in self.web.requests]
        self.assertTrue(login.startswith("Basic "))

    def test_I1_secrets_that_a_server_repeats_are_told(self):
        self.web.add(HOST, "/", links("/b"), Set_Cookie="session=swordfish; Path=/")
        self.web.add(HOST, "/b", "b", Set_Cookie="other=swordfish; Path=/")
        cookies = self.folder / "cookies.txt"
        cookies.write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tsession\tswordfish\n")
        out = self.crawl(self.web.url(HOST), "--cookies", cookies, "--json")
        self.assertEqual(json.loads(out)["repeated_secrets"], 1)
        self.assertIn("1 response of the server", self.said)
        self.assertEqual(self.report(1)["repeated_secrets"], 1)
        self.assertEqual([line[11] for line in self.log(1) if line[3] == self.web.url(HOST)],
                         ["repeatsSecret"])

    def speak_https(self):
        """From now on, with a certificate that nobody trusts, which is returned."""
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=test",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        (server,) = self.web.servers
        server.socket = context.wrap_socket(server.socket, server_side=True)
        return certificate

    def test_I1_a_seed_without_a_scheme_is_captured_where_only_https_answers(self):
        self.web.add(HOST, "/", links("/a"))
        self.web.add(HOST, "/a", "a")
        self.speak_https()
        http, https = self.web.url(HOST), self.web.url(HOST).replace("http:", "https:")
        self.crawl(http.removeprefix("http://"))
        self.assertIn(f"stele: {http} was asked for by https: {http[:-1]}: the connection ended",
                      self.said)
        expected = [(f"https://{HOST}{path}", status)
                    for path, status in (("/", 200), ("/a", 200), ("/robots.txt", 404))]
        self.assertEqual(self.urls(), expected)
        (seed,) = self.report(1)["seeds"]
        self.assertEqual((seed["url"], seed["redirect"], seed["status"]), (http, https, 200))
        self.assertIn("the connection ended", seed["by_https"])
        (line,) = [line for line in self.log(1) if line[3] == http]
        self.assertEqual((line[1], line[11]), ("-3", "byHttps"))
        self.assertIn(f"{http}\n    by https: {https}", self.stele("report"))
        # Again, by what the job says, and by what is typed.
        self.crawl()
        self.crawl(http.removeprefix("http://"))
        for run in ("2", "3"):
            self.assertEqual(self.urls("--run", run), expected)

    def test_I1_certificates_are_recorded_and_wrong_ones_noted(self):
        self.web.add(HOST, "/", links("/a"))
        self.web.add(HOST, "/a", "a")
        certificate = self.speak_https()
        self.crawl(self.web.url(HOST).replace("http:", "https:"))
        self.assertEqual(len(self.urls()), 3)
        (container,) = self.containers()
        stored = gzip.open(container).read().decode()
        der = ssl.PEM_cert_to_DER_cert(certificate.read_text())
        self.assertEqual(stored.count("tlsChain: " + base64.b64encode(der).decode()), 1)
        self.assertEqual(stored.count("tlsCertificate: sha256:" + hashlib.sha256(der).hexdigest()),
                         3)
        self.assertEqual(stored.count("tlsDistrust: self-signed certificate"), 3)
        self.assertEqual({line[11] for line in self.log(1)}, {"invalidCertificate"})
        self.check_containers()

    def test_I1_passwords_in_urls_are_refused_in_seeds_and_dropped_from_links(self):
        self.web.add(HOST, "/", links(self.web.url(HOST, "/in").replace("//", "//me:hunter2@")))
        self.web.add(HOST, "/in", "in")
        self.crawl(self.web.url(HOST).replace("//", "//me:hunter2@"), code=2)
        self.assertIn("--logins", self.said)
        self.assertFalse(self.archive.exists())
        self.crawl(self.web.url(HOST))
        self.assertIn((f"http://{HOST}/in", 200), self.urls())
        self.assertNotIn("hunter2", self.stele("ls"))

    def test_I1_a_form_is_filled_in_and_nothing_of_it_is_stored(self):
        def login(handler):
            if handler.command == "GET":
                return 200, {"Content-Type": "text/html", "Set-Cookie": "pre=1"}, (
                    b'<form action="/enter"><input type=hidden name=csrf value="a b">'
                    b'<input name=user><input name=word></form>')
            return None

        def enter(handler):
            sent = handler.rfile.read(int(handler.headers["Content-Length"])).decode()
            self.sent.append((handler.command, sent, handler.headers.get("Cookie")))
            good = sent == "user=me&word=hunter2&csrf=a+b"
            return (303, {"Location": "/", "Set-Cookie": "session=swordfish; Path=/"}, b"") if (
                good) else (200, {"Content-Type": "text/html"}, b"who are you?")

        def page(handler):
            good = "session=swordfish" in handler.headers.get("Cookie", "")
            return (200, {"Content-Type": "text/html"}, b"inside") if good else (403, {}, b"")
        self.sent = []
        self.web.add(HOST, "/login", login)
        self.web.add(HOST, "/enter", enter)
        self.web.add(HOST, "/", page)
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} form {self.web.url(HOST, '/login')} user=me&word=wrong\n")
        self.crawl(self.web.url(HOST), "--logins", logins, code=2)
        self.assertIn("/login failed: the server set no cookie", self.said)
        logins.write_text(f"{HOST} form {self.web.url(HOST, '/login')} user=me&word=hunter2\n")
        self.crawl()
        self.assertEqual(self.sent[-1], ("POST", "user=me&word=hunter2&csrf=a+b", "pre=1"))
        self.assertIn((f"http://{HOST}/", 200), self.urls())
        self.assertNotIn("/login", self.stele("ls"))
        stored = self.stored()
        for secret in (b"hunter2", b"swordfish"):
            self.assertNotIn(secret, stored)

    def test_I1_a_login_that_hangs_can_be_stopped(self):
        self.web.add(HOST, "/login", lambda _: time.sleep(60))
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} form {self.web.url(HOST, '/login')} user=me&word=hunter2\n")
        process = subprocess.Popen(self.words(self.web.url(HOST), "--logins", logins),
                                   stderr=subprocess.PIPE)
        while not self.web.asked(HOST):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        self.assertIn(b"/login failed", said)

    def test_I1_a_proxy_is_given_its_login_and_nobody_else(self):
        def proxy(handler):
            self.assertEqual(handler.path, f"http://{HOST}/")
            self.assertEqual(handler.headers.get("Proxy-Authorization"), "Basic bWU6aHVudGVyMg==")
            return 200, {"Content-Type": "text/html"}, b"through a proxy"
        self.web.add(HOST, "*", proxy)
        logins = self.folder / "logins"
        logins.write_text("127.0.1.1 basic me:hunter2\n")
        self.crawl(f"http://{HOST}/", "--robots", "ignore", "--logins", logins, "--proxy",
                   f"127.0.1.1:{self.web.port}")
        self.assertIn((f"http://{HOST}/", 200), self.urls())
        for path in self.containers():
            self.assertNotIn(b"bWU6aHVudGVyMg", gzip.open(path).read())

    def test_I1_a_server_that_wants_its_cookie_back_gets_it(self):
        def page(handler):
            if "seen=1" in handler.headers.get("Cookie", ""):
                return 200, {"Content-Type": "text/html"}, links("/a").encode()
            return 302, {"Location": "/", "Set-Cookie": "seen=1"}, b""
        self.web.add(HOST, "/", page)
        self.web.add(HOST, "/a", "a")
        self.crawl(self.web.url(HOST))
        self.assertIn((f"http://{HOST}/a", 200), self.urls())


class Patch(CrawlTest):
    """What pages need and a crawl did not bring: named with the reason, and fetched later."""

    def missing(self, *arguments):
        report = json.loads(self.stele("report", "--json", *arguments))["crawl"]
        self.assertEqual(report["missing_count"], len(report["missing"]))
        return {entry["url"].replace(f":{self.web.port}", ""): entry["why"]
                for entry in report["missing"]}

    def plant(self):
        """A page whose embeds fail for every reason there is; returns a function that repairs."""
        def flaky(mime, body):
            return lambda _: (200, {"Content-Type": mime}, body) if repaired else (500, {}, b"")
        repaired = []
        web = self.web
        web.add(HOST, "/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
        web.add(HOST, "/style.css", flaky("text/css", b"a { background: url(/back.png) }"))
        web.add(HOST, "/flaky.png", flaky("image/png", b"flaky"))
        web.add(HOST, "/back.png", b"back", "image/png")
        web.add(HOST, "/private/p.png", b"private", "image/png")
        web.add(HOST, "/big.png", b"big" * 2000, "image/png")
        web.add("cdn.test", "/out.png", b"out", "image/png")
        web.add("cdn.test", "/other.html", links("/"))
        for i in range(8):
            web.add("many.test", f"/{i}.png", f"{i}".encode(), "image/png")
        images = ["/flaky.png", "/gone.png", "/private/p.png", "/big.png",
                  web.url("cdn.test", "/out.png"),
                  *(web.url("many.test", f"/{i}.png") for i in range(8))]
        web.add(HOST, "/", "<link rel=stylesheet href=/style.css>" +
                "".join(f'<img src="{image}">' for image in images))
        return lambda: repaired.append(True)

    def test_I1_every_reason_is_named_and_after_a_patch_only_what_cannot_be_had_is_left(self):
        repair = self.plant()
        # The six of the first host are within the limit, two of the other are not.
        self.crawl(self.web.url(HOST), "--exclude", "host:cdn.test", "--max-file-size", "3000",
                   "--max-host-urls", "6")
        planted = {f"http://{HOST}/style.css": "error", f"http://{HOST}/flaky.png": "error",
                   f"http://{HOST}/gone.png": "error", f"http://{HOST}/private/p.png": "robots",
                   f"http://{HOST}/big.png": "limit", "http://cdn.test/out.png": "scope",
                   "http://many.test/6.png": "limit", "http://many.test/7.png": "limit"}
        self.assertEqual(self.missing(), planted)
        repair()
        self.web.forget()
        out = self.crawl("--patch")
        self.assertRegex(self.said, "what pages of run 1 need")
        self.assertRegex(out, r"^Run 2  patches run 1: 4 of 8 missing embeds; 9 files, .*"
                              r"4 embeds missing")
        self.assertEqual(self.web.asked(HOST)["/"], 0)
        self.assertEqual(self.web.asked(HOST)["/private/p.png"], 0)
        self.assertIn((f"http://{HOST}/back.png", 200), self.urls("--run", "2"))
        stays = {url: why for url, why in planted.items() if url.endswith(
            ("gone.png", "p.png", "big.png", "out.png"))}
        self.assertEqual(self.missing(), stays)
        self.assertEqual(self.missing("--run", "1"), stays)
        out = self.crawl("--patch", "--robots", "embeds", "--include", "host:cdn.test",
                         "--max-file-size", "1MB", "--json")
        summary = {**json.loads(out), "milliseconds": 0, "bytes": 0, "stored": 0}
        for what in ("failed_seeds", "given_up"):
            self.assertEqual(summary.pop(what), [])
        self.assertEqual(summary,
                         {"run": 3, "pages": 0, "files": 6, "bytes": 0, "stored": 0,
                          "milliseconds": 0, "missing": 1, "too_deep": 0, "failed": 0,
                          "links_left_out": 0, "traps": 0, "trapped_urls": 0,
                          "repeated_secrets": 0, "patches": 2, "wanted": 4, "found": 3})
        for run in ((), ("--run", "1"), ("--run", "2")):
            self.assertEqual(self.missing(*run), {f"http://{HOST}/gone.png": "error"})
        self.assertRegex(self.stele("report", "--run", "1"), r"7 files that pages need came by")
        # A patch is no run to compare with: the next whole one is compared with the first.
        self.assertRegex(self.crawl(), r"Run 4 .* identical")
        study = subprocess.run([STELE, "study", "duplicates", "--archive", self.archive],
                               capture_output=True, check=True).stdout.decode()
        self.assertEqual(re.findall(r"^run \d", study, re.MULTILINE), ["run 1", "run 4", "run 4"])
        self.check_containers()
        self.stele("verify")

    def plant_behind_redirects(self):
        """A page whose embeds are redirected to what cannot be had, which another page links."""
        web = self.web
        web.add(HOST, "/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
        web.add(HOST, "/busy.png", "", status=500)
        web.add(HOST, "/private.png", b"private", "image/png")
        web.add(HOST, "/big.png", b"big" * 2000, "image/png")
        web.add("cdn.test", "/out.png", b"out", "image/png")
        web.add("cdn.test", "/", "")
        targets = {"busy": "/busy.png", "gone": "/gone.png", "robots": "/private.png",
                   "big": "/big.png", "scope": web.url("cdn.test", "/out.png")}
        for name, target in targets.items():
            web.add(HOST, f"/r-{name}", "", status=302, Location=f"/s-{name}")
            web.add(HOST, f"/s-{name}", "", status=302, Location=target)
        web.add(HOST, "/loop", "", status=302, Location="/loop2")
        web.add(HOST, "/loop2", "", status=302, Location="/loop")
        for i in range(30):
            web.add(HOST, f"/chain{i}", "", status=302, Location=f"/chain{i + 1}")
        embeds = [*(f"/r-{name}" for name in targets), "/loop", "/chain0"]
        web.add(HOST, "/page", "".join(f"<img src={embed}>" for embed in embeds))
        return [*targets.values(), *embeds]

    def test_I1_every_reason_is_named_behind_redirects_too(self):
        every = self.plant_behind_redirects()
        expected = {f"http://{HOST}/busy.png": "error", f"http://{HOST}/gone.png": "error",
                    f"http://{HOST}/private.png": "robots", f"http://{HOST}/big.png": "limit",
                    "http://cdn.test/out.png": "scope", f"http://{HOST}/loop": "error",
                    f"http://{HOST}/chain21": "error"}
        # Nothing of it was linked; what it is redirected to was; all of it was.
        for linked in (), every[:5], every:
            shutil.rmtree(self.archive, ignore_errors=True)
            self.web.add(HOST, "/", links(*linked, "/page"))
            self.crawl(self.web.url(HOST), "--exclude", "host:cdn.test", "--max-file-size", "3000")
            self.assertEqual(self.missing(), expected)
            pages = {row["page"] for row in self.report(1)["missing"]}
            self.assertEqual(pages, {self.web.url(HOST, "/page")})
        self.assertIn("it is redirected in a circle", self.stele("report"))
        self.web.add(HOST, "/busy.png", b"png", "image/png")
        self.web.add(HOST, "/loop2", "", status=302, Location="/busy.png")
        self.crawl("--patch")
        self.assertNotIn(f"http://{HOST}/busy.png", self.missing())
        self.assertNotIn(f"http://{HOST}/loop", self.missing())

    def test_I1_a_site_without_robots_txt_misses_nothing(self):
        self.web.add(HOST, "/", links("/page"))
        self.web.add(HOST, "/page", "")
        self.crawl(self.web.url(HOST))
        self.assertIn((f"http://{HOST}/robots.txt", 404), self.urls())
        self.assertNotIn("missing", self.stele("report"))
        self.web.add(HOST, "/page", links("/none"))
        self.crawl()
        self.assertIn("\n1 is missing: the server answered with an error\n", self.stele("report"))

    def gallery(self, pictures):
        for i in range(pictures):
            self.web.add(HOST, f"/{i}.png", f"picture {i}".encode(), "image/png")
        self.web.add(HOST, "/", "".join(f"<img src=/{i}.png>" for i in range(pictures)))
        self.web.latency = 0.03

    def test_I1_what_a_limit_of_the_crawl_left_is_named_and_patched(self):
        self.gallery(30)
        # The page has 500 bytes, each picture 10.
        self.crawl(self.web.url(HOST), "--max-bytes", "600", "--connections", "1")
        self.assertIn("limit of bytes", self.said)
        missing = self.missing()
        self.assertGreater(len(missing), 5)
        self.assertEqual(set(missing.values()), {"limit"})
        self.crawl("--patch")
        self.assertEqual(self.missing(), {})
        self.assertEqual(self.missing("--run", "1"), {})
        asked = self.web.asked(HOST)
        self.assertEqual([asked[f"/{i}.png"] for i in range(30)], [1] * 30)

    def test_I1_where_nothing_is_missing_no_patch_begins(self):
        self.web.add(HOST, "/", "<img src=/x.png>")
        self.web.add(HOST, "/x.png", b"png", "image/png")
        self.crawl(self.web.url(HOST))
        self.web.forget()
        self.assertEqual(self.crawl("--patch"),
                         "Run 1 has all that its pages need: there is nothing to patch\n")
        self.assertEqual(json.loads(self.crawl("--patch", "--json")),
                         {"patches": 1, "wanted": 0, "found": 0})
        self.assertFalse(self.web.requests)
        self.assertIn("Run 2 ", self.crawl())

    def test_I1_what_a_page_needs_is_missing_also_where_it_was_linked(self):
        self.web.add(HOST, "/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
        self.web.add(HOST, "/", '<a href="/1.png"><img src="/1.png"></a>' +
                     links("/b", "/private/p.png", "/2.png", "/good.png"))
        self.web.add(HOST, "/b", "<img src=/private/p.png><img src=/2.png><img src=/good.png>"
                     "<img src=/3.png>")
        self.web.add(HOST, "/good.png", b"png", "image/png")
        self.crawl(self.web.url(HOST))
        pages = {row["url"].split(str(self.web.port))[1]: row["page"].split(str(self.web.port))[1]
                 for row in self.report(1)["missing"]}
        self.assertEqual(pages, {"/1.png": "/", "/2.png": "/b", "/3.png": "/b",
                                 "/private/p.png": "/b"})
        self.web.add(HOST, "/1.png", b"one", "image/png")
        self.crawl("--patch", "--robots", "embeds")
        self.assertIn((f"http://{HOST}/1.png", 200), self.urls("--run", "2"))

    def test_I1_a_patch_goes_on_with_the_options_it_began_with(self):
        self.web.add(HOST, "/robots.txt", "User-agent: *\nDisallow: /p\n", "text/plain")
        self.web.add(HOST, "/", "".join(f"<img src=/p/{i}.png>" for i in range(40)))
        for i in range(40):
            self.web.add(HOST, f"/p/{i}.png", b"p%d" % i, "image/png")
        self.crawl(self.web.url(HOST))
        self.web.latency = 0.05
        self.web.forget()
        process = subprocess.Popen(self.words("--patch", "--robots", "embeds", "--connections",
                                              "1"), stderr=subprocess.PIPE)
        while len(self.web.asked(HOST)) < 6:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertIn("40 of 40", self.crawl())
        self.assertIn("with what it began with: robots", self.said)

    def test_I1_a_patch_that_is_interrupted_goes_on_as_one(self):
        self.gallery(40)
        self.crawl(self.web.url(HOST), "--max-bytes", "700", "--connections", "1")
        self.web.forget()
        process = subprocess.Popen(self.words("--patch", "--connections", "1"),
                                   stderr=subprocess.PIPE)
        while len(self.web.asked(HOST)) < 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        out = self.crawl()
        self.assertIn("Going on with run 2", self.said)
        self.assertIn("patches run 1", out)
        self.assertEqual(self.missing(), {})
        self.assertEqual(self.web.asked(HOST)["/"], 0)

    def test_I1_what_was_interrupted_is_not_patched(self):
        self.gallery(40)
        process = subprocess.Popen(self.words(self.web.url(HOST), "--connections", "1"),
                                   stderr=subprocess.PIPE)
        while len(self.web.asked(HOST)) < 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.crawl("--patch", code=2)
        self.assertIn("go on with it before you patch it", self.said)

    def test_I1_challenges_and_pages_in_want_of_scripts_are_named(self):
        self.web.add(HOST, "/", links("/challenge", "/app", "/good") + "<p>" + "text " * 100)
        self.web.add(HOST, "/challenge", "<title>Just a moment...</title>", status=403,
                     cf_mitigated="challenge")
        self.web.add(HOST, "/app", "<div id=root></div><script src=/x.js></script>")
        self.web.add(HOST, "/x.js", "1", "text/javascript")
        self.web.add(HOST, "/good", "<p>" + "words " * 100 + "<script src=/x.js></script>")
        self.crawl(self.web.url(HOST))
        report = json.loads(self.stele("report", "--json"))["crawl"]
        found = {entry["url"].rsplit("/", 1)[1]: (entry["trouble"], entry["status"])
                 for entry in report["suspects"]}
        self.assertEqual(found, {"challenge": ("challenge", 403), "app": ("needs-script", 200)})
        text = self.stele("report")
        self.assertIn("2 pages may not be what a person would have seen", text)
        self.assertIn("a challenge of Cloudflare", text)
        self.assertIn("    to do: capture it with a crawler that runs scripts", text)


class Interrupted(CrawlTest):
    PAGES = 120

    def setUp(self):
        super().setUp()
        self.dice = random.Random(5)
        for i in range(self.PAGES):
            body = links(*(f"/{i * 3 + j}" for j in (1, 2, 3) if i * 3 + j < self.PAGES))
            self.web.add(HOST, f"/{i}", body + f"<img src=/{i % 20}.png><p>{i}" + "text " * 200)
        for i in range(20):
            self.web.add(HOST, f"/{i}.png", bytes(self.dice.randbytes(3000)), "image/png")
        self.seed = self.web.url(HOST, "/0")
        self.web.latency = 0.05

    def start(self, *arguments):
        return subprocess.Popen(self.words(*arguments), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def expected(self):
        return sorted([(f"http://{HOST}/{i}", 200) for i in range(self.PAGES)] +
                      [(f"http://{HOST}/{i}.png", 200) for i in range(20)] +
                      [(f"http://{HOST}/robots.txt", 404)])

    def test_I1_interrupted_by_hand_it_says_so_and_goes_on(self):
        process = self.start(self.seed)
        while len(self.web.asked(HOST)) < 20:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn(b"Ctrl-C again ends at once", said)
        self.assertRegex(said, rb"stele crawl --archive \S+ goes on with it")
        self.crawl()
        self.assertIn("Going on with run 1", self.said)
        self.assertEqual(self.urls(), self.expected())
        # Nothing that was under way was lost, so nothing was asked for twice.
        self.assertEqual(set(self.web.asked(HOST).values()), {1})

    def test_I1_interrupted_twice_it_ends_at_once_and_goes_on(self):
        self.web.add(HOST, "/slow", lambda _: time.sleep(60))
        self.web.add(HOST, "/0", links("/slow", *(f"/{i}" for i in range(1, self.PAGES))))
        process = self.start(self.seed)
        while "/slow" not in self.web.asked(HOST):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        while b"Ctrl-C again ends at once" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn(b"stele: ended at once", said)
        self.assertIn("1 more grows; what is in there counts when a crawl has finished it\n",
                      self.stele("info"))
        self.assertIn("1 container that grows was not read: ", self.stele("verify"))
        self.web.add(HOST, "/slow", links("/0"))
        self.crawl()
        self.assertNotIn("grows", self.stele("info") + self.stele("verify"))
        self.assertIn("Going on with run 1", self.said)
        self.assertEqual(self.urls(), sorted([*self.expected(), (f"http://{HOST}/slow", 200)]))

    def test_I1_a_run_goes_on_with_its_options_and_new_ones_win(self):
        self.web.latency = 0
        self.crawl(self.seed)
        self.web.latency = 0.02
        self.web.forget()
        process = self.start("--exclude", "regex:.*/9[0-9]", "--max-pages", "40")
        while len(self.web.asked(HOST)) < 20:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        self.crawl("--max-pages", "1000")
        self.assertIn("with what it began with: rules\n", self.said)
        left = {url for url, _ in self.urls("--run", "1")} - {
            url for url, _ in self.urls("--run", "2")}
        self.assertEqual(left, {f"http://{HOST}/{i}" for i in range(90, 100)})

    def test_I1_reports_that_a_kill_prevented_are_written_with_the_next_run(self):
        self.web.latency = 0
        self.crawl(self.seed, "--max-pages", "5", "--connections", "1")
        for path in self.run_folder(1).glob("*report*"):
            path.unlink()
        self.crawl("--max-pages", "0")
        self.assertEqual(self.report(1)["hosts"][HOST]["failures"], 0)
        self.assertTrue((self.run_folder(1) / "hosts-report.txt").exists())


class Killed(CrawlTest):
    """Killed at any moment, and gone on with, a crawl brings what it would have brought."""

    SEEDS = 30
    PAGES = 12

    def setUp(self):
        super().setUp()
        dice = random.Random(7)
        web = self.web
        for host, other in (("a.test", "b.test"), ("b.test", "a.test")):
            for i in range(self.PAGES):
                page = links(*(f"/{i * 2 + j}" for j in (1, 2) if i * 2 + j < self.PAGES))
                page += f'<img src="{web.url(other, f"/{i % 4}.png")}"><p>{host} {i}'
                web.add(host, f"/{i}", page, Set_Cookie=f"at={i}")
            for i in range(4):
                web.add(host, f"/{i}.png", dice.randbytes(3000), "image/png")
            web.add(host, "/old", "", status=301, Location="/1")
        web.add("a.test", "/0", links("/1", "/2", "/old", "/missing", web.url("b.test", "/0")))
        self.seeds = [web.url("a.test", "/0"), web.url("b.test", "/0")]

    def brought(self, run):
        """All captures of a run with their payloads, what its log and its report say, and how often
        each payload is whole and how often a duplicate: which URL is first is a matter of time."""
        captures = self.captures("--run", str(run))
        rows = sorted((row["url"], row["status"], row.get("sha1")) for row in captures)
        log = self.log(run)
        times = sorted((row["url"], re.sub(r"\D", "", row["time"])) for row in captures)
        self.assertEqual(sorted((line[3], line[8].split("+")[0]) for line in log), times)
        lines = sorted((line[3], line[1], line[2], line[9]) for line in log)
        payloads = (sorted((row.get("sha1"), row.get("revisit", False)) for row in captures),
                    sorted((line[9], line[11]) for line in log))
        report = json.loads(self.stele("report", "--json", "--run", str(run)))
        return rows, lines, payloads, report["crawl"]["all"]

    CONNECTIONS = 4
    # What was under way, what was fetched and waited to be written, and rules of two hosts.
    REPEATED_MAX = 5 * CONNECTIONS + 2

    def pages_asked(self):
        return [self.web.url(host, path) for host, path, _, _ in self.web.requests]

    def captured_so_far(self):
        """By the run that will be gone on with. None: the last one is over; nothing where it was
        killed before the archive was whole."""
        def said(*words):
            return subprocess.run([STELE, *words, "--archive", self.archive, "--json"],
                                  capture_output=True, check=False).stdout
        runs = json.loads(said("info") or '{"runs": []}')["runs"]
        if runs and runs[-1].get("end"):
            return None
        rows = [json.loads(line) for line in said("ls").splitlines()]
        return {row["url"] for row in rows if row["run"] == runs[-1]["run"]}

    def check_repeats(self, kills, asked, captured):
        """After a kill little is asked for again, and of what the archive had by then nothing."""
        again = [page for page in self.pages_asked() if page in asked]
        self.assertLessEqual(len(again), kills * self.REPEATED_MAX)
        self.assertEqual([page for page in again
                          if page in captured and not page.endswith("/robots.txt")], [])

    def run_and_kill(self, requests, pause, *options):
        """False: it was over before that."""
        process = subprocess.Popen(self.words(*self.seeds, *options), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while len(self.web.requests) < requests and process.poll() is None:
            time.sleep(0.0005)
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait() != 0

    def test_I1_killed_at_any_moment_it_brings_the_same_and_nothing_twice(self):
        self.crawl(*self.seeds, "--dedup", "any")
        requests = len(self.web.requests)
        whole, urls = self.brought(1), self.urls()
        self.assertEqual(len(whole[0]), requests)
        kills = 0
        for seed in range(self.SEEDS):
            dice = random.Random(seed)
            self.archive = self.folder / f"archive-{seed}"
            before_links = ["--dedup-before-links"] if seed % 2 == 1 else []
            options = [*before_links, "--connections", str(self.CONNECTIONS), "--dedup", "any"]
            asked, captured, killed = set(), set(), 0
            for _ in range(dice.randint(1, 3)):
                self.web.forget()
                # Somewhere between two requests, and some of the time after the last one.
                is_killed = self.run_and_kill(dice.randint(0, requests), dice.uniform(0, 0.03),
                                              *options)
                self.check_repeats(killed, asked, captured)
                if not is_killed:
                    break
                killed += 1
                asked.update(self.pages_asked())
                captured = self.captured_so_far()
                if captured is None:
                    asked, captured = set(), set()
            kills += killed
            self.web.forget()
            self.crawl(*self.seeds, *options)
            if is_killed:
                self.check_repeats(killed, asked, captured)
            # Where it was over already, that was a run of its own, with what was known before.
            runs = sorted({row["run"] for row in self.captures()})
            self.assertEqual(self.brought(runs[0]), whole, seed)
            if len(runs) > 1 and not before_links:
                self.assertEqual(self.urls("--run", str(runs[1])), urls, seed)
            self.check_containers()
            if seed % 10 == 0:
                self.stele("verify")
        self.assertGreater(kills, self.SEEDS)


    def test_D4_after_a_kill_the_log_says_what_the_archive_has_also_of_duplicates(self):
        def serve(shift):
            for i in range(200):
                self.web.add("c.test", f"/{i}.png", b"%d" % ((i + shift) % 7), "image/png")

        self.web.add("c.test", "/", "".join(f"<img src=/{i}.png>" for i in range(200)))
        self.seeds = [self.web.url("c.test")]
        for requests in (60, 120, 190):
            self.archive = self.folder / f"archive-{requests}"
            serve(0)
            self.web.forget()
            self.assertTrue(self.run_and_kill(requests, 0.01, "--dedup", "any",
                                              "--dedup-headers", "etag"))
            serve(3)
            self.crawl()
            stored = {row["url"]: row["sha1"] for row in self.captures()}
            logged = {line[3]: line[9] for line in self.log(1)}
            self.assertEqual(logged, {url: f"sha1:{sha1}" for url, sha1 in stored.items()})


class FullDisk(CrawlTest):
    def setUp(self):
        super().setUp()
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk can be made here: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.filler = disk / "filler"
        self.archive = disk / "archive"
        dice = random.Random(11)
        for i in range(24):
            self.web.add(HOST, f"/{i}.png", dice.randbytes(100_000), "image/png")
        self.web.add(HOST, "/0", "".join(f"<img src=/{i}.png>" for i in range(24)))

    def fill(self):
        try:
            with open(self.filler, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOSPC)

    def test_I1_a_full_disk_is_told_and_with_room_it_goes_on_and_nothing_is_lost(self):
        expected = sorted([(f"http://{HOST}/{i}.png", 200) for i in range(24)] +
                          [(f"http://{HOST}/0", 200), (f"http://{HOST}/robots.txt", 404)])
        picture = self.web.pages[HOST, "/7.png"]

        def page(_):
            while (f"http://{HOST}/0", 200) not in self.urls():
                time.sleep(0.01)
            self.fill()
            return picture
        self.web.add(HOST, "/7.png", page)
        self.crawl(self.web.url(HOST, "/0"), "--connections", "1", code=3)
        self.assertRegex(self.said, r"[Nn]o (space|room)|is full")
        self.assertIn("stele crawl goes on with run 1 then, and nothing is lost", self.said)
        self.filler.unlink()
        before = self.urls()
        self.assertIn((f"http://{HOST}/0", 200), before)
        self.assertLess(len(before), len(expected))
        self.web.pages[HOST, "/7.png"] = picture
        self.crawl()
        self.assertIn("Going on with run 1", self.said)
        self.assertEqual(self.urls(), expected)
        self.check_containers()
        self.stele("verify")


if __name__ == "__main__":
    unittest.main()
