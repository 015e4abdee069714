#!/usr/bin/env python3
"""Duplicates across crawls of a site with thirty years of history: what the reports count equals
what is computed directly from the history. Skips where the history is not present."""

import base64
import calendar
import email.utils
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zlib

from archive_lab import STELE
from versions_test import HISTORY, SITE, YEARLY_PART, digits, history, iso

YEARS = range(1998, 2026, 3)


def crc(path):
    return zlib.crc32(path.encode())


class Page:
    """A page as a crawl saw it. Some servers tell wrong dates, some none; some URLs change."""

    def __init__(self, path, year, time, content):
        self.content = content
        # Some have a new address in each crawl.
        self.plain_url = SITE + (f"{year}/" if crc(path) % 13 == 3 else "") + path
        self.url = self.plain_url + (f"?year={year}" if crc(path) % 5 == 0 else "")
        self.type = "image/gif" if crc(path) % 3 == 0 else "text/html"
        self.etag = f'"{hashlib.md5(content).hexdigest()}"' if crc(path) % 2 else None
        self.modified = {0: None, 1: 0, 2: calendar.timegm((2030, 1, 1, 0, 0, 0))}.get(
            crc(path) % 11, time)

    def head(self):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.type}\r\n"
        if self.etag:
            head += f"ETag: {self.etag}\r\n"
        if self.modified is not None:
            head += f"Last-Modified: {email.utils.formatdate(self.modified, usegmt=True)}\r\n"
        return head.encode() + b"\r\n"


class Crawl:
    def __init__(self, year):
        self.moment = calendar.timegm((year, 1, 1, 0, 0, 0))
        self.pages = []
        for path, versions in sorted(history().items()):
            seen = [version for version in versions if version[0] <= self.moment]
            if seen and seen[-1][1] and crc(path) % YEARLY_PART == 0:
                self.pages.append(Page(path, year, *seen[-1]))

    def write(self, folder):
        self.warc, self.log = folder / f"{self.moment}.warc", folder / f"{self.moment}.log"
        with open(self.warc, "wb") as warc, open(self.log, "w", encoding="utf-8") as log:
            for page in self.pages:
                sha1 = base64.b32encode(hashlib.sha1(page.content).digest()).decode()
                block = page.head() + page.content
                identity = hashlib.md5(f"{page.url} {self.moment}".encode()).hexdigest()
                warc.write((f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {page.url}\r\n"
                            f"WARC-Date: {iso(self.moment)}\r\n"
                            f"WARC-Record-ID: <urn:uuid:{identity}>\r\n"
                            f"WARC-Payload-Digest: sha1:{sha1}\r\n"
                            f"Content-Type: application/http; msgtype=response\r\n"
                            f"Content-Length: {len(block)}\r\n\r\n").encode() + block + b"\r\n\r\n")
                extra = {}
                if page.etag:
                    extra["etag"] = page.etag
                if page.modified is not None:
                    extra["lastModified"] = email.utils.formatdate(page.modified, usegmt=True)
                log.write(f"{iso(self.moment)[:-1]}.000Z   200 {len(page.content):>10} {page.url} "
                          f"L {SITE} {page.type} #001 {digits(self.moment)}000+1 sha1:{sha1} - - "
                          f"{json.dumps(extra)}\n")

    def write_arc(self, folder):
        def record(url, mime, block):
            head = f"{url} 127.0.0.1 {digits(self.moment)} {mime} {len(block)}\n"
            return head.encode() + block + b"\n"

        path = folder / f"{self.moment}.arc"
        fields = b"1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
        path.write_bytes(record(f"filedesc://{path.name}", "text/plain", fields)
                         + b"".join(record(page.url, page.type, page.head() + page.content)
                                    for page in self.pages))
        return path


def expected(before, after, by, wanted=lambda page: True, try_equivalent=True):
    """The counts of a report, computed from the pages of both crawls."""
    counts = dict.fromkeys(("handled", "bytes", "duplicates", "duplicateBytes", "new", "exact",
                            "equivalent", "mirrors"), 0)
    predictions = {name: dict.fromkeys(("changeCorrect", "changeFalse", "noChangeCorrect",
                                        "noChangeFalse", "missing", "total"), 0)
                   for name in ("timestamp", "etag")}
    by_url = {page.url: page for page in before.pages}
    equivalents = {(page.plain_url, page.content) for page in before.pages}
    contents = {page.content for page in before.pages}
    for page in filter(wanted, after.pages):
        counts["handled"] += 1
        counts["bytes"] += len(page.content)
        known = by_url.get(page.url)
        if known and known.content == page.content:
            hit = "exact"
        elif try_equivalent and (page.plain_url, page.content) in equivalents:
            hit = "equivalent"
        else:
            hit = "mirrors" if by != "url" and page.content in contents else None
        if hit:
            counts[hit] += 1
        is_duplicate = hit in ("exact", "equivalent") or (hit == "mirrors" and by == "any")
        counts["new"] += not hit
        counts["duplicates"] += is_duplicate
        counts["duplicateBytes"] += len(page.content) if is_duplicate else 0
        if known:
            changed = known.content != page.content
            says = {"timestamp": None if page.modified is None else page.modified >= before.moment,
                    "etag": None if not page.etag or not known.etag else page.etag != known.etag}
            for name, says_changed in says.items():
                category = ("missing" if says_changed is None else
                            ("change" if says_changed else "noChange") +
                            ("Correct" if says_changed == changed else "False"))
                predictions[name][category] += 1
                predictions[name]["total"] += 1
    return {**counts, **predictions}


