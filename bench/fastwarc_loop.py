"""FastWARC as its users write it: a loop over the records of a file, in its fastest form.

    fastwarc_loop.py headers FILE     WARC and HTTP headers of every record
    fastwarc_loop.py digests FILE     and block and payload digest of every record checked
"""

import sys

from fastwarc.warc import ArchiveIterator


def headers(file):
    count = 0
    for record in ArchiveIterator(file, parse_http=True):
        if record.is_http:
            count += len(record.http_headers) > 0
    return count


def digests(file):
    good = 0
    for record in ArchiveIterator(file, parse_http=False):
        if not record.verify_block_digest(consume=False):
            sys.exit(f"wrong block digest: {record.record_id}")
        if record.is_http:
            record.parse_http()
            if not record.verify_payload_digest():
                sys.exit(f"wrong payload digest: {record.record_id}")
        good += 1
    return good


if __name__ == "__main__":
    print({"headers": headers, "digests": digests}[sys.argv[1]](sys.argv[2]))
