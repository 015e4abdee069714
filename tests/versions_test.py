#!/usr/bin/env python3
"""Thirty years of a web site, crawled every year and every month: what the archive answers equals
what is computed directly from the site's history. Skips where the history is not present."""

import bisect
import calendar
import collections
import datetime
import functools
import hashlib
import html
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import unicodedata
import unittest
import zlib

from archive_lab import STELE, Archive

HISTORY = (pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "versions" /
           "openbsd-www.versions.zst")
SITE = "http://www.openbsd.org/"
# The whole has 5,743 pages and 3 GB: one page in so many is taken.
YEARLY_PART, MONTHLY_PART = 12, 48


# ---- The history ----

@functools.cache
def history():
    """Path -> its versions: [(unix time, bytes, or None where it was deleted)], sorted."""
    pages = {}
    with subprocess.Popen(["zstd", "-dc", "--long=27", HISTORY], stdout=subprocess.PIPE,
                          bufsize=1 << 20) as zstd:
        while line := zstd.stdout.readline():
            path, time, size = line.rstrip(b"\n").split(b"\t")
            content = None
            if size != b"-":
                content = zstd.stdout.read(int(size))
                zstd.stdout.read(1)
            if zlib.crc32(path) % YEARLY_PART == 0:
                pages.setdefault(path.decode(), []).append((int(time), content))
    # The index takes paths that differ in case for the same.
    spellings = collections.Counter(path.lower() for path in pages)
    return {path: versions for path, versions in pages.items() if spellings[path.lower()] == 1}


def state_at(paths, moment):
    """Path -> bytes, of the pages that were there then."""
    state = {}
    for path in paths:
        versions = history()[path]
        at = bisect.bisect_right(versions, moment, key=lambda version: version[0])
        if at and versions[at - 1][1] is not None:
            state[path] = versions[at - 1][1]
    return state


# ---- What a page says ----

SKIPPED = re.compile(r"<(script|style|template|iframe|noembed|noframes)\b.*?</\1\s*>", re.S | re.I)
# Elements that stand within a line; all others separate words.
INLINE = re.compile(r"</?(?:a|abbr|acronym|b|big|cite|code|del|dfn|em|font|i|img|ins|kbd|link|meta|"
                    r"nobr|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr)"
                    r"(?:[\s/](?:[^>\"']|\"[^\"]*\"|'[^']*')*)?>", re.I)
TAG = re.compile(r"</?[a-z](?:[^>\"']|\"[^\"]*\"|'[^']*')*>|<[!?/][^>]*>", re.I)


@functools.cache
def text_of(content):
    """A digest of the words of a page: our own reading of it, by regular expressions."""
    charset = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", content[:1024])
    name = charset.group(1).decode() if charset else "windows-1252"
    name = {"iso-8859-1": "windows-1252", "us-ascii": "windows-1252"}.get(name.lower(), name)
    text = content.decode(name, "replace")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = INLINE.sub("", SKIPPED.sub(" ", text))
    text = html.unescape(TAG.sub(" ", text))
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return hashlib.sha256(re.sub(r"[\W_]+", " ", text).strip().encode()).digest()


def compared(before, after):
    """Path -> what happened to it between two states."""
    changes = {}
    for path in before.keys() | after.keys():
        if path not in after:
            changes[path] = "gone"
        elif path not in before:
            changes[path] = "new"
        elif before[path] == after[path]:
            changes[path] = "identical"
        else:
            same = text_of(before[path]) == text_of(after[path])
            changes[path] = "same-text" if same else "text"
    return changes


# ---- Crawls of it ----

