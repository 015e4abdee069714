#!/usr/bin/env python3
"""Writes .warc.gz files to measure with, without any code of the program under test.

    make_warc.py --out FOLDER [--megabytes N] [--versions FILE.zst]

FOLDER gets half-0.warc.gz and half-1.warc.gz, pages.warc.gz (the two one after the other),
small.warc.gz (the first bytes of each page, for many small records) and pages.json with their
numbers. Each file begins with a warcinfo record; every page is a response
record, each record a gzip member (zlib, level 6). Block and payload digests are SHA-1 in base 32.

The pages are all versions of the pages of a real site, read from --versions with the zstd
program, until N megabytes are written. Where that file is missing or too small, made-up pages
fill the rest. The same arguments give the same bytes.
"""

import argparse
import base64
import collections
import concurrent.futures
import email.utils
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time
import uuid
import zlib

FORMAT_VERSION = 2  # raise it when the files would come out otherwise
BATCH_BYTES = 4 << 20
SMALL_BODY_BYTES = 1000
PACKED_AT_ONCE = 8  # batches
FIRST_MADE_UP_TIME = 1_400_000_000


def sha1(*parts):
    digest = hashlib.sha1()
    for part in parts:
        digest.update(part)
    return "sha1:" + base64.b32encode(digest.digest()).decode()


def record(kind, fields, block):
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return b"".join((f"WARC/1.1\r\nWARC-Type: {kind}\r\n{head}".encode(),
                     f"Content-Length: {len(block)}\r\n\r\n".encode(), block, b"\r\n\r\n"))


def record_id(*parts):
    name = "\n".join(map(str, parts)).encode()
    return f"<urn:uuid:{uuid.UUID(bytes=hashlib.sha256(name).digest()[:16], version=4)}>"


def warc_date(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def warcinfo(name):
    block = b"software: bench/make_warc.py\r\nformat: WARC File Format 1.1\r\n"
    return record("warcinfo", [
        ("WARC-Record-ID", record_id("warcinfo", name)), ("WARC-Date", warc_date(0)),
        ("WARC-Filename", name), ("WARC-Block-Digest", sha1(block)),
        ("Content-Type", "application/warc-fields")], block)


def response(url, seconds, body):
    http_date = email.utils.formatdate(seconds, usegmt=True)
    head = (f"HTTP/1.1 200 OK\r\nDate: {http_date}\r\nServer: Apache/2.4.57 (Unix)\r\n"
            f"Last-Modified: {http_date}\r\nETag: \"{len(body):x}-{seconds:x}\"\r\n"
            f"Accept-Ranges: bytes\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: max-age=300\r\nConnection: close\r\n"
            "Content-Type: text/html; charset=utf-8\r\n\r\n").encode()
    block = head + body
    return record("response", [
        ("WARC-Record-ID", record_id(url, seconds, len(body))), ("WARC-Date", warc_date(seconds)),
        ("WARC-Target-URI", url), ("WARC-IP-Address", "192.0.2.7"),
        ("WARC-Block-Digest", sha1(block)), ("WARC-Payload-Digest", sha1(body)),
        ("Content-Type", "application/http; msgtype=response")], block)


def member(raw):
    deflate = zlib.compressobj(6, zlib.DEFLATED, 31)
    return deflate.compress(raw) + deflate.flush()


def pack(batch):
    """Turns [(url, seconds, body)] into gzip members: (bytes, raw bytes) of the pages, and of
    their first bytes."""
    def members(body_bytes):
        raw = [response(url, seconds, body[:body_bytes]) for url, seconds, body in batch]
        return b"".join(map(member, raw)), sum(map(len, raw))
    return len(batch), members(None), members(SMALL_BODY_BYTES)


def versions(file):
    """Yields (url, seconds, body) of each version in a *.versions.zst file."""
    with subprocess.Popen(["zstd", "-dc", "--long=27", str(file)], stdout=subprocess.PIPE) as zstd:
        while line := zstd.stdout.readline():
            path, seconds, size = line.decode("utf-8", "replace").rstrip("\n").split("\t")
            if size == "-":
                continue
            body = zstd.stdout.read(int(size))
            zstd.stdout.read(1)
            yield f"http://www.openbsd.org/{path.replace(' ', '%20')}", int(seconds), body
        zstd.stdout.close()


def made_up_pages():
    """Yields pages without end. Whole paragraphs are drawn, which is quick and compresses as
    prose does, because within one page few of them repeat."""
    dice = random.Random(20010101)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(5000)]
    weights = [1 / (rank + 2) for rank in range(len(words))]
    paragraphs = ["<p>" + " ".join(dice.choices(words, weights, k=dice.randint(30, 120))) +
                  f' <a href="/{word}.html">{word}</a></p>\n' for word in words[:3000]]
    number = 0
    while True:
        number += 1
        text = "".join(dice.choices(paragraphs, k=dice.randint(5, 110)))
        body = (f"<!DOCTYPE html>\n<html><head><title>Page {number}</title></head>\n<body>\n"
                f"{text}</body></html>\n")
        yield f"http://www.example.org/{number}.html", FIRST_MADE_UP_TIME + number, body.encode()


