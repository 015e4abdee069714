"""`stele warc` cat, filter, recompress, convert and recover, as people and scripts run them."""

import base64
import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from archive_samples import STELE, gzipped, needs_samples, sample, stele, warc_record

MEMORY_MAX_BYTES = 64 << 20
with open(STELE, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()  # its memory is not ours


def http(body, status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def segment(number, block, **fields):
    type = "response" if number == 1 else "continuation"
    if number > 1:
        fields["WARC_Segment_Origin_ID"] = "<urn:x:origin>"
    head = [f"WARC-Type: {type}", "WARC-Target-URI: http://example.org/big",
            "WARC-Date: 2020-01-02T03:04:05Z", f"WARC-Segment-Number: {number}",
            f"WARC-Record-ID: <urn:x:{'origin' if number == 1 else number}>",
            "Content-Type: application/http; msgtype=response", f"Content-Length: {len(block)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return b"WARC/1.1\r\n" + "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


PAGES = [warc_record("response", f"http://example.org/{i}",
                     http(f"page {i}".encode() * 50, Content_Type="text/html"))
         for i in range(6)]

ARC = (b"filedesc://old.arc 0.0.0.0 20080430204825 text/plain 77\n1 0 InternetArchive\n"
       b"URL IP-address Archive-date Content-type Archive-length\n\n")


def arc_record(url, block, mime="text/html", date="20080430204826", ip="192.0.2.1"):
    return f"{url} {ip} {date} {mime} {len(block)}\n".encode() + block + b"\n"


def run_measured(words, feed=None):
    """Exit code, bytes written, peak memory in bytes, error output. `feed` fills its input."""
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen([STELE, "warc", *words], stdout=subprocess.PIPE, stderr=err,
                                   stdin=subprocess.PIPE if feed else subprocess.DEVNULL)

        def fill():
            with process.stdin as stdin:
                try:
                    feed(stdin.write)
                except BrokenPipeError:
                    pass

        filler = threading.Thread(target=fill) if feed else None
        if filler:
            filler.start()
        written = 0
        while piece := process.stdout.read(1 << 20):
            written += len(piece)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        if filler:
            filler.join()
        err.seek(0)
        return (process.returncode, written, usage.ru_maxrss * 1024,
                err.read().decode("latin-1"))


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stele-toolbox-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_ok(self, *words, stdin=None):
        done = stele("warc", *words, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assert_sound(self, path, *, also=()):
        done = stele("warc", "check", "--json", path)
        rules = {json.loads(line)["rule"] for line in done.stdout.splitlines()}
        self.assertLessEqual(rules, set(also), done.stdout)

    def listing(self, path):
        done = stele("warc", "ls", "--json", path)
        return [json.loads(line) for line in done.stdout.splitlines()]


class Cat(Folder):
    def test_without_options_it_unpacks(self):
        packed = self.put("a.warc.gz", gzipped(*PAGES))
        for words, stdin in (([packed], None), (["-"], gzipped(*PAGES))):
            done = self.run_ok("cat", *words, stdin=stdin)
            self.assertEqual(done.stdout.encode("latin-1"), b"".join(PAGES))

    def test_several_files_come_in_their_order(self):
        paths = [self.put(f"{i}.warc.gz", gzipped(page)) for i, page in enumerate(PAGES)]
        done = self.run_ok("cat", "--threads", "4", *paths)
        self.assertEqual(done.stdout.encode("latin-1"), b"".join(PAGES))

    def test_a_record_is_found_by_offset_and_by_id(self):
        path = self.put("a.warc.gz", gzipped(*PAGES))
        for record in self.listing(path):
            number = record["url"][-1]
            for words in (["--offset", str(record["offset"])], ["--id", record["record_id"]],
                          ["--id", record["record_id"].strip("<>")], ["--url", record["url"]]):
                done = self.run_ok("cat", "--payload", *words, path)
                self.assertEqual(done.stdout, f"page {number}" * 50)
        self.assertEqual(stele("warc", "cat", "--offset", "3", path).returncode, 3)
        self.assertEqual(stele("warc", "cat", "--id", "urn:nobody", path).returncode, 3)

    def test_an_offset_in_a_pipe_is_waited_for(self):
        data = gzipped(*PAGES)
        path = self.put("a.warc.gz", data)
        offset = self.listing(path)[3]["offset"]
        done = self.run_ok("cat", "--payload", "--offset", str(offset), "-", stdin=data)
        self.assertEqual(done.stdout, "page 3" * 50)

    def test_parts_of_a_record(self):
        body = gzip.compress(b"hello " * 1000, mtime=0)
        chunked = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        block = http(chunked, Transfer_Encoding="chunked", Content_Encoding="gzip")
        path = self.put("a.warc", warc_record("response", "http://a/", block))
        head = block[:block.index(b"\r\n\r\n") + 4]
        for option, expected in (("--block", block), ("--http", head), ("--payload", body),
                                 ("--decoded", b"hello " * 1000)):
            done = self.run_ok("cat", option, path)
            self.assertEqual(done.stdout.encode("latin-1"), expected, option)

    def test_heads_as_json(self):
        path = self.put("a.warc.gz", gzipped(*PAGES))
        done = self.run_ok("cat", "--json", "--type", "response", path)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        listed = [record for record in self.listing(path) if record["type"] == "response"]
        self.assertEqual([line["offset"] for line in lines], [r["offset"] for r in listed])
        for line, record in zip(lines, listed):
            self.assertEqual(dict(line["fields"])["WARC-Target-URI"], record["url"])
            self.assertEqual(str(line["status"]), record["status"])
            self.assertEqual(dict(line["http"])["Content-Type"], record["mime"])

    def test_segments_are_joined_over_files(self):
        block = http(b"0123456789" * 100)
        parts = [block[:300], block[300:600], block[600:]]
        total = {"WARC_Segment_Total_Length": len(block)}
        first = self.put("1.warc.gz", gzipped(PAGES[0], segment(1, parts[0])))
        second = self.put("2.warc.gz", gzipped(segment(2, parts[1])))
        third = self.put("3.warc.gz", gzipped(PAGES[1], segment(3, parts[2], **total)))
        select = ["--id", "urn:x:origin"]
        for files in ([first, second, third], [third, first, second]):
            done = self.run_ok("cat", "--payload", *select, *files)
            self.assertEqual(done.stdout, "0123456789" * 100)
        missing = stele("warc", "cat", "--payload", *select, first, third)
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("segment 2", missing.stderr)
        piped = stele("warc", "cat", "--payload", "-", stdin=self.content("1.warc.gz"))
        self.assertEqual(piped.returncode, 1)
        self.assertIn("pipe", piped.stderr)

    def test_a_bomb_is_stopped(self):
        layer = gzip.compress(bytes(256 << 20), 9, mtime=0)
        bomb = gzip.compress(layer, 9, mtime=0)
        block = http(bomb, Content_Encoding="gzip, gzip")
        path = self.put("a.warc", warc_record("response", "http://a/", block))
        code, written, memory, err = run_measured(["cat", "--decoded", path])
        self.assertEqual(code, 1)
        self.assertIn("content-too-large", err)
        self.assertLess(written, 64 << 20)
        if not SANITIZED:
            self.assertLess(memory, MEMORY_MAX_BYTES)

    def test_damage_is_passed_and_named(self):
        members = [gzip.compress(page, mtime=0) for page in PAGES]
        broken = bytearray(members[2])
        broken[len(broken) // 2] ^= 0xff
        path = self.put("a.warc.gz", b"".join(members[:2]) + broken + b"".join(members[3:]))
        done = stele("warc", "cat", "--url", "http://example.org/5", "--payload", path)
        self.assertEqual((done.returncode, done.stdout), (1, "page 5" * 50))
        begin = len(members[0]) + len(members[1])
        self.assertIn(f"bytes {begin} to {begin + len(broken)}", done.stderr)

    def test_tianwang_records_come_unpacked(self):
        path = self.put("a.warc", b"".join(PAGES))
        self.run_ok("convert", "--to", "tianwang", path, "--output", self.path("plain.tw"))
        self.run_ok("convert", "--to", "tianwang", "--compress", path, "--output",
                    self.path("packed.tw"))
        self.assertLess(len(self.content("packed.tw")), len(self.content("plain.tw")))
        done = self.run_ok("cat", self.path("packed.tw"))
        self.assertEqual(done.stdout.encode("latin-1"), self.content("plain.tw"))


class Filter(Folder):
    def crawl(self):
        records = []
        for i, (url, mime) in enumerate([("http://a.org/", "text/html"),
                                         ("http://www.a.org/p.png", "image/png"),
                                         ("http://b.org/", "text/html")]):
            response = warc_record("response", url, http(b"x" * i, Content_Type=mime))
            id = response.split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0].decode()
            records.append(response)
            records.append(warc_record("request", url, b"GET / HTTP/1.0\r\n\r\n",
                                       "application/http; msgtype=request",
                                       WARC_Concurrent_To=id))
            records.insert(0, warc_record("metadata", url, b"via: x\r\n",
                                          "application/warc-fields", WARC_Concurrent_To=id))
        return self.put("crawl.warc.gz", gzipped(*records)), records

    def filtered(self, *words):
        self.run_ok("filter", "--force", *words, "--output", self.path("o.warc.gz"))
        return [(r["type"], r["url"]) for r in self.listing(self.path("o.warc.gz"))]

    def test_selects_and_copies_bytes(self):
        path, records = self.crawl()
        self.assertEqual(self.filtered("--mime", "image/*", "--type", "response", path),
                         [("response", "http://www.a.org/p.png")])
        self.assertIn(gzip.decompress(self.content("o.warc.gz")), records)
        self.assertEqual(len(self.filtered("--domain", "a.org", path)), 6)
        self.assertEqual(len(self.filtered("--domain", "a.org", "--invert", path)), 3)
        self.assertEqual(self.filtered("--url", "http://nowhere/", path), [])

    def test_companions_before_and_behind_come_along(self):
        path, _ = self.crawl()
        selected = self.filtered("--type", "response", "--url", "http://b.org/",
                                 "--with-concurrent", path)
        self.assertEqual(sorted(selected), [(type, "http://b.org/")
                                            for type in ("metadata", "request", "response")])
        piped = stele("warc", "filter", "--with-concurrent", "-", "--output", self.path("p"),
                      stdin=gzipped(*PAGES))
        self.assertEqual(piped.returncode, 3)
        self.assertIn("pipe", piped.stderr)

    def test_arc_becomes_warc(self):
        path = self.put("old.arc", ARC + arc_record("http://a.org/", http(b"a")) +
                        arc_record("http://b.org/", http(b"b")))
        self.assertEqual(self.filtered("--host", "b.org", path),
                         [("warcinfo", ""), ("response", "http://b.org/")])
        self.assert_sound(self.path("o.warc.gz"))

    def test_pipes_on_both_sides(self):
        done = subprocess.run([STELE, "warc", "filter", "--url", "http://example.org/4", "-",
                               "--output", "-", "--compression", "none"],
                              input=gzipped(*PAGES), capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, PAGES[4]))


class Recompress(Folder):
    def test_every_way_there_and_back_keeps_every_byte(self):
        text = b"".join(PAGES)
        path = self.put("a.warc", text)
        for compression, name in (("gzip", "a.warc.gz"), ("zstd", "a.warc.zst")):
            self.run_ok("recompress", "--compression", compression, path, "--directory",
                        self.folder)
            self.run_ok("recompress", "--compression", "none", self.path(name), "--output",
                        self.path("back"), "--force")
            self.assertEqual(self.content("back"), text)

    def test_zstd_dictionaries(self):
        pages = [warc_record("response", f"http://example.org/{i}", http(
            b"<html><head><title>%d</title></head><body>%s</body></html>" %
            (i, hashlib.sha256(b"%d" % i).hexdigest().encode()), Content_Type="text/html"))
                 for i in range(400)]
        path = self.put("a.warc", b"".join(pages))
        sizes = {}
        for which in ("train", "none"):
            output = self.path(which + ".warc.zst")
            self.run_ok("recompress", "--compression", "zstd", "--dictionary", which, path,
                        "--output", output)
            sizes[which] = os.path.getsize(output)
            self.assert_sound(output)
            self.assertEqual(self.run_ok("cat", output).stdout.encode(), b"".join(pages))
        self.assertLess(sizes["train"], sizes["none"])
        raw = self.put("raw.dictionary", pages[0] * 3)
        self.run_ok("recompress", "--compression", "zstd", "--dictionary", raw, path, "--output",
                    self.path("file.warc.zst"))
        self.assertEqual(self.run_ok("cat", self.path("file.warc.zst")).stdout.encode(),
                         b"".join(pages))
        few = self.put("few.warc", PAGES[0])
        self.assertEqual(stele("warc", "recompress", "--compression", "zstd", "--dictionary",
                               "train", few, "--output", self.path("few")).returncode, 3)
        self.run_ok("recompress", "--compression", "zstd", few, "--output", self.path("few"))

    def test_files_compressed_as_a_whole_are_mended(self):
        text = b"".join(PAGES)
        cut = len(PAGES[0]) + 40
        for name, data in (("whole", gzip.compress(text, mtime=0)),
                           ("cut", gzipped(text[:cut], text[cut:]))):
            with self.subTest(name):
                path = self.put(name + ".warc.gz", data)
                self.assertNotEqual(stele("warc", "check", path).returncode, 0)
                output = self.path(name + "-good.warc.gz")
                self.run_ok("recompress", path, "--output", output)
                self.assert_sound(output)
                self.assertEqual(gzip.decompress(self.content(output)), text)
                for record in self.listing(output):
                    part = self.content(output)[record["offset"]:][:record["length"]]
                    self.assertIn(gzip.decompress(part), PAGES)

    def test_arc_stays_arc(self):
        text = ARC + b"\n" + arc_record("http://a/", http(b"a")) + arc_record("http://b/", b"b")
        path = self.put("old.arc", text)
        self.run_ok("recompress", path, "--output", self.path("old.arc.gz"))
        self.run_ok("recompress", self.path("old.arc.gz"), "--compression", "none", "--output",
                    self.path("back.arc"))
        self.assertEqual([r["url"] for r in self.listing(self.path("back.arc"))],
                         [r["url"] for r in self.listing(path)])
        both = stele("warc", "recompress", path, self.put("a.warc", PAGES[0]), "--output",
                     self.path("both"))
        self.assertEqual(both.returncode, 3)
        self.assertFalse(os.path.exists(self.path("both")))

    def test_several_files_into_one_and_into_a_folder(self):
        paths = [self.put(f"{i}.warc", page) for i, page in enumerate(PAGES)]
        self.run_ok("recompress", *paths, "--output", self.path("all.warc.gz"))
        self.assertEqual(gzip.decompress(self.content("all.warc.gz")), b"".join(PAGES))
        self.run_ok("recompress", "--threads", "4", *paths, "--directory", self.path("out"))
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         [f"{i}.warc.gz" for i in range(6)])
        for i, page in enumerate(PAGES):
            self.assertEqual(gzip.decompress(self.content(f"out/{i}.warc.gz")), page)

    def test_one_bad_file_spoils_one_output_but_not_a_folder(self):
        good, bad = self.put("good.warc", PAGES[0]), self.put("bad.warc", b"nothing of the kind")
        self.assertEqual(stele("warc", "recompress", good, bad, "--output",
                               self.path("o")).returncode, 3)
        self.assertFalse(os.path.exists(self.path("o")))
        self.assertEqual(stele("warc", "recompress", good, bad, "--directory",
                               self.path("out")).returncode, 3)
        self.assertEqual(os.listdir(self.path("out")), ["good.warc.gz"])

    def test_damaged_records_are_left_out_and_named(self):
        members = [gzip.compress(page, mtime=0) for page in PAGES]
        path = self.put("a.warc.gz", b"".join(members)[:-20])
        done = stele("warc", "recompress", path, "--output", self.path("o"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("are lost", done.stderr)
        self.assertEqual(gzip.decompress(self.content("o")), b"".join(PAGES[:-1]))
        self.assert_sound(self.path("o"))


class Convert(Folder):
    def test_arc_to_warc(self):
        page = http(b"hello", Content_Type="text/html")
        path = self.put("old.arc.gz", gzipped(
            ARC, arc_record("http://a.org/x y", page),
            arc_record("dns:a.org", b"20080430\na.org. 60 IN A 192.0.2.1\n", "text/dns"),
            arc_record("http://b.org/", page, date="garbled")))
        self.run_ok("convert", "--to", "warc", path, "--output", self.path("new.warc.gz"))
        self.assert_sound(self.path("new.warc.gz"))
        records = self.listing(self.path("new.warc.gz"))
        self.assertEqual([r["type"] for r in records],
                         ["warcinfo", "response", "resource", "response"])
        text = gzip.decompress(self.content("new.warc.gz")).decode()
        for expected in ("WARC-Target-URI: http://a.org/x%20y\r\n", "WARC-IP-Address: 192.0.2.1\r\n",
                         "WARC-Date: 2008-04-30T20:48:26Z\r\n", "WARC-Filename: new.warc.gz\r\n",
                         "Content-Type: application/http; msgtype=response\r\n",
                         "Content-Type: text/dns\r\n", "arc-filename: old.arc\r\n",
                         f"WARC-Block-Digest: {sha1(page)}\r\n",
                         f"WARC-Payload-Digest: {sha1(b'hello')}\r\n"):
            self.assertIn(expected, text)
        self.assertEqual(len({r["record_id"] for r in records}), 4)

    def test_the_xml_of_an_arc_is_kept(self):
        xml = b"<?xml version=\"1.0\"?>\n<arcmetadata>how</arcmetadata>\n"
        lines = b"1 1 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
        head = b"filedesc://x.arc 0.0.0.0 20080430204825 text/xml %d\n" % (len(lines) + len(xml))
        path = self.put("x.arc", head + lines + xml + b"\n" + arc_record("http://a/", http(b"a")))
        self.run_ok("convert", "--to", "warc", path, "--output", self.path("x.warc"),
                    "--compression", "none")
        self.assert_sound(self.path("x.warc"))
        self.assertEqual([r["type"] for r in self.listing(self.path("x.warc"))],
                         ["warcinfo", "metadata", "response"])
        self.assertIn(xml, self.content("x.warc"))

    def test_warc_to_tianwang_and_back(self):
        extra = warc_record("request", "http://example.org/0", b"GET / HTTP/1.0\r\n\r\n",
                            "application/http; msgtype=request")
        path = self.put("a.warc", extra + b"".join(PAGES))
        for options in ([], ["--compress"]):
            done = self.run_ok("convert", "--to", "tianwang", "--force", *options, path,
                               "--output", self.path("a.tw"))
            self.assertIn("1 request records were left out", done.stderr)
            self.run_ok("convert", "--to", "warc", "--force", self.path("a.tw"), "--output",
                        self.path("b.warc.gz"))
            self.assert_sound(self.path("b.warc.gz"))
            before = self.run_ok("cat", "--type", "response", "--block", path).stdout
            after = self.run_ok("cat", "--type", "response", "--block",
                                self.path("b.warc.gz")).stdout
            self.assertEqual(after, before)
            keys = [self.run_ok("index", "--sort", file).stdout.splitlines()
                    for file in (path, self.path("b.warc.gz"))]
            self.assertEqual(*[[line.split()[:2] for line in lines] for lines in keys])

    def test_names_in_a_folder(self):
        paths = [self.put("x.arc.gz", gzipped(ARC, arc_record("http://a/", b"a"))),
                 self.put("y.arc", ARC + arc_record("http://a/", b"a"))]
        self.run_ok("convert", "--to", "warc", *paths, "--directory", self.path("out"))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["x.warc.gz", "y.warc.gz"])


class Recover(Folder):
    def digested(self, i, body=b"page"):
        block = http(body * (i + 1))
        return warc_record("response", f"http://example.org/{i}", block,
                           WARC_Block_Digest=sha1(block), WARC_Payload_Digest=sha1(body * (i + 1)))

    def test_saves_all_but_what_is_hit(self):
        records = [self.digested(i) for i in range(5)]
        for name, packed in (("a.warc.gz", [gzip.compress(r, mtime=0) for r in records]),
                             ("a.warc", records)):
            for hit in range(5):
                parts = [bytearray(part) for part in packed]
                parts[hit][len(parts[hit]) - 12] ^= 0x01
                path = self.put(name, b"".join(parts))
                done = stele("warc", "recover", "--json", "--force", path, "--output",
                             self.path("o"))
                with self.subTest(f"{name} {hit}"):
                    self.assertEqual(done.returncode, 1, done.stderr)
                    lost = [json.loads(line) for line in done.stderr.splitlines()]
                    begin = sum(len(part) for part in parts[:hit])
                    self.assertEqual([(l["begin"], l["end"]) for l in lost],
                                     [(begin, begin + len(parts[hit]))])
                    saved = self.content("o")
                    text = gzip.decompress(saved) if name.endswith(".gz") else saved
                    self.assertEqual(text, b"".join(records[:hit] + records[hit + 1:]))

    def test_a_good_file_stays_as_it_is(self):
        records = [self.digested(i) for i in range(5)]
        path = self.put("a.warc", b"".join(records))
        done = self.run_ok("recover", path, "--output", self.path("o"))
        self.assertEqual(self.content("o"), b"".join(records))
        self.assertIn("recovered 5 records", done.stderr)

    def test_a_begin_that_is_destroyed(self):
        records = [self.digested(i) for i in range(5)]
        zst = self.path("z.warc.zst")
        self.run_ok("recompress", self.put("z.warc", b"".join(records)), "--compression", "zstd",
                    "--output", zst)
        for name, data in (("a.warc", b"".join(records)), ("a.warc.gz", gzipped(*records)),
                           ("a.warc.zst", self.content(zst))):
            path = self.put(name, b"\xff" * 100 + data[100:])
            done = stele("warc", "recover", "--force", path, "--output", self.path("o"))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("recovered 4 records", done.stderr)
            saved = self.run_ok("cat", self.path("o")).stdout.encode()
            self.assertEqual(saved, b"".join(records[1:]))

    def test_digests_of_other_bytes_are_no_damage(self):
        chunked = b"3\r\nabc\r\n0\r\n\r\n"
        block = http(chunked, Transfer_Encoding="chunked")
        records = [warc_record("response", "http://a/", block, WARC_Payload_Digest=digest)
                   for digest in (sha1(chunked), sha1(block), sha1(b"abc"))]
        path = self.put("a.warc", b"".join(records))
        self.run_ok("recover", path, "--output", self.path("o"))

    def test_damaged_records_can_be_kept(self):
        bad = self.digested(1).replace(b"pagepage", b"pageXage")
        path = self.put("a.warc", self.digested(0) + bad + self.digested(2))
        done = stele("warc", "recover", "--keep-damaged", path, "--output", self.path("o"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("kept though damaged", done.stderr)
        self.assertEqual(self.content("o"), self.content("a.warc"))

    def test_tianwang_and_arc(self):
        self.put("a.warc", b"".join(PAGES))
        self.run_ok("convert", "--to", "tianwang", "--compress", self.path("a.warc"), "--output",
                    self.path("a.tw"))
        text = bytearray(self.content("a.tw"))
        second = text.index(b"version:", 10)
        text[second - 20] ^= 0xff  # in the compressed data of the first page
        done = stele("warc", "recover", self.put("bad.tw", text), "--output", self.path("o.tw"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.content("o.tw"), self.content("a.tw")[second:])
        arc = ARC + b"".join(arc_record(f"http://a/{i}", http(b"a" * i)) for i in range(8))
        third = arc.index(b"http://a/2")
        done = stele("warc", "recover", self.put("bad.arc", arc[:third] + b"junk" + arc[third:]),
                     "--output", self.path("o.arc"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(self.listing(self.path("o.arc"))), 9)


def warc_head(length, more=b""):
    return (b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:big>\r\nWARC-Date: "
            b"2020-01-02T03:04:05Z\r\nWARC-Target-URI: http://example.org/big\r\n" + more +
            b"Content-Length: %d\r\n\r\n" % length)


class Memory(Folder):
    """However large a record is, memory stays small."""

    SIZE = 300 << 20

    def assert_small(self, memory):
        if not SANITIZED:
            self.assertLess(memory, MEMORY_MAX_BYTES)

    def big(self, write):
        """A large record between two small ones."""
        write(PAGES[0] + warc_head(self.SIZE))
        piece = bytes(range(256)) * 4096
        for _ in range(self.SIZE // len(piece)):
            write(piece)
        write(b"\r\n\r\n" + PAGES[1])

    def test_a_large_record_passes_through_every_command(self):
        for words in (["cat", "-"], ["cat", "--payload", "-"],
                      ["recompress", "--level", "1", "-", "--output", "-"],
                      ["recompress", "--level", "1", "--compression", "zstd", "-", "--output", "-"],
                      ["filter", "--level", "1", "-", "--output", "-"],
                      ["recover", "--compression", "gzip", "--level", "1", "-", "--output", "-"],
                      ["convert", "--to", "tianwang", "-", "--output", "-"]):
            with self.subTest(" ".join(words)):
                code, _, memory, err = run_measured(words, self.big)
                self.assertEqual(code, 0, err)
                self.assert_small(memory)

    def test_a_large_record_is_whole_afterwards(self):
        with open(self.path("big.warc"), "wb") as file:
            self.big(file.write)
        code, _, memory, err = run_measured(
            ["recompress", "--level", "1", self.path("big.warc"), "--output",
             self.path("big.warc.gz")])
        self.assertEqual(code, 0, err)
        self.assert_small(memory)
        self.assertEqual(sorted(os.listdir(self.folder)), ["big.warc", "big.warc.gz"])
        digests = []
        for name, opener in (("big.warc", open), ("big.warc.gz", gzip.open)):
            with opener(self.path(name), "rb") as file:
                digests.append(hashlib.file_digest(file, "sha1").digest())
        self.assertEqual(*digests)

    def test_a_large_record_that_is_cut_off_is_no_part_of_the_output(self):
        with open(self.path("big.warc"), "wb") as file:
            self.big(file.write)
            file.truncate(self.SIZE // 2)
        done = stele("warc", "recompress", self.path("big.warc"), "--output", self.path("o"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(gzip.decompress(self.content("o")), PAGES[0])

    def test_an_endless_field_is_given_up(self):
        def endless(write):
            write(PAGES[0] + b"WARC/1.0\r\nX-Long: ")
            for _ in range(200):
                write(b"x" * (1 << 20))
            write(b"\r\n\r\n" + PAGES[1])

        for words in (["cat", "-"], ["recompress", "-", "--output", "-"], ["ls", "-"]):
            with self.subTest(words[0]):
                code, _, memory, err = run_measured(words, endless)
                self.assertEqual(code, 1, err)
                self.assertIn("the head of the record has more than", err)
                self.assert_small(memory)


class BadInput(Folder):
    COMMANDS = (["cat"], ["filter", "--output", "o"], ["recompress", "--output", "o"],
                ["convert", "--to", "warc", "--output", "o"],
                ["convert", "--to", "tianwang", "--output", "o"], ["recover", "--output", "o"])

    def codes(self, path, stdin=None):
        """What each command says to a bad file: its exit codes, without crash or silence."""
        codes = set()
        for command in self.COMMANDS:
            words = [self.path(word) if word == "o" else word for word in command]
            done = stele("warc", *words, "--force" if "o" in command else "--quiet", path,
                         stdin=stdin)
            with self.subTest(f"{command[0]} {path}"):
                self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                if done.returncode:
                    self.assertTrue(done.stderr.startswith("stele: "), done.stderr)
                    self.assertNotIn("internal error", done.stderr)
            codes.add(done.returncode)
        return codes

    def test_an_empty_file_has_no_records(self):
        self.assertEqual(self.codes(self.put("empty.warc.gz", b"")), {0})
        self.assertEqual(self.codes("-", stdin=b""), {0})

    def test_what_is_no_archive_file_is_refused(self):
        for name, data in (("text", b"Dear Sir or Madam,\n" * 20), ("zip", b"PK\3\4" + bytes(99)),
                           ("gzip of text", gzip.compress(b"no records in here")),
                           ("one byte", b"W"), ("zeros", bytes(5000)),
                           ("gzip magic alone", b"\x1f\x8b\x08"),
                           ("zstd magic alone", b"\x28\xb5\x2f\xfd")):
            with self.subTest(name):
                self.assertEqual(self.codes(self.put("bad", data)), {3})
                self.assertEqual(self.codes("-", stdin=data), {3})

    def test_a_cut_member_is_named(self):
        data = gzipped(*PAGES[:2])
        first = len(gzipped(PAGES[0]))
        for size in (first + 5, first + 30, len(data) - 9, len(data) - 1):
            self.assertEqual(self.codes(self.put("cut.warc.gz", data[:size])), {1})
            self.assertEqual(self.codes("-", stdin=data[:size]), {1})

    def test_lengths_that_lie_are_named(self):
        length = len(PAGES[1].split(b"\r\n\r\n", 1)[1]) - 4
        for lie in (length - 7, length + 7, length + 10 ** 6, 2 ** 63, 10 ** 30):
            liar = PAGES[1].replace(b"Content-Length: %d" % length, b"Content-Length: %d" % lie)
            self.assertNotEqual(liar, PAGES[1])
            for pack in (b"".join, lambda pages: gzipped(*pages)):
                path = self.put("lie.warc", pack([PAGES[0], liar, PAGES[2]]))
                with self.subTest(f"{lie}"):
                    # A record that says too little can still be printed.
                    self.assertLessEqual(self.codes(path) - {0}, {1})
                    done = stele("warc", "recompress", "--force", path, "--output",
                                 self.path("o.warc.gz"))
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assert_sound(self.path("o.warc.gz"))
                    urls = [r["url"] for r in self.listing(self.path("o.warc.gz"))]
                    self.assertIn("http://example.org/0", urls)
                    self.assertNotIn("http://example.org/1", urls)

    def test_folders_and_missing_and_locked_files(self):
        self.assertEqual(self.codes(self.folder), {3})
        self.assertEqual(self.codes(self.path("missing")), {3})
        if os.geteuid() != 0:
            locked = self.put("locked", PAGES[0])
            os.chmod(locked, 0)
            self.assertEqual(self.codes(locked), {3})


class BadOutput(Folder):
    def test_a_full_disk_is_said(self):
        path = self.put("a.warc.gz", gzipped(*PAGES * 100))
        for words in (["cat", path], ["recompress", path, "--output", "-"],
                      ["filter", path, "--output", "-"], ["recover", path, "--output", "-"],
                      ["convert", "--to", "tianwang", path, "--output", "-"]):
            with self.subTest(words[0]), open("/dev/full", "wb") as full:
                done = subprocess.run([STELE, "warc", *words], stdout=full,
                                      stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b"No space left", done.stderr)

    def test_places_where_nothing_can_be_written(self):
        path = self.put("a.warc", PAGES[0])
        for words in (["--output", "/proc/none/o"], ["--output", self.path("missing/o")],
                      ["--directory", self.path("missing/deep")], ["--directory", path]):
            done = stele("warc", "recompress", path, *words)
            self.assertEqual(done.returncode, 3, words)
            self.assertTrue(done.stderr.startswith("stele: "))
        if os.geteuid() != 0:
            os.mkdir(self.path("locked"), 0o500)
            self.assertEqual(stele("warc", "recompress", path, "--directory",
                                   self.path("locked")).returncode, 3)

    def test_an_input_is_no_output(self):
        path = self.put("a.warc", PAGES[0])
        for words in (["--output", path], ["--output", self.path("../" + os.path.basename(
                self.folder) + "/a.warc")]):
            done = stele("warc", "recompress", "--force", path, *words)
            self.assertEqual(done.returncode, 3)
            self.assertIn("is an input", done.stderr)
        self.assertEqual(self.content("a.warc"), PAGES[0])

    def test_what_is_interrupted_leaves_no_output(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            process = subprocess.Popen(
                [STELE, "warc", "recompress", "-", "--output", self.path("o.warc.gz")],
                stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            process.stdin.write(b"".join(PAGES * 10))
            process.stdin.flush()
            while not os.path.exists(self.path("o.warc.gz.part")):
                time.sleep(0.01)
            process.send_signal(number)
            process.stdin.close()
            self.assertNotEqual(process.wait(timeout=60), 0)
            self.assertFalse(os.path.exists(self.path("o.warc.gz")))


@needs_samples
class Samples(Folder):
    def blocks(self, path):
        """The digests of all blocks, in order."""
        digests = []
        for record in self.listing(path):
            done = stele("warc", "cat", "--block", "--offset", str(record["offset"]), path)
            digests.append((record["type"], record["url"], sha1(done.stdout.encode("latin-1"))))
        return digests

    def test_recompressing_keeps_all_blocks(self):
        for name in ("pywb/iana.warc.gz", "jwarc/cc.warc.gz", "warcio/example.arc.gz",
                     "pywb/dupes.warc.gz"):
            for compression in ("gzip", "zstd", "none"):
                with self.subTest(f"{name} {compression}"):
                    self.run_ok("recompress", "--force", "--compression", compression,
                                sample(name), "--output", self.path("o"))
                    self.assertEqual(self.blocks(self.path("o")), self.blocks(sample(name)))

    def test_files_that_were_packed_wrongly_are_mended(self):
        for name in ("warcio/example-bad.warc.gz.bad", "warcio/example-wrong-chunks.warc.gz"):
            with self.subTest(name):
                self.run_ok("recompress", "--force", sample(name), "--output", self.path("o"))
                done = stele("warc", "check", "--json", self.path("o"))
                rules = {json.loads(line)["rule"] for line in done.stdout.splitlines()}
                self.assertFalse(rules & {"not-at-member-start", "record-spans-members"}, rules)
                whole = self.run_ok("cat", self.path("o")).stdout
                self.assertEqual(whole, self.run_ok("cat", sample(name)).stdout)

    def test_one_crawl_in_two_formats_converts_to_the_same_captures(self):
        arc, warc = (sample(f"jwat/IAH-20080430204825-00000-blackbook.{kind}.gz")
                     for kind in ("arc", "warc"))
        self.run_ok("convert", "--to", "warc", arc, "--output", self.path("a.warc.gz"))
        self.assert_sound(self.path("a.warc.gz"))

        def captures(path):
            lines = self.run_ok("index", path).stdout.splitlines()
            fields = [line.split(" ", 2) for line in lines]
            return {(key, date, json.loads(rest)["digest"]) for key, date, rest in fields
                    if not key.startswith("dns")}

        self.assertEqual(captures(self.path("a.warc.gz")), captures(arc))
        ours, theirs = captures(self.path("a.warc.gz")), captures(warc)
        self.assertGreater(len(ours & theirs), 0.9 * len(theirs))

    def test_old_files_go_around(self):
        for name in ("warcio/example.arc", "pywb/example.arc.gz"):
            with self.subTest(name):
                self.run_ok("convert", "--to", "warc", "--force", sample(name), "--output",
                            self.path("1.warc.gz"))
                self.run_ok("convert", "--to", "tianwang", "--force", self.path("1.warc.gz"),
                            "--output", self.path("2.tw"))
                self.run_ok("convert", "--to", "warc", "--force", self.path("2.tw"), "--output",
                            self.path("3.warc.gz"))
                self.assert_sound(self.path("3.warc.gz"))
                pages = [[b for b in self.blocks(path) if b[0] in ("response", "resource")]
                         for path in (sample(name), self.path("3.warc.gz"))]
                self.assertEqual(*pages)


if __name__ == "__main__":
    unittest.main()