def digits(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y%m%d%H%M%S")


def iso(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ")


def write_crawl(path, moment, state):
    with open(path, "wb") as file:
        for page, content in sorted(state.items()):
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + content
            identity = hashlib.md5(f"{page} {moment}".encode()).hexdigest()
            head = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {SITE}{page}\r\n"
                    f"WARC-Date: {iso(moment)}\r\nWARC-Record-ID: <urn:uuid:{identity}>\r\n"
                    f"Content-Type: application/http; msgtype=response\r\n"
                    f"Content-Length: {len(block)}\r\n\r\n")
            file.write(head.encode() + block + b"\r\n\r\n")


class Crawls(Archive):
    """The archive of some crawls, each one run, and the states that they saw."""

    def crawl(self, moments, part):
        self.paths = sorted(path for path in history() if zlib.crc32(path.encode()) % part == 0)
        self.moments, self.states = [], []
        for moment in moments:
            state = state_at(self.paths, moment)
            if not state:
                continue
            self.moments.append(moment)
            self.states.append(state)
            warc = self.folder / f"{digits(moment)}.warc"
            write_crawl(warc, moment, state)
            self.stele("import", "--quiet", warc)
            warc.unlink()

    def seen_until(self, moment):
        """Path -> (moment, bytes) of its last capture, whether it was deleted since or not."""
        seen = {}
        for crawled, state in zip(self.moments, self.states):
            if crawled <= moment:
                seen.update({path: (crawled, content) for path, content in state.items()})
        return seen

    def changes(self, *arguments):
        lines = [json.loads(line)
                 for line in self.stele("changes", "--json", "--all", *arguments).splitlines()]
        counts = {state: count for state, count in lines.pop()["summary"].items() if count}
        changes = {line["url"].removeprefix(SITE): line["state"] for line in lines}
        self.assertEqual(counts, collections.Counter(changes.values()))
        return changes

    def check_counts(self):
        info = json.loads(self.stele("info", "--json"))
        self.assertEqual([run["captures"] for run in info["runs"]],
                         [len(state) for state in self.states])
        self.assertEqual(info["captures"], sum(map(len, self.states)))

    def check_reports(self, runs):
        for run in runs:
            seen = collections.defaultdict(set)
            for state in self.states[:run]:
                for path, content in state.items():
                    seen[path].add(content)
            again = [content for path, content in self.states[run].items() if content in seen[path]]
            report = json.loads(self.stele("report", "--json", "--run", run + 1))
            sizes = list(map(len, self.states[run].values()))
            self.assertEqual(report["all"], {"captures": len(sizes), "bytes": sum(sizes)})
            self.assertEqual(report["pages"], report["all"])
            self.assertEqual(report["duplicates"],
                             {"captures": len(again), "bytes": sum(map(len, again))}, f"run {run}")

    def check_duplicates(self):
        """W14: the duplication study, computed from the states themselves."""
        expected, earlier = [], set()
        for run, state in enumerate(self.states):
            state = {path: content for path, content in state.items() if content}
            documents = set(state.values())
            before = self.states[run - 1] if run else {}
            known_before = set(before.values())
            expected.append({
                "urls": len(state),
                "duplicatesWithin": len(state) - len(documents),
                "duplicatesOfLast": sum(c in known_before for c in state.values()),
                "persistentUrls": sum(bool(before.get(path)) for path in state),
                "duplicatesOfEarlier": sum(content in earlier for content in state.values()),
                "duplicatesOfEach": [sum(c in contents for c in state.values())
                                     for contents in (set(s.values()) for s in self.states[:run])],
            })
            earlier |= documents
        lines = self.stele_study("--json").splitlines()
        found = [{name: value for name, value in json.loads(line).items()
                  if name not in ("crawl", "begin")} for line in lines]
        self.assertEqual(found, expected)
        self.assertGreater(sum(crawl["duplicatesOfLast"] for crawl in found), 100)
        # Each run is a month here, and any two can be compared.
        for name, words in (("--run", [1, len(found)]), ("--batch", [
                digits(self.moments[0])[:6], digits(self.moments[-1])[:6]])):
            lines = self.stele_study("--json", name, words[0], name, words[1]).splitlines()
            last = json.loads(lines[1])
            self.assertEqual((len(lines), last["urls"], last["duplicatesOfEarlier"]),
                             (2, found[-1]["urls"], found[-1]["duplicatesOfEach"][0]), name)

    def stele_study(self, *arguments):
        return self.run_stele("study", "duplicates", "--archive", self.archive, *arguments)

    def check_changes_of_runs(self, runs):
        states = collections.Counter()
        for run in runs:
            expected = compared(self.states[run - 1], self.states[run])
            found = self.changes("--run", run, "--run", run + 1)
            self.assertEqual(found, expected, f"runs {run} and {run + 1}")
            states.update(expected.values())
        self.assertEqual(len(states), 5, states)  # else it shows less than it says

    def check_changes_of_moments(self, pairs):
        for pair in pairs:
            before, after = [{path: seen[1] for path, seen in self.seen_until(moment).items()}
                             for moment in pair]
            found = self.changes("--from", digits(pair[0]), "--to", digits(pair[1]))
            self.assertEqual(found, compared(before, after), pair)

    def check_listings(self, moments):
        for moment in moments:
            listed = {row["url"].removeprefix(SITE): row["time"][:19] + "Z"
                      for row in self.rows("--at", digits(moment))}
            self.assertEqual(listed, {path: iso(crawled) for path, (crawled, _)
                                      in self.seen_until(moment).items()})

    def check_nearest(self, questions):
        for path, moment in questions:
            crawled = [at for at, state in enumerate(self.states) if path in state]
            if not crawled:
                continue
            # Of two equally near ones the earlier.
            nearest = min(crawled, key=lambda at: abs(self.moments[at] - moment))
            page = subprocess.run([STELE, "get", "--archive", self.archive, "--at", iso(moment),
                                   SITE + path], capture_output=True, check=True).stdout
            self.assertEqual(page, self.states[nearest][path], f"{path} at {iso(moment)}")


@unittest.skipUnless(HISTORY.is_file(), f"the history of a site is not here: {HISTORY}")
@unittest.skipUnless(shutil.which("zstd"), "the program zstd is not here")
class Versions(Crawls):
    def random_moments(self, dice, count):
        return [dice.randrange(self.moments[0], self.moments[-1]) for _ in range(count)]

    def check_all(self, dice, runs):
        self.check_counts()
        self.check_duplicates()
        self.check_reports(runs)
        self.check_changes_of_runs(runs)
        self.check_changes_of_moments(
            [sorted(self.random_moments(dice, 2)) for _ in range(len(runs) // 4)])
        self.check_listings(self.random_moments(dice, 6))
        self.check_nearest([(dice.choice(self.paths), moment)
                            for moment in self.random_moments(dice, 60)])

    def test_P2_yearly_crawls(self):
        self.crawl([calendar.timegm((year, 1, 1, 0, 0, 0)) for year in range(1996, 2027)],
                   YEARLY_PART)
        self.assertGreater(len(self.moments), 25)
        self.check_all(random.Random(1), range(1, len(self.moments)))

    def test_P2_monthly_crawls(self):
        self.crawl([calendar.timegm((year, month, 1, 0, 0, 0)) for year in range(1996, 2027)
                    for month in range(1, 13)], MONTHLY_PART)
        self.assertGreater(len(self.moments), 300)
        dice = random.Random(2)
        runs = set(dice.sample(range(1, len(self.moments)), 23))
        # Pages are deleted rarely: one run that found some gone.
        runs.add(next(run for run in range(1, len(self.moments))
                      if self.states[run - 1].keys() - self.states[run].keys()))
        self.check_all(dice, sorted(runs))


if __name__ == "__main__":
    unittest.main(verbosity=2)
