#!/usr/bin/env python3
"""Records that were cut into segments, through all that shows or writes captures."""

import base64
import hashlib
import unittest

import serve_test
from archive_lab import Archive, record, response

URL = "http://example.org/long"
THEN = "2004-05-01T10:00:00Z"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
PARTS = [b"<p>the first part ", b"and the second ", b"and the last one</p>"]
PAYLOAD = b"".join(PARTS)
DIGEST = "sha1:" + base64.b32encode(hashlib.sha1(PAYLOAD).digest()).decode()
FIRST_ID = "urn:uuid:" + hashlib.md5(("response" + URL + THEN).encode()).hexdigest()


def segment(number, *fields):
    return record("continuation", URL, THEN, PARTS[number - 1],
                  f"WARC-Segment-Origin-ID: <{FIRST_ID}>", f"WARC-Segment-Number: {number}",
                  *fields)


FIRST = record("response", URL, THEN, HEAD + PARTS[0], "WARC-Segment-Number: 1",
               f"WARC-Payload-Digest: {DIGEST}")
SECOND = segment(2)
LAST = segment(3, f"WARC-Segment-Total-Length: {len(HEAD) + len(PAYLOAD)}")
REVISIT = record("revisit", "http://example.org/again", "2005-05-01T10:00:00Z", HEAD,
                 "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                 f"WARC-Payload-Digest: {DIGEST}", f"WARC-Refers-To-Target-URI: {URL}",
                 f"WARC-Refers-To-Date: {THEN}")


class Segments(Archive):
    serve = serve_test.Serving.serve
    get = serve_test.Serving.get

    def bring(self, **files):
        self.stele("import", "--quiet", *(self.put(f"{name}.warc.gz", *records)
                                          for name, records in files.items()))

    def test_W15_get_and_serve_give_all_segments(self):
        self.bring(c=[LAST], a=[FIRST, REVISIT], b=[SECOND])
        for url in (URL, "http://example.org/again"):
            self.assertEqual(self.stele("get", url), PAYLOAD.decode())
        self.assertEqual(self.stele("get", "--http", URL), HEAD.decode())
        self.assertNotIn("second", self.stele("get", "--record", URL))
        self.serve()
        for path in (f"/web/2004id_/{URL}", "/web/2005id_/http://example.org/again"):
            self.assertEqual(self.get(path)[2], PAYLOAD)

    def test_I5_exports_have_all_segments(self):
        self.bring(c=[LAST], a=[FIRST, REVISIT], b=[SECOND])
        tianwang = self.folder / "out.tw"
        self.stele("export", tianwang)
        self.assertEqual(tianwang.read_bytes().count(PAYLOAD), 2)
        alone = self.folder / "alone.warc"
        self.stele("export", "--url", "http://example.org/again", alone)
        self.assertEqual(alone.read_bytes().count(HEAD + PAYLOAD), 1)
        self.run_stele("warc", "check", alone)

    def test_I5_what_lacks_a_segment_is_said_to_be_cut_off(self):
        self.bring(a=[FIRST, REVISIT], c=[LAST])
        self.assertEqual(self.stele("get", URL, code=1), PARTS[0].decode())
        self.assertIn("cut off: segment 2 of the record", self.said)
        self.stele("export", self.folder / "out.tw", code=1)
        self.assertIn("2 captures are cut off", self.said)
        self.bring(b=[SECOND])
        self.assertEqual(self.stele("get", URL), PAYLOAD.decode())

    def test_I7_a_takedown_is_one_of_all_segments(self):
        other = response("http://example.org/", THEN, b"x")
        self.bring(c=[LAST], a=[FIRST, REVISIT], b=[SECOND, other])
        self.stele("rm", "--purge", "--reason", "asked for", URL)
        self.stele("get", URL, code=3)
        # The revisit has inherited it.
        self.assertEqual(self.stele("get", "http://example.org/again"), PAYLOAD.decode())
        self.stele("rm", "--purge", "--reason", "asked for", "http://example.org/again")
        self.stele("verify")
        left = b"".join(self.run_stele("warc", "cat", path).encode()
                        for path in self.archive.glob("volumes/*/*/*.warc.gz"))
        for part in PARTS:
            self.assertNotIn(part, left)
        self.assertEqual(self.stele("get", "http://example.org/"), "x")


if __name__ == "__main__":
    unittest.main()
