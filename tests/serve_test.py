#!/usr/bin/env python3
"""stele serve as a process of its own, beside others that write."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from archive_lab import STELE, Archive, response

SAMPLES = pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "warc-samples"


class Serving(Archive):
    def serve(self, *archives):
        options = [word for archive in archives or [self.archive]
                   for word in ("--archive", archive)]
        server = subprocess.Popen([STELE, "serve", *map(str, options), "--listen", "127.0.0.1:0",
                                   "--replay-listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.origin = server.stdout.readline().strip().rstrip("/")
        return server

    def get(self, path):
        """Status, headers and body, redirects followed."""
        try:
            with urllib.request.urlopen(self.origin + path, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def test_W15_new_captures_show_within_five_seconds(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        self.serve()
        self.assertEqual(self.get("/web/2014id_/http://a.org/")[2], b"one")
        self.assertEqual(self.get("/web/2014id_/http://b.org/")[0], 404)
        self.stele("import", self.put("b.warc.gz", response("http://b.org/", "2014-01-01T00:00:00Z",
                                                            b"two")))
        end = time.monotonic() + 60  # five where the machine is idle
        while self.get("/web/2014id_/http://b.org/")[0] == 404 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(self.get("/web/2014id_/http://b.org/")[2], b"two")

    def test_W15_it_stops_when_told(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        for how in signal.SIGTERM, signal.SIGINT:
            server = self.serve()
            server.send_signal(how)
            self.assertEqual(server.wait(timeout=60), 0)

    def test_I7_several_archives_have_their_names(self):
        archives = []
        for name in "first", "second":
            archives.append(self.folder / name)
            page = response("http://a.org/", "2014-01-01T00:00:00Z", name.encode())
            self.run_stele("import", "--archive", archives[-1],
                           self.put(name + ".warc.gz", page))
        self.serve(*archives)
        self.assertEqual(self.get("/web/2014id_/http://a.org/")[2], b"first")
        self.assertEqual(self.get("/second/web/2014id_/http://a.org/")[2], b"second")
        names = json.loads(self.get("/api/v1/archives")[2])["archives"]
        self.assertEqual([one["prefix"] for one in names], ["/first/", "/second/"])

    def test_I7_what_cannot_be_served_is_said(self):
        self.run_stele("serve", "--archive", self.folder / "nothing", code=3)
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        self.stele("serve", "--listen", "nowhere", code=2)
        self.stele("serve", "--web", self.folder, code=3)
        (self.archive / "access.aclj").write_text("nonsense\n")
        self.stele("serve", "--listen", "127.0.0.1:0", code=2)

    @unittest.skipUnless((SAMPLES / "pywb").exists(), "no samples here (STELE_TEST_DATA)")
    def test_I7_every_capture_of_the_samples_is_a_memento(self):
        self.stele("import", SAMPLES / "pywb" / "iana.warc.gz", SAMPLES / "pywb" / "dupes.warc.gz")
        self.serve()
        for row in self.rows():
            digits = row["time"].translate(str.maketrans("", "", "-:TZ."))[:14]
            for modifier in "id_", "mp_":
                status, headers, _ = self.get(f"/web/{digits}{modifier}/{row['url']}")
                self.assertIsNotNone(headers["Memento-Datetime"], row)
                self.assertLess(status, 500, row)
            timemap = self.get(f"/timemap/link/{row['url']}")[2].decode()
            self.assertIn(f"/web/{digits}/", timemap)


if __name__ == "__main__":
    unittest.main()
