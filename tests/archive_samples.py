"""What the integration tests share: the program, the foreign samples, and records made by hand."""

import gzip
import os
import subprocess
import unittest
import zlib

STELE = os.environ["STELE"]
SAMPLES = os.path.join(os.environ.get("STELE_TEST_DATA", ""), "warc-samples")

needs_samples = unittest.skipUnless(
    os.path.isdir(SAMPLES), f"no foreign sample data at {SAMPLES}")


def sample(name):
    return os.path.join(SAMPLES, name)


def stele(*words, stdin=None):
    """Runs the program; text comes back as bytes turned into str one to one."""
    done = subprocess.run([STELE, *words], input=stdin, capture_output=True, timeout=300)
    done.stdout = done.stdout.decode("latin-1")
    done.stderr = done.stderr.decode("latin-1")
    return done


def warc_record(type, uri, block, content_type="application/http; msgtype=response",
                date="2020-01-02T03:04:05Z", **fields):
    """A WARC/1.0 record; further fields as WARC_Name=value."""
    head = [f"WARC-Type: {type}", f"WARC-Target-URI: {uri}", f"WARC-Date: {date}",
            f"WARC-Record-ID: <urn:uuid:{zlib.crc32((type + uri).encode() + block)}>",
            f"Content-Type: {content_type}", f"Content-Length: {len(block)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return b"WARC/1.0\r\n" + "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def gzipped(*records):
    return b"".join(gzip.compress(record, mtime=0) for record in records)
