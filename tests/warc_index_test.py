"""`stele warc index` against the index files that came with the samples, and by itself."""

import base64
import hashlib
import json
import os
import tempfile
import unittest

from archive_samples import gzipped, needs_samples, sample, stele, warc_record

# Index files that our lines equal, byte for byte, as a set: their order is that of each tool.
EQUAL = [
    ("pywb/example.cdx", "pywb/example.warc.gz"),
    ("pywb/iana.cdx", "pywb/iana.warc.gz"),
    ("pywb/iana.cdxj", "pywb/iana.warc.gz"),
    ("pywb/dupes.cdx", "pywb/dupes.warc.gz"),
    ("pywb/dupes.cdxj", "pywb/dupes.warc.gz"),
    ("pywb/post-test.cdx", "pywb/post-test.warc.gz"),
    ("pywb/post-test.cdxj", "pywb/post-test.warc.gz"),
    ("pywb/example2.cdxj", "pywb/example2.warc.gz"),
    ("pywb/url-agnost-example.cdx", "pywb/example-url-agnostic-orig.warc.gz",
     "pywb/example-url-agnostic-revisit.warc.gz"),
    ("pywb/url-agnost-example.cdxj", "pywb/example-url-agnostic-orig.warc.gz",
     "pywb/example-url-agnostic-revisit.warc.gz"),
    ("outbackcdx/test1.cdx", "outbackcdx/test1.warc.gz"),
    ("outbackcdx/test2.cdx", "outbackcdx/test2.warc.gz"),
]


def key_replaced(line, wrong, right):
    return line.replace(wrong, right, 1) if line.startswith(wrong) else line


# Index files that differ, each with the reason and what turns their lines into ours.
DIFFERENT = [
    ("pywb/example-arc-test.cdx", ["pywb/example.arc", "pywb/example.arc.gz"],
     "the keys are of another host than the URLs: made by hand for a test",
     lambda line: key_replaced(key_replaced(line, "com,example,test,gz,arc)/", "com,example)/"),
                               "com,example,test,arc)/", "com,example)/")),
    ("warc-specifications/hello-world.warc.cdx", ["warc-specifications/hello-world.warc"],
     "an old indexer took the scheme of metadata:// URLs for their host",
     lambda line: key_replaced(line, "metadata)/gnu.org/", "org,gnu)/")),
]

# CDXJ files whose objects say the same in another order, or on purpose without some names.
SAME_OBJECTS = [
    ("pywb/httpbin-resource.cdxj", "pywb/httpbin-resource.warc.gz", []),
    ("pywb/missing-status-text.cdxj", "pywb/missing-status-text.warc", []),
    ("pywb/example.cdxj", "pywb/example.warc.gz", ["mime", "status"]),
    ("pywb/example-no-digest.cdxj", "pywb/example.warc.gz", ["mime", "status", "digest"]),
]


def index(index_name, files):
    form = "cdxj" if index_name.endswith("j") else "cdx11"
    done = stele("warc", "index", "--format", form, *[sample(name) for name in files])
    with open(sample(index_name), encoding="latin-1") as file:
        return done.stdout.splitlines(), file.read().splitlines()


@needs_samples
class Samples(unittest.TestCase):
    maxDiff = None

    def test_lines_equal_those_of_other_tools(self):
        for name, *files in EQUAL:
            with self.subTest(name):
                ours, theirs = index(name, files)
                self.assertEqual(sorted(ours), sorted(theirs))

    def test_lines_that_differ_do_so_for_a_known_reason(self):
        for name, files, reason, correct in DIFFERENT:
            with self.subTest(name, reason=reason):
                ours, theirs = index(name, files)
                self.assertNotEqual(sorted(ours), sorted(theirs))
                self.assertEqual(sorted(ours), sorted(map(correct, theirs)))

    def test_pywbs_index_of_a_sloppy_file_is_a_part_of_ours(self):
        # pywb stops at the third record, whose block begins with an empty line too many.
        ours, theirs = index("pywb/example-extra.cdx", ["pywb/example-extra.warc"])
        self.assertEqual(set(theirs) - set(ours), set())
        self.assertEqual(len(set(ours) - set(theirs)), 2)

    def test_objects_say_the_same(self):
        def parsed(lines, without):
            for line in lines:
                key, time, text = line.split(" ", 2)
                fields = json.loads(text)
                yield key, time, {k: v for k, v in fields.items() if k not in without
                                  or v == "warc/revisit"}
        for name, file, without in SAME_OBJECTS:
            with self.subTest(name):
                ours, theirs = index(name, [file])
                self.assertEqual(list(parsed(ours, without)), list(parsed(theirs, without)))

    def test_arc_and_warc_of_one_crawl_hold_the_same_captures(self):
        def captures(name):
            done = stele("warc", "index", sample(name))
            result = []
            for line in done.stdout.splitlines():
                key, time, text = line.split(" ", 2)
                fields = json.loads(text)
                if fields["url"].startswith("http"):
                    result.append((key, time, fields["url"], fields.get("mime"),
                                   fields.get("status"), fields.get("digest")))
            return sorted(result)
        arc = captures("jwat/IAH-20080430204825-00000-blackbook.arc.gz")
        warc = captures("jwat/IAH-20080430204825-00000-blackbook.warc.gz")
        self.assertGreater(len(warc), 200)
        self.assertEqual(arc, warc)