@unittest.skipUnless(HISTORY.is_file(), f"the history of a site is not here: {HISTORY}")
@unittest.skipUnless(shutil.which("zstd"), "the program zstd is not here")
class Duplicates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="stele-dedup-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.crawls = [Crawl(year) for year in YEARS]
        for crawl in cls.crawls:
            crawl.write(cls.folder)

    def stele(self, *arguments):
        done = subprocess.run([STELE, *map(str, arguments)], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def build(self, source, *options):
        index = self.folder / "index"
        self.stele("dedup", "index", "--force", "--output", index, "--etag", "--equivalent",
                   "strip", *options, source)
        return index

    def report(self, index, source, *options):
        return json.loads(self.stele("dedup", "report", "--json", "--equivalent", "--analyse",
                                     "etag", "--index", index, *options, source))["total"]

    def test_D5_reports_equal_a_direct_computation(self):
        sums = {}
        for before, after in zip(self.crawls, self.crawls[1:]):
            index = self.build(before.warc)
            for by in ("url", "digest", "any"):
                found = self.report(index, after.warc, "--by", by)
                self.assertEqual(found, expected(before, after, by), f"{after.moment} by {by}")
                for name, count in [*found.items(), *found["timestamp"].items()]:
                    sums[name] = sums.get(name, 0) + (count if isinstance(count, int) else 0)
        # Each thing that is counted was there to be counted.
        self.assertEqual([name for name, count in sums.items()
                          if count == 0 and name not in ("timestamp", "etag")], [])

    def test_D1_an_index_by_digest_is_enough_to_look_digests_up(self):
        index = self.folder / "by-digest"
        before, after = self.crawls[-2:]
        self.stele("dedup", "index", "--output", index, "--by", "digest", before.warc)
        for by in ("digest", "any"):
            found = json.loads(self.stele("dedup", "report", "--json", "--by", by, "--index", index,
                                          after.warc))["total"]
            direct = expected(before, after, by, try_equivalent=False)
            for name in ("handled", "duplicates", "bytes", "duplicateBytes", "new", "exact",
                         "equivalent", "mirrors"):
                self.assertEqual(found[name], direct[name], f"{name} by {by}")
            self.assertGreater(found["mirrors"], 0)

    def test_D1_what_is_added_is_seen_again_unless_nobody_wants_to_know(self):
        first, last = self.crawls[-2:]
        (url, content) = next((page.url, page.content) for page in first.pages
                              if any(page.url == later.url and page.content == later.content
                                     for later in last.pages))
        index = self.folder / "added"
        for words, seen in (([], last), (["--no-timestamp"], first)):
            self.stele("dedup", "index", "--force", "--output", index, *words, first.log)
            before = index.read_bytes()
            refused = subprocess.run([STELE, "dedup", "index", "--output", index, last.log],
                                     capture_output=True, check=False)
            self.assertEqual((refused.returncode, index.read_bytes()), (2, before))
            self.stele("dedup", "index", "--add", "--output", index, *words, last.log)
            documents = {(page.url, page.content) for page in first.pages + last.pages}
            info = json.loads(self.stele("dedup", "info", "--json", index))
            self.assertEqual(info["documents"], len(documents))
            found = [json.loads(line) for line in
                     self.stele("dedup", "lookup", "--json", index, url).splitlines()]
            sha1 = base64.b32encode(hashlib.sha1(content).digest()).decode()
            (known,) = [row for row in found if row["digest"] == f"sha1:{sha1}"]
            self.assertEqual([known["time"], known["seen"]],
                             [iso(crawl.moment)[:-1] + ".000Z" for crawl in (first, seen)])

    def test_D5_a_report_has_what_was_asked_for(self):
        before, after = self.crawls[-2:]
        index = self.build(before.log)
        log = self.folder / "errors.log"
        log.write_text(after.log.read_text() + after.log.read_text().replace(
            "   200 ", "   404 ").replace(SITE, "http://other.org/"), encoding="utf-8")
        small = expected(before, after, "url", lambda page: len(page.content) >= 5000)
        whole = expected(before, after, "url")
        self.assertEqual(self.report(index, log, "--min-size", 5000), small)
        self.assertEqual(self.report(index, log), whole)
        self.assertEqual(self.report(index, log, "--any-status")["handled"], 2 * whole["handled"])
        told = self.stele("dedup", "report", "--json", "--equivalent", "--analyse", "etag",
                          "--hosts", "--any-status", "--index", index, log)
        hosts = json.loads(told)["hosts"]
        self.assertEqual(hosts[SITE.split("/")[2]], whole)
        self.assertEqual(hosts["other.org"]["new"], whole["handled"])
        self.assertNotIn("hosts", json.loads(self.stele("dedup", "report", "--json", "--index",
                                                        index, log)))

    def test_D1_a_url_is_looked_up_as_it_is_and_as_crawlers_write_it(self):
        index = self.build(self.crawls[0].warc)
        url = self.crawls[0].pages[0].url
        found = self.stele("dedup", "lookup", index, url)
        self.assertIn(url, found)
        self.assertEqual(self.stele("dedup", "lookup", index, url.replace("http:", "HTTP:")), found)

    def test_D3_what_an_index_cannot_tell_is_said_before_it_is_asked(self):
        index, log = self.folder / "little", self.crawls[0].log
        for by, words, text in (
                ("digest", ["--by", "url"], "cannot be asked by URL"),
                ("digest", ["--by", "any", "--analyse", "timestamp"], "cannot be asked by URL"),
                ("url", ["--by", "digest"], "cannot be asked by digest"),
                ("url", ["--analyse", "etag"], "no entity tags"),
                ("url", ["--by", "host"], "--by takes url, digest or any, not host"),
                ("url", ["--analyse", "all"], "takes none, timestamp or etag, not all")):
            self.stele("dedup", "index", "--force", "--output", index, "--by", by, log)
            done = subprocess.run([STELE, "dedup", "report", "--index", index, *words, log],
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(text, done.stderr.decode())

    def test_D1_a_crawl_log_is_worth_its_warc_file(self):
        for before, after in zip(self.crawls[::3], self.crawls[1::3]):
            by_log, by_warc = [self.report(self.build(source), after_source)
                               for source, after_source in ((before.log, after.log),
                                                            (before.warc, after.warc))]
            self.assertEqual(by_log, by_warc)
            self.assertEqual(by_log, expected(before, after, "url"))

    def test_D1_an_arc_file_is_worth_its_warc_file(self):
        before, after = self.crawls[0], self.crawls[1]
        self.assertEqual(self.report(self.build(before.write_arc(self.folder)), after.warc),
                         expected(before, after, "url"))

    def test_D2_types_can_be_left_out(self):
        before, after = self.crawls[-2:]
        index = self.build(before.warc, "--mime", "^text/.*")
        found = self.report(index, after.warc, "--mime", "^text/.*")
        self.assertEqual(found, expected(before, after, "url",
                                         lambda page: page.type == "image/gif"))

    def test_D2_an_archive_is_its_own_index(self):
        before, after = self.crawls[-2:]
        archive = self.folder / "archive"
        self.stele("import", "--quiet", "--archive", archive, before.warc)
        counts = json.loads(self.stele("dedup", "report", "--json", "--archive", archive,
                                       "--analyse", "etag", after.warc))["total"]
        direct = expected(before, after, "url")
        self.assertEqual(counts["exact"], direct["exact"])
        self.assertEqual(counts["timestamp"], direct["timestamp"])
        self.assertEqual(counts["etag"], direct["etag"])
        self.assertEqual(counts["new"], direct["new"] + direct["equivalent"])

    def test_D5_revisits_of_a_warc_file_are_handled_and_duplicates(self):
        before = self.crawls[-1]
        page = before.pages[0]
        sha1 = base64.b32encode(hashlib.sha1(page.content).digest()).decode()
        head = (f"HTTP/1.1 200 OK\r\nContent-Type: {page.type}\r\n"
                f"Content-Length: {len(page.content)}\r\n\r\n").encode()
        path = self.folder / "revisit.warc"
        path.write_bytes((f"WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Target-URI: {page.url}\r\n"
                          f"WARC-Date: 2030-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
                          "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                          "identical-payload-digest\r\n"
                          f"WARC-Refers-To-Target-URI: {page.url}\r\n"
                          f"WARC-Refers-To-Date: {iso(before.moment)}\r\n"
                          f"WARC-Payload-Digest: sha1:{sha1}\r\n"
                          "Content-Type: application/http; msgtype=response\r\n"
                          f"Content-Length: {len(head)}\r\n\r\n").encode() + head +
                         b"\r\n\r\n")
        counts = self.report(self.build(before.warc), path)
        self.assertEqual((counts["handled"], counts["duplicates"], counts["bytes"]),
                         (1, 1, len(page.content)))
        # And it has a size that an index may ask for.
        for size, documents in ((len(page.content), 1), (len(page.content) + 1, 0)):
            out = self.stele("dedup", "index", "--force", "--json", "--output",
                             self.folder / "sizes", "--min-size", size, path)
            self.assertEqual(json.loads(out)["indexed"], documents)

    def test_D1_a_directory_that_is_no_archive_is_told(self):
        done = subprocess.run([STELE, "dedup", "index", "--output", self.folder / "none",
                               self.folder], capture_output=True, check=False)
        self.assertIn(b"is a directory, and no archive: name crawl logs", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
