"""`stele store serve` and `--connector`: volumes behind a network, some of them dying."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
import urllib.error
import urllib.request

from archive_samples import STELE, stele

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Server:
    """`stele store serve` for one volume."""

    def __init__(self, store, volume, *words, listen="127.0.0.1:0"):
        self.process = subprocess.Popen(
            [STELE, "store", "serve", "--store", store, "--volume", volume, "--listen", listen,
             *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline().split()
        if not self.line:
            raise RuntimeError(self.process.stderr.read())
        self.url = self.line[0]
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, how=signal.SIGTERM):
        if self.process.returncode is None:
            self.process.send_signal(how)
        _, complaints = self.process.communicate(timeout=60)
        return self.process.returncode, complaints


def curl(*words, stdin=None):
    """(status, body) of a request by curl."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}",
         *words], input=stdin, capture_output=True, timeout=120, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), body


class StoreRemote(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.store = str(self.root / "store")
        self.servers = {}
        for volume in ("v1", "v2"):
            done = stele("store", "add-volume", "--store", self.store, volume)
            self.assertEqual(done.returncode, 0, done.stderr)

    def serve(self, volume, *words, **options):
        server = Server(self.store, volume, *words, **options)
        self.addCleanup(server.stop, signal.SIGKILL)
        self.servers[volume] = server
        return server

    def connector(self, tls=False, epoch=1):
        volumes = "".join(
            f'<volume name="{name}" state="writable" depth="3" host="127.0.0.1"'
            f' port="{server.port}" tls="{str(tls).lower()}"/>\n'
            for name, server in sorted(self.servers.items()))
        path = self.root / "connector.xml"
        path.write_text(f'<connector version="1" epoch="{epoch}">\n{volumes}</connector>\n')
        return str(path)

    def run_store(self, command, *words, stdin=None, code=0):
        done = stele("store", command, "--connector", str(self.root / "connector.xml"), *words,
                     stdin=stdin)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def put(self, content, *words):
        return self.run_store("put", *words, "-", stdin=content).split()[0]

    def test_W8_the_commands_work_through_a_connector(self):
        self.serve("v1")
        self.serve("v2")
        self.connector()
        volumes = set()
        for number in range(12):
            content = f"content {number}".encode() * 1000
            key = self.put(content, "--type", "text/plain")
            volumes.add(key.partition(":")[0])
            self.assertEqual(self.put(content, "--mode", "compare"), key)
            self.assertEqual(self.run_store("get", key).encode(), content)
            self.assertEqual(json.loads(self.run_store("stat", "--json", key))["references"], 2)
            self.run_store("rm", key)
        self.assertEqual(volumes, {"v1", "v2"})
        stats = [json.loads(line) for line in self.run_store("stats", "--json").splitlines()]
        self.assertEqual([line["volume"] for line in stats], ["v1", "v2"])
        self.assertEqual(sum(line["references"] for line in stats), 12)
        self.run_store("get", "v1:" + "0" * 64, code=3)
        self.run_store("put", "--store", self.store, "-", stdin=b"", code=2)

    def test_W8_a_large_content_comes_through_a_pipe(self):
        self.serve("v1")
        self.connector()
        folder = self.root / "temporary"
        folder.mkdir()
        content = os.urandom(1 << 20) * 70
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": str(folder)}):
            key = self.put(content)
            self.assertEqual(list(folder.iterdir()), [])
            self.assertEqual(self.put(content), key)
        self.assertEqual(self.run_store("get", key).encode("latin-1"), content)

    def test_W11_a_volume_joins_and_duplicates_are_still_found(self):
        stele("store", "add-volume", "--store", self.store, "v3")
        self.serve("v1")
        self.serve("v2")
        self.connector()
        contents = [f"content {number}".encode() for number in range(30)]
        keys = [self.put(content) for content in contents]
        old = (self.root / "connector.xml").read_text()
        self.serve("v3")
        self.connector(epoch=2)
        self.run_store("rehome")
        self.assertEqual([self.put(content) for content in contents], keys)
        # A client of the old epoch learns the new one.
        (self.root / "connector.xml").write_text(old)
        self.assertEqual([self.put(content) for content in contents], keys)
        more = {self.put(f"more {number}".encode()).partition(":")[0] for number in range(30)}
        self.assertEqual(more, {"v1", "v2", "v3"})

    def test_W9_contents_move_between_servers(self):
        done = stele("store", "add-volume", "--store", self.store, "v3", "--kind", "container")
        self.assertEqual(done.returncode, 0, done.stderr)
        for volume in ("v1", "v2", "v3"):
            self.serve(volume)
        self.connector()
        contents = [f"content {number}".encode() for number in range(40)]
        keys = [self.put(content) for content in contents]
        failures, stop = [], threading.Event()

        def use():
            while not stop.is_set():
                for key, content in zip(keys, contents):
                    done = stele("store", "get", "--connector", str(self.root / "connector.xml"),
                                 key)
                    if done.stdout.encode() != content:
                        failures.append(done.stderr)

        reader = threading.Thread(target=use)
        reader.start()
        try:
            self.run_store("migrate", "--from", "v1", "--to", "v3")
            self.run_store("migrate", "--from", "v2", "--to", "v3")
        finally:
            stop.set()
            reader.join()
        self.assertEqual(failures, [])
        lines = [json.loads(line) for line in self.run_store("stats", "--json").splitlines()]
        self.assertEqual({line["volume"]: line["blocks"] for line in lines},
                         {"v1": 0, "v2": 0, "v3": 40})
        # A volume that has left is known to the homes of the new epoch.
        self.servers.pop("v1").stop()
        self.connector(epoch=2)
        self.run_store("rehome")
        for key, content in zip(keys, contents):
            self.assertEqual(self.run_store("get", key).encode(), content)
            self.assertEqual(json.loads(self.run_store("stat", "--json", key))["references"], 1)
        self.assertTrue(all(self.put(content).startswith("v3:") for content in contents))

    def test_W9_a_served_store_is_checked_and_compacted(self):
        done = stele("store", "add-volume", "--store", self.store, "c1", "--kind", "container")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.serve("v1")
        self.serve("c1")
        self.connector()
        noise = random.Random(1)
        keys = [self.put(noise.randbytes(20_000), "--volume", "c1") for _ in range(20)]
        self.put(b"another", "--volume", "v1")
        self.run_store("rm", "-", stdin="\n".join(keys[1:]).encode())
        self.assertEqual(self.run_store("check"), "")

        def stored():
            stats = [json.loads(line) for line in self.run_store("stats", "--json").splitlines()]
            return next(line["stored_bytes"] for line in stats if line["volume"] == "c1")

        self.assertGreater(stored(), 400_000)
        done = stele("store", "compact", "--store", self.store)
        self.assertEqual(done.returncode, 3)
        self.assertIn("use --connector", done.stderr)
        self.run_store("compact")
        self.assertLess(stored(), 50_000)
        self.assertEqual(len(self.run_store("ls").splitlines()), 2)
        (container,) = pathlib.Path(self.store, "c1/containers").iterdir()
        whole = bytearray(container.read_bytes())
        whole[len(whole) // 3] ^= 1
        container.write_bytes(whole)
        done = stele("store", "check", "--connector", str(self.root / "connector.xml"))
        self.assertEqual((done.returncode, done.stdout.partition(": ")[0]), (1, keys[0]))

    def test_W8_documented_paths_take_documented_methods_and_no_others(self):
        """Each path of the OpenAPI page takes its methods and refuses others with their list."""
        server = self.serve("v1")
        documented = {}
        for line in (ROOT / "docs/store-api.yaml").read_text().splitlines():
            if line.startswith("components:"):
                break
            if found := re.fullmatch(r"  (/\S*):", line):
                methods = documented.setdefault(found[1], set())
            elif found := re.fullmatch(r"    (get|head|put|post|delete|patch):", line):
                methods.add(found[1].upper())
        self.assertGreater(len(documented), 15)
        for path, methods in documented.items():
            methods.discard("HEAD")  # goes with GET
            url = server.url + "/v1" + path.format(volume="v1", block="AB" * 32)
            for method in ("GET", "PUT", "POST", "DELETE", "PATCH"):
                request = urllib.request.Request(url, method=method)
                try:
                    with urllib.request.urlopen(request) as answer:
                        status, allowed, body = answer.status, "", ""
                except urllib.error.HTTPError as error:
                    with error:
                        status, allowed = error.code, error.headers.get("Allow", "")
                        body = error.read().decode()
                with self.subTest(method=method, path=path, body=body):
                    self.assertEqual(status != 405, method in methods or path == "/health")
                    self.assertNotIn("nothing at this path", body)
                    if status == 405:
                        self.assertEqual(set(allowed.split(", ")) - {"HEAD"}, methods)

    def test_W8_curl_can_do_it_all(self):
        server = self.serve("v1")
        volume, page = server.url + "/v1/volumes/v1", b"<p>a page</p>" * 20_000
        signature = hashlib.sha256(page).hexdigest().upper()
        query = f"?signature={signature}&size={len(page)}&owner=curl&operation="
        self.assertEqual(server.line[1:], ["v1"])
        self.assertEqual(json.loads(curl(server.url + "/v1/health")[1])["volumes"], ["v1"])

        def reference(operation):
            return json.loads(curl("-X", "POST", f"{volume}/references{query}{operation}")[1])

        self.assertEqual(reference("1"), {"outcome": "unknown"})
        target = f"{volume}/contents{query}1&type=text/html"
        for expected in (201, 200):
            status, answer = curl("--data-binary", "@-", target, stdin=page)
            self.assertEqual((status, json.loads(answer)["key"]), (expected, "v1:" + signature))
        # Chunked: curl does not know the length.
        status, _ = curl("-T", "-", "-X", "POST", f"{volume}/contents{query}2&mode=force-new",
                         stdin=page)
        self.assertEqual(status, 201)
        self.assertEqual(reference("3"), {"outcome": "referenced", "key": "v1:" + signature})
        content = f"{volume}/contents/{signature}"
        self.assertEqual(curl(content), (200, page))
        self.assertEqual(curl(content + ".1"), (200, page))
        info = json.loads(curl(content + "/info")[1])
        self.assertEqual((info["size"], info["references"]), (len(page), 2))
        self.assertLess(info["stored_size"], len(page))
        names = f"{signature}\n{'0' * 64}\n".encode()
        found = json.loads(curl("--data-binary", "@-", volume + "/lookup", stdin=names)[1])
        self.assertEqual([row.get("size", row.get("error")) for row in found["contents"]],
                         [len(page), "not-found"])
        for operation in "44":
            self.assertEqual(
                curl("-X", "DELETE", f"{content}?owner=curl&operation={operation}")[0], 204)
        self.assertEqual(json.loads(curl(volume)[1])["references"], 2)
        self.assertEqual(curl("-X", "PUT", volume + "/state?state=frozen")[0], 200)
        status, answer = curl("-X", "DELETE", content + "?owner=curl&operation=5")
        self.assertEqual((status, json.loads(answer)["error"]["code"]), (507, "full"))

    def test_W8_stops_when_told_and_gives_the_volume_back(self):
        server = self.serve("v1")
        busy = stele("store", "serve", "--store", self.store, "--volume", "v1")
        self.assertEqual(busy.returncode, 3)
        for how in (signal.SIGTERM, signal.SIGINT):
            self.assertEqual(server.stop(how)[0], 0)
            server = self.serve("v1")
        self.assertEqual(stele("store", "serve", "--store", self.store, "--listen", "x")
                         .returncode, 2)

    def test_W6_owners_share_a_server_but_not_their_contents(self):
        owners = self.root / "owners"
        owners.write_text("one token:token-of-one-one-one bytes=100\ntwo token:short\n")
        refused = stele("store", "serve", "--store", self.store, "--owners", str(owners))
        self.assertEqual(refused.returncode, 3)
        self.assertIn("line 2", refused.stderr)
        owners.write_text("one token:token-of-one-one-one bytes=100\n"
                          "two token:token-of-two-two-two\n")
        server = self.serve("v1", "--owners", str(owners))
        tokens = {}
        for name in ("one", "two"):
            tokens[name] = self.root / name
            tokens[name].write_text(f"token-of-{name}-{name}-{name}")
        self.connector()

        def run(command, owner, *words, **more):
            return self.run_store(command, *words, "--token-file", str(tokens[owner]), **more)

        key = run("put", "one", "-", "--owner", "one", stdin=b"content").split()[0]
        self.assertEqual(run("get", "one", key), "content")
        run("get", "two", key, code=3)
        self.assertEqual(
            run("put", "two", "-", "--owner", "two", stdin=b"content").split()[0], key)
        self.assertEqual(run("get", "two", key), "content")
        self.assertIn("one holds 7 of 100 bytes",
                      run("put", "one", "-", "--owner", "one", stdin=b"x" * 94, code=3))
        self.assertEqual(curl(f"{server.url}/v1/volumes/v1/owners")[0], 401)

    def test_W8_beyond_the_machine_it_wants_a_token(self):
        refused = stele("store", "serve", "--store", self.store, "--listen", "0.0.0.0:0")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--insecure", refused.stderr)
        self.serve("v1", "--insecure", listen="0.0.0.0:0")

    def test_W8_tls_and_token(self):
        certificate, key = str(self.root / "c.pem"), str(self.root / "k.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
            capture_output=True, check=True)
        token = self.root / "token"
        token.write_text("secret\n")
        server = self.serve("v1", "--certificate", certificate, "--key", key, "--token-file",
                            str(token))
        self.assertTrue(server.url.startswith("https://"))
        self.connector(tls=True)
        trusted = ("--ca-file", certificate)
        self.assertIn("token", self.run_store("put", "-", *trusted, stdin=b"a", code=3))
        self.run_store("put", "-", "--token-file", str(token), stdin=b"a", code=3)
        kept = self.put(b"a", *trusted, "--token-file", str(token))
        self.assertEqual(curl("--cacert", certificate, server.url + "/v1/volumes/v1")[0], 401)
        status, content = curl("--cacert", certificate, "-H", "Authorization: Bearer secret",
                               f"{server.url}/v1/volumes/v1/contents/{kept.partition(':')[2]}")
        self.assertEqual((status, content), (200, b"a"))

    def test_W10_a_killed_server_costs_only_its_own_contents_until_it_is_back(self):
        self.serve("v1")
        self.serve("v2")
        self.connector()
        acknowledged, begun, lock = {}, threading.Semaphore(0), threading.Lock()

        def put(number):
            content = f"content {number} ".encode() * (number * 40)
            key = self.put(content, "--mode", "compare")
            with lock:
                acknowledged[key] = content
            begun.release()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            puts = [pool.submit(put, number) for number in range(80)]
            for _ in range(30):
                self.assertTrue(begun.acquire(timeout=120))
            self.servers["v1"].stop(signal.SIGKILL)
            for done in puts:
                done.result()
        self.assertEqual(len(acknowledged), 80)
        lost = [key for key in acknowledged if key.startswith("v1:")]
        self.assertGreater(len(lost), 0)
        self.assertIn("volume v1", self.run_store("get", lost[0], code=3))
        there = next(key for key in acknowledged if key.startswith("v2:"))
        self.assertEqual(self.run_store("get", lost[0], there).encode(), acknowledged[there])

        self.serve("v1", listen=f"127.0.0.1:{self.servers['v1'].port}")
        for key, content in acknowledged.items():
            self.assertEqual(self.run_store("get", key).encode(), content)
            self.assertEqual(json.loads(self.run_store("stat", "--json", key))["references"], 1)
        for server in self.servers.values():
            self.assertEqual(server.stop()[0], 0)
        checked = stele("store", "check", "--store", self.store)
        self.assertIn(checked.returncode, (0, 1), checked.stderr)
        for line in checked.stdout.splitlines():
            # A store that was killed in the middle may leave a block, but takes none away.
            self.assertNotIn(line.partition(": ")[0], acknowledged)


if __name__ == "__main__":
    unittest.main()
