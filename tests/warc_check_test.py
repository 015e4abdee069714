"""`stele warc check`: finds what is broken, and leaves alone what is not."""

import base64
import hashlib
import json
import unittest

from archive_samples import gzipped, needs_samples, sample, stele, warc_record

# Samples that their authors broke on purpose, and what must be found in them.
BROKEN = {
    "warcio/bad.arc": {"length", "unreadable"},
    "warcio/example-bad-non-chunked.warc.gz": {"not-at-member-start"},
    "warcio/example-digest.warc": {"digest-unreadable"},
    "warcio/example-iana.org-chunked.warc": {"payload-digest-of-coded-body"},
    "warcio/example-space-in-target-uri.warc.gz": {"target-uri"},
    "warcio/example-space-in-url.arc": {"space-in-url"},
    "warcio/example-trunc.warc": {"length-too-small"},
    "warcio/example-wget-bad-target-uri.warc.gz": {"target-uri-brackets"},
    "warcio/example-wrong-chunks.warc.gz": {"record-spans-members", "not-at-member-start"},
    "warcio/example-bad.warc.gz.bad": {"not-at-member-start"},
    "pywb/example-bad.warc.gz.bad": {"not-at-member-start"},
    "pywb/missing-status-text.warc": {"line-end"},
    "cdxj-indexer/missing-http.warc.gz": {"payload-digest"},
    "webarchive-commons/link-extraction-test.warc": {"missing-field", "separator"},
}

# Samples of good make.
SOUND = [
    "pywb/iana.warc.gz", "pywb/dupes.warc.gz", "pywb/example.warc.gz", "pywb/post-test.warc.gz",
    "jwat/IAH-20080430204825-00000-blackbook.warc.gz",
    "jwat/IAH-20080430204825-00000-blackbook.arc.gz", "jwarc/cc.warc.gz", "warcio/example.arc.gz",
    "warc-specifications/20130729-heritrix-original.warc.gz",
]


def rules(done):
    return [json.loads(line)["rule"] for line in done.stdout.splitlines()]


@needs_samples
class Samples(unittest.TestCase):
    def test_every_deliberately_broken_sample_is_found(self):
        for name, expected in BROKEN.items():
            with self.subTest(name):
                done = stele("warc", "check", "--json", sample(name))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertLessEqual(expected, set(rules(done)))

    def test_sound_samples_pass(self):
        for name in SOUND:
            with self.subTest(name):
                done = stele("warc", "check", "--json", sample(name))
                self.assertEqual((done.returncode, done.stdout), (0, ""))


def labelled(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


class Checking(unittest.TestCase):
    body = b"some text"
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body

    def check(self, content):
        done = stele("warc", "check", "--json", "-", stdin=content)
        self.assertEqual(done.returncode, 1 if done.stdout else 0, done.stderr)
        return rules(done)

    def record(self, **fields):
        return warc_record("response", "http://a.org/", self.block, **fields)

    def test_right_digests_pass_in_every_spelling(self):
        for digest in (labelled(self.block), "SHA-1:" + hashlib.sha1(self.block).hexdigest(),
                       "sha256:" + hashlib.sha256(self.block).hexdigest(),
                       "md5:" + hashlib.md5(self.block).hexdigest()):
            record = self.record(WARC_Block_Digest=digest,
                                 WARC_Payload_Digest=labelled(self.body))
            self.assertEqual(self.check(gzipped(record)), [])

    def test_wrong_digests_are_found_and_explained(self):
        self.assertEqual(self.check(self.record(WARC_Block_Digest=labelled(b"other"))),
                         ["block-digest"])
        self.assertEqual(self.check(self.record(WARC_Payload_Digest=labelled(b"other"))),
                         ["payload-digest"])
        self.assertEqual(self.check(self.record(WARC_Payload_Digest=labelled(self.block))),
                         ["payload-digest-of-block"])

    def test_one_flipped_bit_of_a_payload_is_found(self):
        record = self.record(WARC_Block_Digest=labelled(self.block))
        self.assertEqual(self.check(record), [])
        self.assertEqual(self.check(record.replace(b"some text", b"some tezt")), ["block-digest"])

    def test_fields_are_held_to_the_standard(self):
        self.assertEqual(self.check(self.record(WARC_Refers_To="<urn:uuid:1>")),
                         ["forbidden-field"])
        self.assertEqual(self.check(self.record(WARC_Truncated="boredom")), ["truncated"])
        self.assertEqual(self.check(self.record(WARC_Concurrent_To="urn:uuid:1")), ["record-id"])
        twice = self.record().replace(b"Content-Type:", b"WARC-Type: response\r\nContent-Type:", 1)
        self.assertEqual(self.check(twice), ["repeated-field"])
        undated = self.record().replace(b"WARC-Date", b"X-Date", 1)
        self.assertEqual(self.check(undated), ["missing-field"])
        odd = self.record().replace(b"2020-01-02T03:04:05Z", b"2020-01-65T03:04:05Z", 1)
        self.assertEqual(self.check(odd), ["date"])
        revisit = warc_record("revisit", "http://a.org/", b"")
        self.assertEqual(self.check(revisit), ["missing-field"])

    def test_a_line_names_file_offset_rule_and_record(self):
        good = self.record()
        done = stele("warc", "check", "-",
                     stdin=good + self.record(WARC_Block_Digest=labelled(b"other")))
        self.assertRegex(done.stdout, rf"^-:{len(good)}: block-digest: .* <urn:uuid:\d+>\n$")
        self.assertIn(": 1 defect\n", done.stderr)

    def test_bad_input_is_said_clearly(self):
        empty = stele("warc", "check", "--json", "-", stdin=b"")
        self.assertEqual((empty.returncode, rules(empty)), (1, ["empty"]))
        magic = stele("warc", "check", "-", stdin=b"PK\x03\x04" + b"\0" * 5000)
        self.assertEqual(magic.returncode, 3)
        self.assertIn("is no WARC, ARC or Tianwang file", magic.stderr)
        cut = stele("warc", "check", "--json", "-", stdin=gzipped(self.record())[:-20])
        self.assertEqual((cut.returncode, rules(cut)), (1, ["unreadable"]))
        two = gzipped(self.record(), self.record())
        cut = stele("warc", "check", "--json", "-", stdin=two[:-20])
        self.assertEqual((cut.returncode, rules(cut)), (1, ["unreadable"]))


if __name__ == "__main__":
    unittest.main()