def usable(file):
    return bool(file and pathlib.Path(file).exists() and shutil.which("zstd"))


def plan(megabytes, file):
    """What makes the bytes of the files what they are."""
    return {"format_version": FORMAT_VERSION, "megabytes": megabytes,
            "source": pathlib.Path(file).name if usable(file) else "made up"}


def pages(file):
    if usable(file):
        yield from versions(file)
    else:
        print(f"make_warc.py: no {file} or no zstd program: making pages up", file=sys.stderr)
    yield from made_up_pages()


def batches(source):
    batch, size = [], 0
    for page in source:
        batch.append(page)
        size += len(page[2])
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0


def pack_all(batches):
    """What pack() makes of each, in order, some at a time: compressing lets other threads run."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = collections.deque()
        for batch in batches:
            waiting.append(pool.submit(pack, batch))
            if len(waiting) == PACKED_AT_ONCE:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def write(out, megabytes, file):
    out.mkdir(parents=True, exist_ok=True)
    halves = [out / "half-0.warc.gz", out / "half-1.warc.gz"]
    numbers = {**plan(megabytes, file), "responses": 0, "records": 2, "raw_bytes": 0,
               "file_bytes": 0, "small_raw_bytes": 0}
    with halves[0].open("wb") as a, halves[1].open("wb") as b, \
            (out / "small.warc.gz").open("wb") as small:
        for half, handle in zip(halves, (a, b)):
            raw = warcinfo(half.name)
            numbers["raw_bytes"] += len(raw)
            numbers["file_bytes"] += handle.write(member(raw))
        packed = pack_all(batches(pages(file)))
        for number, (count, (data, raw_bytes), (small_data, small_raw_bytes)) in enumerate(packed):
            numbers["file_bytes"] += (a, b)[number % 2].write(data)
            small.write(small_data)
            numbers["responses"] += count
            numbers["records"] += count
            numbers["raw_bytes"] += raw_bytes
            numbers["small_raw_bytes"] += small_raw_bytes
            if numbers["file_bytes"] >= megabytes * 1_000_000:
                break
        packed.close()
    with (out / "pages.warc.gz").open("wb") as whole:
        for half in halves:
            with half.open("rb") as source:
                shutil.copyfileobj(source, whole, 1 << 20)
    (out / "pages.json").write_text(json.dumps(numbers, indent=1) + "\n")
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--megabytes", type=int, default=512, help="size of pages.warc.gz")
    parser.add_argument("--versions", help="a *.versions.zst file")
    options = parser.parse_args()
    print(json.dumps(write(options.out, options.megabytes, options.versions)))


if __name__ == "__main__":
    main()