class Indexing(unittest.TestCase):
    def index(self, content, *words):
        done = stele("warc", "index", *words, "-", stdin=content)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return [line.split(" ", 2) for line in done.stdout.splitlines()]

    def test_a_digest_is_computed_where_the_record_has_none(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        plain = b"HTTP/1.1 200 OK\r\n\r\nabc"
        lines = self.index(gzipped(warc_record("response", "http://a.org/1", chunked),
                                   warc_record("response", "http://a.org/2", plain)))
        digests = [json.loads(line[2])["digest"] for line in lines]
        self.assertEqual(digests, ["VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"] * 2)

    def test_a_post_has_its_body_in_the_key_before_or_after_its_response(self):
        request = warc_record(
            "request", "http://a.org/search",
            b"POST /search HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nq=x",
            content_type="application/http; msgtype=request")
        response = warc_record("response", "http://a.org/search", b"HTTP/1.1 200 OK\r\n\r\nfound")
        for order in ([request, response], [response, request]):
            lines = self.index(gzipped(*order))
            self.assertEqual([line[0] for line in lines],
                             ["org,a)/search?__wb_method=post&q=x"])

    def test_a_get_request_changes_no_key(self):
        request = warc_record("request", "http://a.org/", b"GET / HTTP/1.1\r\n\r\n",
                              content_type="application/http; msgtype=request")
        response = warc_record("response", "http://a.org/", b"HTTP/1.1 200 OK\r\n\r\nfound")
        self.assertEqual(self.index(gzipped(request, response))[0][0], "org,a)/")

    def test_dns_urn_and_whois_records_have_lines_too(self):
        lines = self.index(gzipped(
            warc_record("response", "dns:a.org", b"20200102030405\na.org. IN A 1.2.3.4\n",
                        content_type="text/dns"),
            warc_record("resource", "urn:X-example:thing", b"text", content_type="text/plain"),
            warc_record("response", "whois://whois.example.org/a.org", b"text",
                        content_type="application/whois")))
        self.assertEqual([json.loads(line[2])["url"] for line in lines],
                         ["dns:a.org", "urn:X-example:thing", "whois://whois.example.org/a.org"])
        self.assertEqual([json.loads(line[2])["mime"] for line in lines],
                         ["text/dns", "text/plain", "application/whois"])

    def test_sorting_and_formats(self):
        content = gzipped(*[warc_record("resource", f"http://{host}.org/", b"x",
                                        content_type="text/plain") for host in "cab"])
        keys = [line[0] for line in self.index(content, "--sort")]
        self.assertEqual(keys, ["org,a)/", "org,b)/", "org,c)/"])
        done = stele("warc", "index", "--sort", "--format", "cdx9", "-", stdin=content)
        header, line = done.stdout.splitlines()[:2]
        self.assertEqual(header, " CDX N b a m s k r V g")
        offset = content.index(b"\x1f\x8b", 1)  # the second record is the first in order
        digest = base64.b32encode(hashlib.sha1(b"x").digest()).decode()
        self.assertEqual(line, f"org,a)/ 20200102030405 http://a.org/ text/plain - {digest} - "
                               f"{offset} -")

    def test_many_files_come_out_in_order_whatever_the_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i in range(20):
                path = os.path.join(folder, f"{i:02}.warc.gz")
                records = [warc_record("resource", f"http://a.org/{i}/{n}", b"x" * 100)
                           for n in range(200 if i % 3 == 0 else 2)]
                with open(path, "wb") as file:
                    file.write(gzipped(*records))
                paths.append(path)
            one = stele("warc", "index", "--threads", "1", *paths)
            many = stele("warc", "index", "--threads", "8", *paths)
            self.assertEqual(one.stdout, many.stdout)
            self.assertEqual(len(one.stdout.splitlines()), 7 * 200 + 13 * 2)

    def test_an_output_file_is_complete_or_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.cdxj")
            content = gzipped(warc_record("resource", "http://a.org/", b"x"))
            self.assertEqual(stele("warc", "index", "--output", out, "-",
                                   stdin=content).returncode, 0)
            again = stele("warc", "index", "--output", out, "-", stdin=content)
            self.assertEqual(again.returncode, 3)
            self.assertIn("--force", again.stderr)
            self.assertEqual(os.listdir(folder), ["out.cdxj"])
            missing = stele("warc", "index", "--output", os.path.join(folder, "no", "out"), "-",
                            stdin=content)
            self.assertEqual(missing.returncode, 3)


if __name__ == "__main__":
    unittest.main()
