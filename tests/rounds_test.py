"""Crawls in rounds: what a crawl does about what it has already, by every rule, and what it says
about it, equals what is computed directly from what was served."""

import base64
import collections
import gzip
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import unittest

from crawl_lab import STELE, CrawlTest

HOST = "site.test"
WWW = "www.site.test"
OLD = "Thu, 01 Feb 2001 10:00:00 GMT"
FUTURE = "Fri, 01 Feb 2030 10:00:00 GMT"
HISTORY = (pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "versions" /
           "openbsd-www.versions.zst")
WARCIO = pathlib.Path(__file__).resolve().parent.parent / "build/peers/bin/warcio"


def links(*urls):
    return "<title>page</title>" + "".join(f'<a href="{url}">x</a>' for url in urls)


def etag_of(body):
    return f'"{hashlib.md5(body).hexdigest()}"'


# ---- Rules ----

class Rules(CrawlTest):
    def setUp(self):
        super().setUp()
        self.web.add(HOST, "/", links("/a", "/b") + "<img src=/x.png>")
        self.web.add(HOST, "/a", links("/deep") + "<p>the page a")
        self.web.add(HOST, "/b", "<p>the page b")
        self.web.add(HOST, "/deep", "<p>deeper")
        self.web.add(HOST, "/x.png", b"\x89PNG" + bytes(500), "image/png")
        self.web.add(HOST, "/robots.txt", "", "text/plain")

    def revisits(self, run):
        return sorted(row["url"].split(str(self.web.port))[1]
                      for row in self.captures("--run", str(run)) if row.get("revisit"))

    def test_D2_off_means_that_everything_is_stored_whole(self):
        self.crawl(self.web.url(HOST), "--dedup", "off")
        self.crawl()  # the job remembers
        self.assertEqual(self.revisits(2), [])
        self.assertIn('dedup = "off"', next(self.archive.glob("crawl/*/job.toml")).read_text()
                      .replace("'", '"'))

    def test_D2_types_and_sizes_are_left_out(self):
        self.crawl(self.web.url(HOST))
        self.crawl("--dedup-mime", "text/.*")
        self.assertEqual(self.revisits(2), ["/x.png"])
        self.crawl("--dedup-mime", "text/.*", "--dedup-whitelist")
        self.assertEqual(self.revisits(3), ["/", "/a", "/b", "/deep"])
        self.crawl("--dedup-min-size", "400")
        self.assertEqual(self.revisits(4), ["/x.png"])

    def test_D2_a_duplicate_at_another_url_counts_only_by_digest(self):
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/", links("/a", "/c"))
        self.web.add(HOST, "/c", "<p>the page b")
        self.crawl()
        self.assertNotIn("/c", self.revisits(2))
        self.web.add(HOST, "/", links("/a", "/d"))
        self.web.add(HOST, "/d", "<p>the page b")
        self.crawl("--dedup", "digest")
        self.assertNotIn("/d", self.revisits(3))
        self.web.add(HOST, "/", links("/a", "/e"))
        self.web.add(HOST, "/e", "<p>the page b")
        self.crawl("--dedup", "any")
        self.assertIn("/e", self.revisits(4))
        body = subprocess.run([STELE, "get", "--archive", self.archive, self.web.url(HOST, "/e")],
                              capture_output=True, check=True)
        self.assertEqual(body.stdout, b"<p>the page b")
        self.check_containers()
        self.stele("verify")

    def test_D2_the_same_bytes_may_be_packed_at_one_url_and_a_file_at_another(self):
        page = b"<p>a page that is sent compressed"
        self.web.add(HOST, "/", links("/x.html.gz", "/x.html", "/y.html", "/y.html.gz"))
        for name in "xy":
            packed = gzip.compress(page + name.encode(), mtime=0)
            self.web.add(HOST, f"/{name}.html.gz", packed, "application/gzip")
            self.web.add(HOST, f"/{name}.html", packed, Content_Encoding="gzip")
        self.crawl(self.web.url(HOST), "--dedup", "any", "--connections", "1")
        self.assertEqual(len(self.revisits(1)), 2)
        for name in "xy":
            for path, body in ((f"/{name}.html", page + name.encode()),
                               (f"/{name}.html.gz", gzip.compress(page + name.encode(), mtime=0))):
                done = subprocess.run([STELE, "get", "--archive", self.archive,
                                       self.web.url(HOST, path)], capture_output=True, check=True)
                self.assertEqual(done.stdout, body, path)

    def test_D2_a_payload_that_this_run_brought_is_an_original_as_soon_as_it_is_durable(self):
        for i in range(40):
            self.web.add(HOST, f"/{i}", links(f"/{i + 1}") + f"<img src=/{i}.png>")
            self.web.add(HOST, f"/{i}.png", b"\x89PNG the same", "image/png")
        self.web.latency = 0.01
        self.crawl(self.web.url(HOST, "/0"), "--dedup", "any", "--connections", "1")
        self.check_one_picture_is_whole()

    def test_D2_of_one_payload_that_comes_many_times_at_once_one_is_stored(self):
        self.web.add(HOST, "/0", "".join(f"<img src=/{i}.png>" for i in range(40)))
        for i in range(40):
            self.web.add(HOST, f"/{i}.png", b"\x89PNG the same", "image/png")
        self.crawl(self.web.url(HOST, "/0"), "--dedup", "any", "--connections", "64")
        self.check_one_picture_is_whole()

    def check_one_picture_is_whole(self):
        pictures = [row for row in self.captures() if row["url"].endswith(".png")]
        whole = [row for row in pictures if not row.get("revisit")]
        self.assertEqual([len(pictures), len(whole)], [40, 1])
        self.stele("verify")

    def test_D2_links_of_duplicates_are_followed_unless_asked_otherwise(self):
        self.crawl(self.web.url(HOST))
        self.web.forget()
        self.crawl()
        self.assertEqual(self.web.asked(HOST)["/deep"], 1)
        self.web.add(HOST, "/", links("/a", "/b", "/new"))  # it changed, so its links count
        self.web.forget()
        self.crawl("--dedup-before-links")
        self.assertEqual(self.web.asked(HOST)["/a"], 1)
        self.assertEqual(self.web.asked(HOST)["/deep"], 0)

    def test_D2_links_of_another_urls_page_lead_elsewhere(self):
        same = links("next")
        self.web.add(HOST, "/", links("/one/", "/two/"))
        for folder in ("/one/", "/two/"):
            self.web.add(HOST, folder, same)
            self.web.add(HOST, folder + "next", folder)
        self.crawl(self.web.url(HOST), "--dedup", "any", "--dedup-before-links",
                   "--connections", "1")
        self.assertTrue({"/one/next", "/two/next"} <= set(self.web.asked(HOST)))

    def test_D2_equivalent_urls_count_unless_asked_otherwise(self):
        self.web.add(WWW, "/a", links() + "<p>the page a")
        self.web.add(HOST, "/", links("/a"))
        self.web.add(HOST, "/a", links() + "<p>the page a")
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/", links(self.web.url(WWW, "/a")))
        self.crawl("--dedup-exact")
        self.assertEqual(self.revisits(2), [])
        self.web.add(WWW, "/a", links() + "<p>the page aa")
        self.web.add(HOST, "/a", links() + "<p>the page aa")
        self.web.add(HOST, "/", links("/a") + "2")
        self.crawl()
        self.web.add(HOST, "/", links(self.web.url(WWW, "/a")) + "3")
        self.crawl()
        self.assertIn("/a", self.revisits(4))

    def test_D2_the_log_says_where_originals_are_kept(self):
        self.crawl(self.web.url(HOST))
        self.crawl("--dedup-origin", "the first, of March")
        lines = (self.run_folder(2) / "crawl.log").read_text().splitlines()
        self.assertEqual(len([line for line in lines
                              if '"RevisitOrigin":"the first, of March"' in line]), 5)

    def test_D2_wrong_options_are_named(self):
        for words, text in ((("--dedup", "often"), "off, url, digest or any"),
                            (("--dedup-mime", "("), "regular expression"),
                            (("--dedup-whitelist",), "whitelist"),
                            (("--dedup-abort",), "--dedup-headers"),
                            (("--dedup-headers", "date"), "timestamp-or-etag"),
                            (("--dedup-min-size", "much"), "--dedup-min-size"),
                            (("--dedup-analyse", "all"), "none, timestamp or etag")):
            self.crawl(self.web.url(HOST), *words, code=2)
            self.assertIn(text, self.said)


