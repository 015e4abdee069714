#!/usr/bin/env python3
"""stele serve as a process of its own, beside others that write."""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import termios
import time
import unittest
import urllib.error
import urllib.request

from archive_lab import STELE, Archive, record, response
from store_remote_test import Server

SAMPLES = pathlib.Path(os.environ.get("STELE_TEST_DATA", "")) / "warc-samples"


class Serving(Archive):
    def serve(self, *archives, more=(), log=subprocess.DEVNULL, program=STELE, at="127.0.0.1:0"):
        options = [word for archive in archives or [self.archive]
                   for word in ("--archive", archive)]
        server = subprocess.Popen([program, "serve", *map(str, options), "--listen", at,
                                   "--replay-listen", at, *map(str, more)],
                                  stdout=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.origin = server.stdout.readline().strip().rstrip("/")
        return server

    def get(self, path, headers={}, trusted=None):
        """Status, headers and body, redirects followed."""
        request = urllib.request.Request(self.origin + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60, context=trusted) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def test_D6_a_revisit_is_unpacked_as_its_own_head_says(self):
        """The same bytes are a file at one URL, and sent compressed at the other."""
        packed = gzip.compress(b"<p>page", mtime=0)
        digest = base64.b32encode(hashlib.sha1(packed).digest()).decode()
        heads = {"http://a.org/x.gz": b"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\n\r\n",
                 "http://a.org/x": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                                   b"Content-Encoding: gzip\r\n\r\n"}
        for first, second in (list(heads), list(heads)[::-1]):
            self.archive = self.folder / first[-1]
            then = "2014-01-01T00:00:00Z"
            self.stele("import", self.put("a.warc.gz", (
                record("response", first, then, heads[first] + packed) +
                record("revisit", second, "2014-01-02T00:00:00Z", heads[second],
                       "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                       "identical-payload-digest", f"WARC-Payload-Digest: sha1:{digest}",
                       f"WARC-Refers-To-Target-URI: {first}", f"WARC-Refers-To-Date: {then}"))))
            self.serve()
            self.assertEqual(self.get("/web/2014id_/http://a.org/x")[2], b"<p>page")
            self.assertEqual(self.get("/web/2014id_/http://a.org/x.gz")[2], packed)

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

    def test_I7_only_those_who_log_in_look(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        users, certificate, key = (self.folder / name for name in ("users", "c.pem", "k.pem"))
        password = "correct horse battery"
        self.run_stele("user", "add", "ada", "--users", users, input=password.encode() + b"\n")
        token = self.run_stele("user", "token", "robot", "--users", users).strip()
        self.assertEqual(stat.S_IMODE(users.stat().st_mode), 0o600)
        self.assertNotIn(password, users.read_text())
        self.assertNotIn(token, users.read_text())
        self.assertIn("ada  password, 0 tokens", self.run_stele("user", "ls", "--users", users))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=test",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True)
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            server = self.serve(more=["--users", users, "--certificate", certificate, "--key", key,
                                      "--log"], log=log)
        self.assertTrue(self.origin.startswith("https://"))
        trusted = ssl.create_default_context(cafile=certificate)
        page = "/web/20140101000000id_/http://a.org/"
        ada = "Basic " + base64.b64encode(f"ada:{password}".encode()).decode()
        self.assertEqual(self.get(page, trusted=trusted)[0], 401)
        self.assertEqual(self.get("/health", trusted=trusted)[0], 200)
        for secret in ada, f"Bearer {token}":
            self.assertEqual(self.get(page, {"Authorization": secret}, trusted)[2], b"one")
        self.run_stele("user", "rm", "ada", "--users", users)
        end = time.monotonic() + 60
        while (self.get(page, {"Authorization": ada}, trusted)[0] == 200 and
               time.monotonic() < end):
            time.sleep(0.1)
        self.assertEqual(self.get(page, {"Authorization": ada}, trusted)[0], 401)
        server.terminate()
        server.wait()
        said = (self.folder / "log").read_text()
        self.assertIn('"status": 401', said)
        for secret in password, token, ada:
            self.assertNotIn(secret, said)

    def test_I7_users_are_made_with_care(self):
        users = self.folder / "users"
        self.run_stele("user", "add", "ada", "--users", users, input=b"short\n", code=2)
        self.run_stele("user", "add", "a b", "--users", users, input=b"long enough\n", code=2)
        self.run_stele("user", "add", "ada", input=b"long enough\n", code=2)
        self.run_stele("user", "rm", "ada", "--users", users, code=3)
        self.run_stele("user", "ls", "--users", users, code=3)
        users.write_text("nonsense\n")
        self.run_stele("user", "add", "ada", "--users", users, input=b"long enough\n", code=2)
        self.assertEqual(users.read_text(), "nonsense\n")

    def test_I7_whoever_gives_up_typing_a_password_sees_what_is_typed_again(self):
        users = self.folder / "users"
        child, terminal = pty.fork()
        if child == 0:
            os.execv(STELE, [STELE, "user", "add", "ada", "--users", str(users)])
        self.addCleanup(os.close, terminal)

        def shows():
            return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

        self.assertIn(b"Password of ada", os.read(terminal, 100))
        self.assertFalse(shows())
        os.write(terminal, b"\x03")
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 2)
        self.assertTrue(shows())
        self.assertFalse(users.exists())

    def test_W15_who_cannot_be_served_is_told_what_to_do(self):
        def fails(*words, code=3):
            done = subprocess.run([STELE, "serve", *map(str, words)], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60, check=False,
                                  env={"PATH": os.environ["PATH"]})
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        self.assertIn(". is no archive: it has no archive.toml", fails())
        self.assertIn("make one with stele crawl or stele import", fails("--archive", "nowhere"))
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        below = self.archive.relative_to(self.folder)
        self.assertIn(f"There are archives in it:\n  stele serve --archive {below}\n", fails())
        self.assertIn("make web", fails("--archive", below, "--web", "nowhere"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            said = fails("--archive", below, "--listen", f"localhost:{port}")
        self.assertIn(f"cannot listen on 127.0.0.1:{port}", said)
        self.assertIn("Give --listen 127.0.0.1:0 for any free one", said)

    def test_W15_without_its_pages_it_says_how_to_have_them_and_serves(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        alone = shutil.copy(STELE, self.folder / "alone")
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            server = self.serve(log=said, program=alone)
        self.assertEqual(self.get("/web/2014id_/http://a.org/")[2], b"one")
        server.terminate()
        self.assertIn("make web builds them", (self.folder / "said").read_text())

    def test_W15_without_a_browser_the_address_is_told(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            server = subprocess.Popen([STELE, "serve", "--archive", str(self.archive), "--listen",
                                       "127.0.0.1:0", "--open"], env={"PATH": str(self.folder)},
                                      stdout=subprocess.PIPE, stderr=said, text=True)
        self.addCleanup(server.stdout.close)
        address = server.stdout.readline().strip()
        server.terminate()
        self.assertEqual(server.wait(), 0)
        self.assertIn(f"open {address} yourself", (self.folder / "said").read_text())

    def test_I7_beyond_this_machine_only_when_told(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        users = self.folder / "users"
        self.run_stele("user", "token", "robot", "--users", users)
        self.stele("serve", "--listen", "0.0.0.0:0", code=2)
        self.stele("serve", "--listen", "127.0.0.1:0", "--replay-listen", "0.0.0.0:0", code=2)
        self.stele("serve", "--listen", "0.0.0.0:0", "--users", users, code=2)
        self.stele("serve", "--trusted-proxy", "anybody", code=2)
        self.stele("serve", "--users", self.folder / "none", code=3)
        server = self.serve(more=["--public"], at="0.0.0.0:0")
        self.origin = self.origin.replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(self.get("/web/20140101000000id_/http://a.org/")[2], b"one")
        self.assertEqual(self.get("/metrics")[0], 403)
        server.terminate()
        server = self.serve(more=["--user-header", "X-User"], at="0.0.0.0:0")
        self.origin = self.origin.replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(self.get("/web/20140101000000id_/http://a.org/")[0], 403)
        self.assertEqual(self.get("/web/20140101000000id_/http://a.org/", {"X-User": "ada"})[2],
                         b"one")
        server.terminate()

    def test_W15_a_dead_volume_server_is_named_and_the_rest_works(self):
        for name in ("near", "far"):
            self.stele("import", self.put(f"{name}.warc.gz", response(
                f"http://{name}.org/", f"20{'04' if name == 'far' else '14'}-05-01T10:00:00Z",
                name.encode())))
        store = self.folder / "store"
        self.run_stele("store", "add-volume", "--store", store, "v1")
        volume = Server(str(store), "v1")
        self.addCleanup(volume.stop, signal.SIGKILL)
        (self.archive / "connector.xml").write_text(
            '<connector version="1" epoch="1"><volume name="v1" state="writable" depth="3" '
            f'host="127.0.0.1" port="{volume.port}"/></connector>')
        with open(self.archive / "archive.toml", "a", encoding="utf-8") as config:
            config.write('\n[[volume]]\nname = "attic"\nconnector = "connector.xml"\n')
        self.run_stele("batch", "move", "--archive", self.archive, "200405", "--to", "attic")
        volume.stop()
        self.serve()
        for path in ("/web/20040501100000id_/http://far.org/",
                     "/web/20040501100000mp_/http://far.org/", "/record/200405/0",
                     "/api/v1/coherence?url=http://far.org/"):
            status, headers, body = self.get(path)
            self.assertEqual((status, headers["Retry-After"]), (503, "30"), (path, body))
            self.assertIn(b"attic", body)
            self.assertIn(b"stele store serve", body)
            self.assertNotIn(str(self.folder).encode(), body)
        self.assertEqual(self.get("/web/2014id_/http://near.org/")[2], b"near")
        self.assertIn(b"20040501100000", self.get("/cdx?url=far.org")[2])
        self.assertEqual(self.get("/timemap/link/http://far.org/")[0], 200)

    def test_W15_large_captures_are_sent_in_little_memory(self):
        line = b"<a href='/x'>link</a> and text around it\n" * 1000
        page = line * (200_000_000 // len(line))
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            page)))
        server = self.serve()

        def largest():
            status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
            return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024

        for modifier in "id_", "mp_":
            with urllib.request.urlopen(
                    f"{self.origin}/web/20140101000000{modifier}/http://a.org/",
                    timeout=60) as answer:
                size = 0
                while piece := answer.read(1 << 20):
                    size += len(piece)
            self.assertGreaterEqual(size, len(page))
        self.assertLess(largest(), 150_000_000)

    def test_W15_it_stops_when_told(self):
        self.stele("import", self.put("a.warc.gz", response("http://a.org/", "2014-01-01T00:00:00Z",
                                                            b"one")))
        for how in signal.SIGTERM, signal.SIGINT:
            server = self.serve()
            server.send_signal(how)
            self.assertEqual(server.wait(timeout=60), 0)

    def test_I7_several_archives_have_their_names(self):
        archives = []
        for name in "first", "second", "main":
            archives.append(self.folder / name)
            page = response("http://a.org/", "2014-01-01T00:00:00Z", name.encode())
            self.run_stele("import", "--archive", archives[-1],
                           self.put(name + ".warc.gz", page))
        self.serve(*archives)
        self.assertEqual(self.get("/web/2014id_/http://a.org/")[2], b"first")
        self.assertEqual(self.get("/second/web/2014id_/http://a.org/")[2], b"second")
        names = json.loads(self.get("/api/v1/archives")[2])["archives"]
        self.assertEqual([one["prefix"] for one in names],
                         ["/first/", "/second/", "/main-archive/"])

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
