#!/usr/bin/env python3
"""Writes one WARC response record that is larger than 4 GB, to show that memory stays bounded.

    make_big_record.py plain          to standard output, as it is
    make_big_record.py gzip           to standard output, as one gzip member of a few megabytes

The body is one block of a megabyte over and over; its digests in the header are right.
"""

import base64
import hashlib
import random
import struct
import sys
import threading
import zlib

BLOCK_BYTES = 1 << 20
BLOCKS = 4097  # more than 2^32 bytes
HTTP_HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
             b"Content-Length: %d\r\n\r\n" % (BLOCK_BYTES * BLOCKS))


def digest(head, block):
    sha1 = hashlib.sha1(head)
    for _ in range(BLOCKS):
        sha1.update(block)
    return "sha1:" + base64.b32encode(sha1.digest()).decode()


def record_head(block):
    digests = {}
    threads = [threading.Thread(target=lambda n=name, h=head: digests.update({n: digest(h, block)}))
               for name, head in (("block", HTTP_HEAD), ("payload", b""))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ("WARC/1.1\r\nWARC-Type: response\r\n"
            "WARC-Record-ID: <urn:uuid:5d4f0c52-7a3e-4c58-9d0a-2f4b1b6f7e10>\r\n"
            "WARC-Date: 2024-02-29T12:00:00Z\r\nWARC-Target-URI: http://example.org/big\r\n"
            f"WARC-Block-Digest: {digests['block']}\r\n"
            f"WARC-Payload-Digest: {digests['payload']}\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(HTTP_HEAD) + BLOCK_BYTES * BLOCKS}\r\n\r\n").encode() + HTTP_HEAD


def write_plain(out):
    block = random.Random(1).randbytes(BLOCK_BYTES)
    out.write(record_head(block))
    for _ in range(BLOCKS):
        out.write(block)
    out.write(b"\r\n\r\n")


def write_gzip(out):
    """A full flush ends a deflate block at a byte and forgets what came before, so the body is
    compressed once and its compressed bytes repeated."""
    block = bytearray(BLOCK_BYTES)
    block[::4096] = b"." * (BLOCK_BYTES // 4096)
    head = record_head(block)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    pieces = []
    for data, flush in ((head, zlib.Z_FULL_FLUSH), (block, zlib.Z_FULL_FLUSH),
                        (b"\r\n\r\n", zlib.Z_FINISH)):
        pieces.append(deflate.compress(data) + deflate.flush(flush))
    out.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + pieces[0])
    crc = zlib.crc32(head)
    for _ in range(BLOCKS):
        out.write(pieces[1])
        crc = zlib.crc32(block, crc)
    crc = zlib.crc32(b"\r\n\r\n", crc)
    size = len(head) + BLOCK_BYTES * BLOCKS + 4
    out.write(pieces[2] + struct.pack("<II", crc, size & 0xFFFFFFFF))


def main():
    writers = {"plain": write_plain, "gzip": write_gzip}
    if len(sys.argv) != 2 or sys.argv[1] not in writers:
        sys.exit(__doc__)
    try:
        writers[sys.argv[1]](sys.stdout.buffer)
    except BrokenPipeError:
        sys.exit("make_big_record.py: the reader went away")


if __name__ == "__main__":
    main()