# ---- Headers ----

class Headers(CrawlTest):
    """A server that knows what changed, or lies about it."""

    BODY = b"\x89PNG" + bytes(range(256)) * 8

    def setUp(self):
        super().setUp()
        self.bodies = {"/": links("/x.png", "/page").encode(), "/x.png": self.BODY,
                       "/page": links("/leaf").encode(), "/leaf": b"<p>leaf"}
        self.types = {"/x.png": "image/png"}
        self.modified = OLD
        self.etag = '"1"'
        self.asks = {}
        for path in self.bodies:
            self.web.add(HOST, path, self.answer)
        self.web.add(HOST, "/robots.txt", "", "text/plain")

    def answer(self, handler):
        path = handler.path
        since = handler.headers.get("If-Modified-Since")
        match = handler.headers.get("If-None-Match")
        self.asks[path] = (match, since)
        fields = {"Content-Type": self.types.get(path, "text/html")}
        if self.etag:
            fields["ETag"] = self.etag
        if self.modified:
            fields["Last-Modified"] = self.modified
        if (match == self.etag if match else since == self.modified and since):
            return 304, fields, b""
        return 200, fields, self.bodies[path]

    def row(self, run, path):
        (row,) = [row for row in self.captures("--run", str(run))
                  if row["url"] == self.web.url(HOST, path)]
        return row

    def get(self, run, path):
        return subprocess.run([STELE, "get", "--archive", self.archive, "--run", str(run),
                               self.web.url(HOST, path)], capture_output=True, check=True).stdout

    def report_of(self, run):
        return json.loads((self.run_folder(run) / "dedup-report.json").read_text())

    def test_D4_off_by_default(self):
        self.crawl(self.web.url(HOST))
        self.crawl()
        self.assertEqual(set(self.asks.values()), {(None, None)})

    def test_D4_a_server_is_asked_for_changes_as_the_scheme_says(self):
        self.crawl(self.web.url(HOST))
        for run, (scheme, asked) in enumerate(
                (("timestamp", (None, OLD)), ("etag", ('"1"', None)),
                 ("timestamp-and-etag", ('"1"', OLD)), ("timestamp-or-etag", ('"1"', OLD))), 2):
            self.crawl("--dedup-headers", scheme)
            self.assertEqual(self.asks["/x.png"], asked, scheme)
            self.assertEqual(self.asks["/page"], (None, None), scheme)  # it has links
            self.assertTrue(self.row(run, "/x.png")["revisit"])
            self.assertEqual(self.get(run, "/x.png"), self.BODY)
            report = self.report_of(run)
            self.assertEqual((report["notModified"], report["leftOut"]), (1, 0))
        # Where one of both is missing, both cannot say anything.
        self.etag = None
        self.bodies["/x.png"] += b"changed"
        self.crawl()
        self.crawl("--dedup-headers", "timestamp-and-etag")
        self.assertEqual(self.asks["/x.png"], (None, None))
        self.check_containers()
        self.stele("verify")

    def test_D4_what_changed_is_fetched_where_headers_are_right(self):
        self.crawl(self.web.url(HOST))
        self.etag, self.modified = '"2"', FUTURE
        self.bodies["/x.png"] = b"\x89PNG another"
        self.crawl("--dedup-headers", "timestamp-or-etag")
        self.assertFalse(self.row(2, "/x.png").get("revisit"))
        self.assertEqual(self.get(2, "/x.png"), b"\x89PNG another")
        self.bodies["/x.png"] = b"\x89PNG different"
        self.etag = '"3"'
        self.crawl("--dedup-headers", "etag", "--dedup-abort")
        self.assertEqual(self.get(3, "/x.png"), b"\x89PNG different")

    def test_D4_what_changed_is_missed_where_headers_lie(self):
        """The paper lost 4.9 % of the changed documents; that is why it is off by default."""
        self.crawl(self.web.url(HOST))
        self.bodies["/x.png"] = bytes(reversed(self.BODY))
        for run, words in enumerate((["timestamp"], ["etag", "--dedup-abort"]), 2):
            self.crawl("--dedup-headers", *words)
            self.assertEqual(self.get(run, "/x.png"), self.BODY)
        # Unless another header contradicts them.
        self.bodies["/x.png"] = b"\x89PNG short"
        self.crawl("--dedup-headers", "timestamp-or-etag", "--dedup-abort")
        self.assertEqual(self.get(4, "/x.png"), b"\x89PNG short")
        # The analysis says how often it happens.
        self.bodies["/x.png"] = b"\x89PNG shirt"
        self.crawl("--dedup-analyse", "etag")
        for header in ("timestamp", "etag"):
            counts = self.report_of(5)["total"][header]
            self.assertEqual((counts["noChangeFalse"], counts["noChangeCorrect"]), (1, 3))

    def test_D4_text_may_be_left_out_and_its_links_are_followed_nevertheless(self):
        self.crawl(self.web.url(HOST))
        for run, words in enumerate(([], ["--dedup-abort"]), 2):
            self.web.forget()
            out = self.crawl("--dedup-headers", "timestamp", "--dedup-text", *words)
            self.assertEqual(set(self.web.asked(HOST)), {"/", "/x.png", "/page", "/leaf",
                                                         "/robots.txt"})
            report = self.report_of(run)
            self.assertEqual(report["leftOut" if words else "notModified"], 4)
            self.assertIn(f"Run {run}  3 pages, 5 files: 5 identical", out)
            self.assertEqual(self.get(run, "/page"), self.bodies["/page"])
        hosts = (self.run_folder(3) / "hosts-report.txt").read_text().splitlines()[1].split()
        self.assertEqual(hosts[7:10], ["0", "0", "4"])  # by hash, and not modified
        self.check_containers()
        self.stele("verify")
        told = self.stele("changes", "--json", "--all", "--run", "1", "--run", "3").splitlines()
        self.assertEqual({json.loads(line)["state"] for line in told[:-1]}, {"identical"})

    def test_D4_a_304_that_nobody_asked_for_is_no_revisit(self):
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/x.png", b"", status=304)
        self.crawl()
        row = self.row(2, "/x.png")
        self.assertFalse(row.get("revisit"))
        self.assertEqual(row["status"], 304)
        # And what it answered then is nothing to compare with.
        self.web.add(HOST, "/x.png", self.answer)
        self.crawl("--dedup-headers", "timestamp-or-etag")
        self.assertEqual(self.asks["/x.png"], (None, None))

    def test_D4_an_aborted_body_is_not_transferred(self):
        size = 64 << 20
        sent = []

        def serve(listener):
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=speak, args=(connection,), daemon=True).start()

        def speak(connection):
            with connection:
                while data := connection.recv(65536):
                    path = data.split()[1]
                    body = b"" if path == b"/robots.txt" else bytes(size)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n"
                                       b"Last-Modified: " + OLD.encode() + b"\r\n"
                                       b"Content-Length: %d\r\n\r\n" % len(body))
                    count = 0
                    try:
                        while count < len(body):
                            count += connection.send(body[count:count + 65536])
                    except OSError:
                        pass
                    if body:
                        sent.append(count)
                    if count < len(body):
                        return
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        # A thread that is left in accept() would take connections of the next test, whose listener
        # gets the number of this one.
        self.addCleanup(listener.close)
        self.addCleanup(thread.join)
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/film"
        self.crawl(url)
        self.crawl("--dedup-headers", "timestamp", "--dedup-abort")
        self.assertEqual(sent[0], size)
        self.assertLess(sent[1], size // 2)
        (row,) = [row for row in self.captures("--run", "2") if row["url"] == url]
        self.assertTrue(row["revisit"])
        self.check_containers()


# ---- Originals elsewhere ----

class Elsewhere(CrawlTest):
    def setUp(self):
        super().setUp()
        self.web.add(HOST, "/", links("/a") + "<img src=/x.png>")
        self.web.add(HOST, "/a", "<p>the page a")
        self.web.add(HOST, "/x.png", b"\x89PNG picture", "image/png")
        self.web.add(HOST, "/robots.txt", "", "text/plain")
        self.first = self.archive
        self.crawl(self.web.url(HOST))
        self.index = self.folder / "first.index"
        self.build("--by", "both", "--origin", "first archive")
        self.archive = self.folder / "second"

    def build(self, *options):
        subprocess.run([STELE, "dedup", "index", "--force", "--output", self.index, *options,
                        *sorted(self.first.glob("volumes/**/*.warc.gz"))], check=True,
                       capture_output=True)

    def test_D6_originals_may_be_elsewhere_and_the_archive_says_so(self):
        self.crawl(self.web.url(HOST), "--dedup-index", self.index)
        rows = self.captures()
        self.assertEqual(len([row for row in rows if row.get("revisit")]), 3)
        log = (self.run_folder(1) / "crawl.log").read_text()
        self.assertEqual(log.count('"RevisitOrigin":"first archive"'), 3)
        self.assertIn("run 1 may repeat originals that are kept elsewhere: "
                      f"{self.index}, 4 documents", self.stele("verify"))
        self.assertIn("run 1 may repeat originals that are kept elsewhere", self.stele("info"))
        (told,) = json.loads(self.stele("info", "--json"))["dependencies"]
        self.assertEqual((told["run"], told["documents"]), (1, 4))
        self.assertEqual(told["sha256"], hashlib.sha256(self.index.read_bytes()).hexdigest())
        told = [json.loads(line) for line in self.stele("verify", "--json").splitlines()]
        self.assertEqual(told[0]["dependency"]["run"], 1)
        # Together they are whole.
        both = self.folder / "both"
        files = [*self.first.glob("volumes/**/*.warc.gz"), *self.containers()]
        subprocess.run([STELE, "import", "--quiet", "--archive", both, *files], check=True,
                       capture_output=True)
        body = subprocess.run([STELE, "get", "--archive", both, self.web.url(HOST, "/x.png")],
                              capture_output=True, check=True)
        self.assertEqual(body.stdout, b"\x89PNG picture")
        self.check_containers()
        # Without the index what is not here is stored.
        self.crawl("--dedup", "url")
        self.assertEqual(len([row for row in self.captures("--run", "2")
                              if row.get("revisit")]), 3)  # the job knows the index

    def test_D6_an_index_by_digest_serves_who_looks_for_digests(self):
        self.build("--by", "digest")
        self.web.add(HOST, "/", links("/a", "/b") + "<img src=/x.png>")
        self.web.add(HOST, "/b", "<p>the page a")
        self.crawl(self.web.url(HOST), "--dedup", "any", "--dedup-index", self.index)
        revisits = {row["url"].split(str(self.web.port))[1]
                    for row in self.captures() if row.get("revisit")}
        self.assertEqual(revisits, {"/a", "/b", "/x.png"})
        found = json.loads((self.run_folder(1) / "dedup-report.json").read_text())["total"]
        self.assertEqual([found[name] for name in ("exact", "mirrors", "new")], [2, 1, 1])

    def test_D6_without_the_index_nothing_refers_elsewhere(self):
        self.crawl(self.web.url(HOST), "--dedup-index", self.index)
        job = next(self.archive.glob("crawl/*/job.toml"))
        job.write_text("".join(line for line in job.read_text().splitlines(True)
                               if not line.startswith("dedup_index")))
        self.crawl()
        self.assertFalse([row for row in self.captures("--run", "2") if row.get("revisit")])
        self.assertNotIn("run 2 may", self.stele("verify"))

    def test_D6_an_index_that_cannot_be_asked_is_refused_before_anything_begins(self):
        self.web.forget()
        none, garbage = self.folder / "none.index", self.folder / "garbage.index"
        garbage.write_bytes(b"no index" * 1000)
        for index in (none, garbage):
            self.crawl(self.web.url(HOST), "--dedup-index", index, code=3)
            self.assertIn(str(index), self.said)
        self.build("--by", "digest")
        self.crawl(self.web.url(HOST), "--dedup-index", self.index, code=2)
        self.assertIn("build it with", self.said)
        self.build("--by", "url")
        self.crawl(self.web.url(HOST), "--dedup-index", self.index, "--dedup", "any", code=2)
        self.assertIn("cannot be asked by digest", self.said)
        self.assertFalse(self.archive.exists())
        # Nor does a run begin where there is an archive.
        self.archive = self.first
        self.crawl("--dedup-index", garbage, code=3)
        self.assertFalse(self.web.requests)
        self.assertIn("Run 2 ", self.crawl())


# ---- Rounds ----

class Page:
    def __init__(self, content, mime="text/plain", modified=None, etag=None):
        self.content, self.mime, self.modified, self.etag = content, mime, modified, etag

    def fields(self):
        fields = {}
        if self.modified:
            fields["Last_Modified"] = self.modified
        if self.etag:
            fields["ETag"] = self.etag
        return fields


def expected(rounds, state, by):
    """The counts of a report: `state` is what is crawled now, `rounds` were before. Of both: URL ->
    Page. URLs with and without www. are equivalent."""
    counts = dict.fromkeys(("handled", "bytes", "duplicates", "duplicateBytes", "new", "exact",
                            "equivalent", "mirrors"), 0)
    predictions = {name: dict.fromkeys(("changeCorrect", "changeFalse", "noChangeCorrect",
                                        "noChangeFalse", "missing", "total"), 0)
                   for name in ("timestamp", "etag")}
    for url, page in state.items():
        if not page.content:
            continue
        counts["handled"] += 1
        counts["bytes"] += len(page.content)
        earlier = [(there, seen[there]) for seen in rounds for there in seen]
        same = {there for there, known in earlier if known.content == page.content}
        plain = {there.replace("www.", "") for there in same}
        hit = ("exact" if url in same else
               "equivalent" if url.replace("www.", "") in plain else
               "mirrors" if same and by != "url" else None)
        is_duplicate = hit in ("exact", "equivalent") or (hit and by == "any")
        counts["new"] += not hit
        counts["duplicates"] += bool(is_duplicate)
        counts["duplicateBytes"] += len(page.content) if is_duplicate else 0
        if hit:
            counts[hit] += 1
        last = [seen[url] for seen in rounds if url in seen]
        if not last:
            continue
        changed = last[-1].content != page.content
        says = {"timestamp": page.modified and page.modified == FUTURE,
                "etag": page.etag != last[-1].etag if page.etag and last[-1].etag else None}
        for name, says_changed in says.items():
            category = ("missing" if says_changed is None else
                        ("change" if says_changed else "noChange") +
                        ("Correct" if says_changed == changed else "False"))
            predictions[name][category] += 1
            predictions[name]["total"] += 1
    return {**counts, **predictions}


def missing(host, path):
    """What is said where there is no page, nowhere else the same."""
    return f"{host} has no {path}".encode()


class Rounds(CrawlTest):
    """A site is served as it was in each of some years, and crawled."""

    def serve(self, state):
        """`state` is (host, path) -> Page; a sitemap has all. Returns what will be fetched."""
        self.web.pages.clear()
        urls = [self.web.url(*where) for where in state]
        everything = {
            **state,
            (HOST, "/"): Page(b"begin", "text/html"),
            (HOST, "/robots.txt"): Page(b"Sitemap: /map.xml\n"),
            (HOST, "/map.xml"): Page(("<urlset>" + "".join(
                f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>").encode(),
                "application/xml")}
        if any(host == WWW for host, _ in state):
            everything[WWW, "/robots.txt"] = Page(b"User-agent: *\n")
        for (host, path), page in everything.items():
            self.web.add(host, path, page.content, page.mime, **page.fields())
        for host in self.web.addresses:
            self.web.add(host, "*", lambda handler, host=host: (
                404, {}, missing(host, handler.path)))
        return {self.web.url(*where): page for where, page in everything.items()}

    def crawl_rounds(self, states, by):
        self.archive = self.folder / f"by-{by}"
        rounds, totals = [], []
        for number, state in enumerate(states, 1):
            served = self.serve(state)
            self.web.forget()
            self.crawl(self.web.url(HOST), "--dedup", by, "--dedup-analyse", "etag")
            for host, path, _, _ in self.web.requests:
                served.setdefault(self.web.url(host, path), Page(missing(host, path)))
            rows = self.captures("--run", str(number))
            self.assertEqual({row["url"] for row in rows}, set(served))
            found = json.loads((self.run_folder(number) / "dedup-report.json").read_text())
            self.assertEqual(found["total"], expected(rounds, served, by), f"{by}, {number}")
            self.assertEqual(len([row for row in rows if row.get("revisit")]),
                             found["total"]["duplicates"])
            rounds.append(served)
            totals.append(found["total"])
        self.stele("verify", "--quick")
        return totals

    def made_up(self):
        """Four years: pages that stay, change, come back, move, and tell right or wrong things."""
        states = []
        for year in range(4):
            state = {}
            for i in range(24):
                body = f"page {i} "
                if i % 3 == 0:
                    body += f"of {year}"  # changes
                elif i % 3 == 1:
                    body += f"of {year // 2}"
                if i % 8 == 5 and year == 1:
                    continue  # is gone for a year
                if i % 8 == 6:
                    body = f"page {i} of {'odd' if year % 2 else 'even'} years"
                path = f"/{i}" + (f"/{year}" if i % 8 == 7 else "")  # moves
                content = body.encode()
                state[WWW if i % 6 == 2 and year > 1 else HOST, path] = Page(
                    content, "image/gif" if i % 4 == 0 else "text/plain",
                    {0: None, 1: FUTURE}.get(i % 5, OLD),
                    {0: None, 1: '"always the same"'}.get(i % 7, etag_of(content)))
            states.append(state)
        return states

    def test_D5_a_made_up_history_is_reported_as_computed_by_every_rule(self):
        self.web.listen(HOST)
        self.web.listen(WWW)
        sums = {}
        for by in ("url", "digest", "any"):
            for total in self.crawl_rounds(self.made_up(), by):
                for name, count in [*total.items(), *total["timestamp"].items(),
                                    *total["etag"].items()]:
                    sums[name] = sums.get(name, 0) + (count if isinstance(count, int) else 0)
        # Each thing that is counted was there to be counted.
        self.assertEqual([name for name, count in sums.items()
                          if count == 0 and name not in ("timestamp", "etag")], [])

    def test_D4_a_made_up_history_is_left_out_as_computed_by_every_scheme(self):
        self.web.listen(HOST)
        self.web.listen(WWW)
        for scheme, unchanged in (("timestamp", lambda time, tag: time),
                                  ("etag", lambda time, tag: tag),
                                  ("timestamp-and-etag", lambda time, tag: time and tag),
                                  ("timestamp-or-etag", lambda time, tag: time or tag)):
            self.archive = self.folder / scheme
            archived, missed = {}, 0  # by URL, the content and the tag that the archive has
            for run, state in enumerate(self.made_up(), 1):
                left_out = 0
                served = self.serve(state)
                self.crawl(self.web.url(HOST), "--dedup-exact", "--dedup-headers", scheme,
                           "--dedup-text", "--dedup-abort")
                for url, page in served.items():
                    content, tag = archived.get(url, (None, None))
                    is_kept = (content is not None and len(content) == len(page.content) and
                               unchanged(page.modified == OLD, page.etag and page.etag == tag))
                    left_out += bool(is_kept)
                    missed += bool(is_kept and content != page.content)
                    archived[url] = (content if is_kept else page.content, page.etag)
                found = json.loads((self.run_folder(run) / "dedup-report.json").read_text())
                self.assertEqual(found["leftOut"], left_out, f"{scheme}, {run}")
                for url in (self.web.url(*where) for where in state):
                    got = subprocess.run([STELE, "get", "--archive", self.archive, url],
                                         capture_output=True, check=True).stdout
                    self.assertEqual(got, archived[url][0], f"{scheme}, {run}, {url}")
            # Headers lie there, one at a time.
            self.assertEqual(missed > 0, scheme != "timestamp-and-etag", scheme)

    YEARS = (1999, 2002, 2004, 2005, 2008, 2011, 2013, 2014, 2019, 2026)

    def history(self):
        """Pages with their links as they were in each year. Of some a mirror, and of some the other
        name of their host, has what they were the year before, as text."""
        pages = first_pages(14)
        states = []
        for year in self.YEARS:
            moment = (year - 1970) * 31556952
            state = {}
            for i, (path, versions) in enumerate(pages.items()):
                seen = [version for version in versions if version[0] <= moment]
                if not seen or not seen[-1][1]:
                    continue
                # Links stay on the site, and none has arguments.
                content = seen[-1][1].replace(b"://", b"/").replace(b"?", b"-")
                state[HOST, "/" + path] = Page(content, "text/html", OLD, etag_of(content))
                before = states[-1].get((HOST, "/" + path)) if states else None
                if before and i % 3 > 0:
                    mirror = (HOST, "/mirror/" + path) if i % 3 == 1 else (WWW, "/" + path)
                    state[mirror] = Page(before.content, "text/plain", OLD, before.etag)
            states.append(state)
        return states

    @unittest.skipUnless(HISTORY.is_file(), f"the history of a site is not here: {HISTORY}")
    @unittest.skipUnless(shutil.which("zstd"), "the program zstd is not here")
    def test_D5_a_site_of_thirty_years_is_reported_as_computed_by_every_rule(self):
        self.web.listen(HOST)
        self.web.listen(WWW)
        states = self.history()
        for by in ("url", "digest", "any"):
            totals = self.crawl_rounds(states, by)
            sums = {name: sum(total[name] for total in totals)
                    for name in ("exact", "equivalent", "mirrors", "new")}
            # Each thing that is counted was there to be counted.
            self.assertGreater(sums["exact"], 1000)
            self.assertGreater(sums["new"], 300)
            self.assertGreater(sums["equivalent"], 5)
            self.assertEqual(sums["mirrors"] > 5, by != "url", sums)
            self.assertGreater(sum(total["timestamp"]["noChangeFalse"] for total in totals), 20)


def first_pages(count):
    """Path -> [(time, bytes or None)] of some pages, no two of which were ever the same."""
    pages, contents = {}, set()
    with subprocess.Popen(["zstd", "-dc", "--long=27", HISTORY], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, bufsize=1 << 20) as zstd:
        records = itertools.takewhile(bool, iter(zstd.stdout.readline, b""))
        for line in records:
            path, time, size = line.rstrip(b"\n").split(b"\t")
            if path.decode() not in pages and len(pages) == count:
                break
            content = None
            if size != b"-":
                content = zstd.stdout.read(int(size))
                zstd.stdout.read(1)
            pages.setdefault(path.decode(), []).append((int(time), content))
        zstd.kill()
    chosen = {}
    for path, versions in pages.items():
        own = {content for _, content in versions if content}
        if own & contents or any(c in path for c in " ?#%"):
            continue
        contents |= own
        chosen[path] = versions
    return chosen


# ---- What is written ----

class Written(CrawlTest):
    def setUp(self):
        super().setUp()
        self.number = 0

    def token_page(self, handler):
        self.number += 1
        token = hashlib.sha256(str(self.number).encode()).hexdigest()
        body = (f"<!-- made by {token} --><meta name=csrf content={token}>"
                f"<script>var token = '{token}';</script><p>Text that stays"
                f"<form><input type=hidden name=token value={token}></form>"
                f"<a href=/next?session=1>x</a>")
        return 200, {"Content-Type": "text/html"}, body.encode()

    def test_W15_a_random_token_in_each_page_is_no_change_of_text(self):
        for path in ("/", "/next"):
            self.web.add(HOST, path, self.token_page)
        self.web.add(HOST, "/robots.txt", "", "text/plain")
        self.crawl(self.web.url(HOST))
        out = self.crawl()
        self.assertRegex(out, r": 1 identical, 2 same text, 0 texts changed, 0 new, 0 gone\.")
        told = self.stele("changes", "--json", "--all", "--run", "1", "--run", "2").splitlines()
        self.assertEqual({json.loads(line)["state"] for line in told[:-1]
                          if "robots" not in line}, {"same-text"})

    def make_crawls(self):
        def answer(handler):
            if handler.headers.get("If-None-Match") == '"d"':
                return 304, {}, b""
            return 200, {"Content-Type": "text/html", "ETag": '"d"'}, b"<p>the page d"
        self.web.add(HOST, "/", links("/a", "/b", "/c", "/d") + "<img src=/x.png>")
        self.web.add(HOST, "/d", answer)
        for name in "abc":
            self.web.add(HOST, f"/{name}", f"<p>the page {name}", ETag=f'"{name}"',
                         Last_Modified=OLD)
        self.web.add(HOST, "/x.png", b"\x89PNG" + bytes(300), "image/png", ETag='"x"')
        self.crawl(self.web.url(HOST))
        self.web.add(HOST, "/b", "<p>the page b is another", ETag='"b2"')
        self.crawl()
        self.crawl("--dedup-headers", "etag", "--dedup-abort")
        self.crawl("--dedup-headers", "etag", "--dedup-text")

    def test_D1_logs_containers_and_archive_give_the_same_index(self):
        self.make_crawls()
        self.web.add(HOST, "/", links("/a", "/b", "/c", "/d", "/copy", "/moved", "/none")
                     + "<img src=/x.png>")
        self.web.add(HOST, "/copy", "<p>the page a")
        self.web.add(HOST, "/moved", "moved", status=302, Location="/a")
        for by in ("any", "any", "digest"):
            self.crawl("--dedup", by)
        sources = {"logs": sorted(self.archive.glob("crawl/*/run-*/crawl.log")),
                   "containers": self.containers(), "archive": [self.archive]}
        urls = sorted({row["url"] for row in self.captures()})
        for words, count in ((["--etag", "--equivalent", "surt"], 9), (["--any-status"], 12),
                             (["--skip-duplicates", "--origin", "here"], 8),
                             (["--mime", "image/.*", "--no-timestamp"], 8)):
            told = {name: self.index_of(files, words, urls) for name, files in sources.items()}
            self.assertEqual(told["logs"], told["containers"], words)
            self.assertEqual(told["logs"], told["archive"], words)
            self.assertEqual(len(told["logs"][2:]), count, words)

    def index_of(self, files, words, urls):
        """The counts, and what is known of each URL."""
        index = self.folder / "some.index"
        built = subprocess.run([STELE, "dedup", "index", "--force", "--json", "--output", index,
                                *words, *files], check=True, capture_output=True)
        info = subprocess.run([STELE, "dedup", "info", "--json", index], check=True,
                              capture_output=True)
        known = [built.stdout, info.stdout]
        for url in urls:
            lines = subprocess.run([STELE, "dedup", "lookup", "--json", index, url], check=False,
                                   capture_output=True).stdout.splitlines()
            for line in map(json.loads, lines):
                line.pop("recordId", None)  # which a log does not have
                known.append((url, line))
        return known

    def test_D6_each_revisit_names_an_original_that_lies_before_it(self):
        """By URL, date and record id: a response with the payload, which is not empty."""
        self.make_crawls()
        self.web.add(HOST, "/", links("/a", "/b", "/d", "/copy", "/none") + "<img src=/x.png>")
        self.web.add(HOST, "/copy", "<p>the page a")
        self.web.add(HOST, "/none", "")
        for _ in range(2):
            self.crawl("--dedup", "any")
        originals, revisits = {}, collections.Counter()
        for fields, block in self.records():
            if fields["WARC-Type"] == "response":
                payload = block.partition(b"\r\n\r\n")[2]
                originals[fields["WARC-Record-ID"]] = (fields, payload)
            if fields["WARC-Type"] != "revisit":
                continue
            original, payload = originals[fields["WARC-Refers-To"]]
            self.assertEqual([fields["WARC-Refers-To-Target-URI"], fields["WARC-Refers-To-Date"]],
                             [original["WARC-Target-URI"], original["WARC-Date"]])
            sha1 = base64.b32encode(hashlib.sha1(payload).digest()).decode()
            self.assertEqual(fields["WARC-Payload-Digest"], f"sha1:{sha1}")
            self.assertTrue(payload)
            kind = fields["WARC-Profile"].rpartition("/")[2]
            is_same = fields["WARC-Target-URI"] == original["WARC-Target-URI"]
            revisits[kind, is_same, bool(block)] += 1
        # With a head, but that of a 304, and of the same URL, but with --dedup any.
        self.assertEqual(set(revisits), {("identical-payload-digest", True, True),
                                         ("identical-payload-digest", False, True),
                                         ("server-not-modified", True, True),
                                         ("server-not-modified", True, False)})

    def test_D6_containers_of_crawls_have_no_defects(self):
        self.make_crawls()
        self.check_containers()
        self.stele("verify")

    @unittest.skipUnless(os.access(WARCIO, os.X_OK),
                         "the peer warcio is not installed (bench/peers.py installs it)")
    def test_D6_warcio_finds_no_defects_either(self):
        self.make_crawls()
        for path in self.containers():
            done = subprocess.run([WARCIO, "check", path], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
