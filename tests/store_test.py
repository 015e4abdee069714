"""`stele store`: what goes in comes out, once however often it was stored."""

import gzip
import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import tempfile
import unittest

from archive_samples import STELE, stele


class Store(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.store = str(self.root / "store")
        self.run_store("add-volume", "v1", "--depth", "2")

    def run_store(self, command, *words, stdin=None, code=0):
        done = stele("store", command, "--store", self.store, *words, stdin=stdin)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def put(self, content, *words):
        return self.run_store("put", *words, "-", stdin=content).split()[0]

    def references(self, key):
        return json.loads(self.run_store("stat", "--json", key))["references"]

    def block(self, key):
        signature = key.split(":")[1]
        return self.root / "store/v1/blocks" / signature[:2] / signature[2:]

    def test_W6_what_goes_in_comes_out(self):
        names = []
        for number, content in enumerate([b"", b"text", bytes(range(256)) * 8192]):
            names.append(str(self.root / str(number)))
            pathlib.Path(names[-1]).write_bytes(content)
        lines = self.run_store("put", "--mode", "compare", *names).splitlines()
        self.assertEqual([line.split("  ")[1] for line in lines], names)
        for line, name in zip(lines, names):
            key = line.split("  ")[0]
            content, copy = pathlib.Path(name).read_bytes(), name + ".copy"
            self.assertEqual(self.run_store("get", key), content.decode("latin-1"))
            self.run_store("get", key, "--output", copy)
            self.assertEqual(pathlib.Path(copy).read_bytes(), content)
            self.run_store("get", key, "--output", copy, code=3)

    def on_a_terminal(self, command, *words):
        """The process, and what it writes for people."""
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen([STELE, "store", command, "--store", self.store, *words],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        return process, terminal

    def test_W6_progress_is_shown_on_a_terminal(self):
        process, terminal = self.on_a_terminal("put", "-")
        process.stdin.write(b"text")
        process.stdin.flush()
        shown = b""
        while b"MB/s" not in shown:  # before the content has ended
            shown += os.read(terminal, 1000)
        key = process.communicate()[0].split()[0].decode()
        self.assertEqual(self.run_store("get", key), "text")
        process, terminal = self.on_a_terminal("check")
        while b"1 of 1 blocks" not in shown:
            shown += os.read(terminal, 1000)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        process, terminal = self.on_a_terminal("put", "--quiet", "-")
        process.communicate(b"other")
        self.assertEqual(process.returncode, 0)
        with self.assertRaises(OSError):  # nothing has come
            os.read(terminal, 1)

    def test_W4_a_duplicate_costs_a_reference(self):
        key = self.put(b"content")
        self.assertEqual(self.put(b"content", "--owner", "other"), key)
        self.assertEqual(self.references(key), 2)
        self.assertNotEqual(self.put(b"content", "--mode", "force-new"), key)
        self.run_store("rm", key)
        self.run_store("rm", key, code=3)
        self.assertEqual(self.run_store("get", key), "content")
        self.run_store("rm", key, "--owner", "other")
        self.run_store("get", key, code=3)
        volume = json.loads(self.run_store("stats", "--json"))
        self.assertEqual((volume["blocks"], volume["references"]), (1, 1))

    def test_W6_a_repeated_command_counts_once(self):
        for _ in range(3):
            key = self.put(b"content", "--operation", "put-1")
        self.assertEqual(self.references(key), 1)
        self.put(b"content")
        for _ in range(3):
            self.run_store("rm", "--operation", "rm-1", key)
        self.assertEqual(self.references(key), 1)

    def test_W6_keys_come_from_the_standard_input(self):
        files = [self.root / name for name in ("one", "two", "three  3")]
        for file in files:
            file.write_bytes(file.name.encode())
        printed = self.run_store("put", *map(str, files))
        keys = [line.split()[0] for line in printed.splitlines()]
        lines = self.run_store("stat", "--json", "-", stdin=printed.encode()).splitlines()
        self.assertEqual([json.loads(line)["key"] for line in lines], keys)
        self.run_store("rm", keys[0], "-", stdin="\n".join(printed.splitlines()[1:]).encode())
        self.assertEqual(self.run_store("ls"), "")
        for command in (("rm",), ("migrate", "--from", "v1", "--to", "v2")):
            self.run_store(*command, "-", stdin=b"\n", code=2)
            self.run_store(*command, "-", stdin=b"no key\n", code=2)

    def test_W3_a_block_is_read_without_the_program(self):
        page = b"<p>a page</p>" * 100
        block = self.block(self.put(page, "--type", "text/html")).read_bytes()
        header, content = block.split(b"\n\n", 1)
        self.assertIn(b"\nCompression: gzip", header)
        self.assertIn(b"\nSize: 00000000000000001300\n", header)
        self.assertTrue(header.endswith(b"\nReferences: 0000000001"))
        self.assertEqual(gzip.decompress(content), page)

    def test_check_finds_and_names_a_flipped_bit(self):
        key = self.put(b"some content")
        self.put(b"more content")
        self.assertEqual(self.run_store("check"), "")
        block = bytearray(self.block(key).read_bytes())
        block[-1] ^= 1
        self.block(key).write_bytes(block)
        defects = self.run_store("check", "--json", code=1).splitlines()
        self.assertEqual([json.loads(defect)["where"] for defect in defects], [key])
        self.run_store("get", key, code=3)

    def test_W4_everything_below_a_directory(self):
        site = self.root / "site"
        (site / "a/b").mkdir(parents=True)
        (site / "a/b/page.HTML").write_text("<p>" * 1000)
        (site / "a/copy.html").write_text("<p>" * 1000)
        (site / "z.jpg").write_bytes(b"\xff" * 1000)
        os.symlink(site, site / "loop")
        os.symlink(site / "nowhere", site / "dangling")
        lines = [json.loads(line) for line in
                 self.run_store("put", "--json", "--threads", "3", str(site)).splitlines()]
        self.assertEqual([line["file"] for line in lines],
                         [str(site / name) for name in ("a/b/page.HTML", "a/copy.html", "z.jpg")])
        self.assertEqual(lines[0]["key"], lines[1]["key"])
        self.assertEqual(sorted(line["new"] for line in lines), [False, True, True])
        for line, codec in zip(lines, ("gzip", "gzip", "identity")):
            info = json.loads(self.run_store("stat", "--json", line["key"]))
            self.assertEqual(info["compression"], codec)
        self.run_store("put", str(site), str(self.root / "missing"), code=3)

    def test_W7_the_codec_can_be_chosen(self):
        self.run_store("add-volume", "c1", "--kind", "container")
        for volume, codec, stored in (("v1", "zstd:19", "zstd"), ("v1", "identity", "identity"),
                                      ("v1", "deflate", "deflate"), ("c1", "gzip:9", "gzip"),
                                      ("c1", "identity", "identity")):
            key = self.put(codec.encode() * 1000, "--volume", volume, "--codec", codec)
            info = json.loads(self.run_store("stat", "--json", key))
            self.assertEqual(info["compression"], stored)
            self.assertEqual(self.run_store("get", key), codec * 1000)
        self.run_store("put", "--volume", "c1", "--codec", "zstd", "-", stdin=b"x" * 1000, code=3)
        self.run_store("put", "--codec", "lzma", "-", code=2)

    def test_W9_states(self):
        key = self.put(b"content")
        self.run_store("set-state", "v1", "read-only")
        self.assertEqual(self.put(b"content"), key)
        self.run_store("put", "-", stdin=b"new", code=3)
        self.run_store("set-state", "v1", "frozen")
        self.run_store("put", "-", stdin=b"content", code=3)
        self.run_store("rm", key, code=3)
        self.assertEqual(self.run_store("get", key), "content")
        self.assertEqual(json.loads(self.run_store("stats", "--json"))["state"], "frozen")
        self.run_store("set-state", "v1", "writable")
        self.put(b"new")

    def test_W4_what_an_acknowledgement_promises_is_chosen_for_each_volume(self):
        self.run_store("add-volume", "b1", "--durability", "buffered")
        self.run_store("add-volume", "b2", "--kind", "container", "--durability", "buffered")
        keys = [self.put(b"content of " + name, "--volume", name.decode())
                for name in (b"b1", b"b2")]
        for volume in ("b1", "b2"):
            file = self.root / "store" / volume / "volume"
            self.assertTrue(file.read_text().endswith("durability buffered\n"))
            self.run_store("set-durability", volume, "synced")
            self.assertNotIn("durability", file.read_text())
        self.assertEqual(self.run_store("get", keys[0]), "content of b1")
        self.assertEqual(self.run_store("get", keys[1]), "content of b2")
        self.run_store("check")
        self.run_store("set-durability", "b1", "buffered")
        self.run_store("get", keys[0])
        self.run_store("check")
        self.run_store("set-durability", "b1", "sometimes", code=2)
        self.run_store("set-durability", "v9", "synced", code=3)
        self.run_store("add-volume", "b3", "--durability", "sometimes", code=2)

    def test_W1_both_kinds_of_volumes_in_one_store(self):
        self.run_store("add-volume", "c1", "--kind", "container")
        contents = [f"content {number}".encode() for number in range(20)]
        keys = [self.put(content) for content in contents]
        self.assertEqual({key.split(":")[0] for key in keys}, {"v1", "c1"})
        self.assertEqual([self.put(content) for content in contents], keys)
        for key, content in zip(keys, contents):
            self.assertEqual(self.run_store("get", key).encode(), content)
            self.assertEqual(self.references(key), 2)
            self.run_store("rm", key)
        self.assertEqual(self.run_store("check"), "")
        (container,) = (self.root / "store/c1/containers").iterdir()
        whole = gzip.decompress(container.read_bytes())
        self.assertTrue(whole.startswith(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n"))

    def test_W10_volumes_and_replicas(self):
        self.run_store("add-volume", "v2", "--capacity", "1000000")
        keys = [self.put(b"content", "--volume", volume) for volume in ("v1", "v2")]
        self.assertEqual([key.split(":")[0] for key in keys], ["v1", "v2"])
        os.remove(self.block(keys[0]))
        self.assertEqual(self.run_store("get", *keys), "content")
        self.assertEqual(len(self.run_store("stats").splitlines()), 2)
        self.assertIn("missing", self.run_store("check", code=1))

    def test_W10_copies_survive_a_volume_and_are_repaired(self):
        self.run_store("add-volume", "v2", "--depth", "2")
        self.run_store("add-volume", "c3", "--kind", "container")
        contents = [bytes([number]) * 3000 for number in range(9)]
        keys = [self.put(content, "--copies", "2") for content in contents]
        shutil.move(self.root / "store/v1", self.root / "lost")
        for key, content in zip(keys, contents):
            self.assertEqual(self.run_store("get", key), content.decode("latin-1"))
        self.run_store("repair", "--copies", "2")
        self.assertEqual(sum(json.loads(line)["blocks"] for line in
                             self.run_store("stats", "--json").splitlines()), 18)
        shutil.move(self.root / "lost", self.root / "store/v1")
        self.run_store("rm", *keys)
        self.run_store("repair", "--copies", "2")
        self.assertEqual(sum(json.loads(line)["blocks"] for line in
                             self.run_store("stats", "--json").splitlines()), 0)

    def test_W6_what_each_owner_holds(self):
        first = self.put(b"content", "--owner", "a")
        self.put(b"content", "--owner", "b")
        second = self.put(b"more", "--owner", "b")
        listed = [json.loads(line) for line in self.run_store("ls", "--json").splitlines()]
        self.assertEqual({line["key"]: (line["size"], line["references"]) for line in listed},
                         {first: (7, 2), second: (4, 1)})
        self.assertEqual(self.run_store("ls", "--owner", "a"), f"{first}  7  1\n")
        owners = [json.loads(line)
                  for line in self.run_store("stats", "--owners", "--json").splitlines()]
        self.assertEqual(owners, [
            {"volume": "v1", "owner": "a", "references": 1, "content_bytes": 7},
            {"volume": "v1", "owner": "b", "references": 2, "content_bytes": 11}])

    def test_W6_a_sweep_takes_back_what_is_not_claimed(self):
        self.run_store("add-volume", "c1", "--kind", "container")
        keys = [self.put(f"content {number}".encode(), "--owner", "a") for number in range(10)]
        others = [self.put(b"content 0", "--owner", "b"), self.put(b"other", "--owner", "b")]
        lists, claims = str(self.root / "sweep"), self.root / "claims"
        sweep = ("sweep", "--owner", "a")
        self.run_store(*sweep, "--finish", lists, "--keep", str(claims), code=3)
        self.run_store(*sweep, "--begin", lists)
        late = self.put(b"later", "--owner", "a")
        claims.write_text("no key\n")
        self.run_store(*sweep, "--finish", lists, "--keep", str(claims), code=3)
        claims.write_text("".join(f"{key}  some file\n" for key in keys[:4:-1]))
        for _ in range(2):
            self.run_store(*sweep, "--finish", lists, "--keep", str(claims))
            held = self.run_store("ls", "--owner", "a")
            self.assertEqual({line.split()[0] for line in held.splitlines()}, {*keys[5:], late})
        held = self.run_store("ls", "--owner", "b")
        self.assertEqual({line.split()[0] for line in held.splitlines()}, set(others))
        self.run_store(*sweep, code=2)

    def blocks(self):
        lines = [json.loads(line) for line in self.run_store("stats", "--json").splitlines()]
        return {line["volume"]: line["blocks"] for line in lines}

    def test_W9_contents_move_and_old_keys_stay_good(self):
        self.run_store("add-volume", "c2", "--kind", "container")
        contents = [f"content {number}".encode() for number in range(12)]
        keys = [self.put(content, "--owner", "a") for content in contents]
        again = [self.put(content, "--owner", "b") for content in contents[:4]]
        self.assertEqual(again, keys[:4])
        here = [key for key in keys if key.startswith("v1:")]
        self.run_store("set-state", "v1", "read-only")
        figures = json.loads(self.run_store("migrate", "--from", "v1", "--to", "c2", "--json",
                                            here[0]))
        self.assertEqual((figures["moved"], figures["failed"]), (1, 0))
        self.run_store("migrate", "--from", "v1", "--to", "c2")
        self.assertEqual(self.blocks(), {"v1": 0, "c2": 12})
        self.assertEqual(self.run_store("check"), "")

        def all_is_good(references):
            for number, (key, content) in enumerate(zip(keys, contents)):
                self.assertEqual(self.run_store("get", key).encode(), content)
                self.assertEqual(self.references(key), references[number])

        counts = [2] * 4 + [1] * 8
        all_is_good(counts)
        # Duplicates are found where they lie now.
        new_keys = [self.put(content, "--owner", "b") for content in contents]
        self.assertEqual({key.partition(":")[0] for key in new_keys}, {"c2"})
        counts = [count + 1 for count in counts]
        self.run_store("set-state", "v1", "frozen")
        all_is_good(counts)
        # The old volume goes for good.
        shutil.rmtree(self.root / "store/v1")
        all_is_good(counts)
        for key in keys:
            self.run_store("rm", "--owner", "a", key)
        for key in keys[:4] + new_keys:
            self.run_store("rm", "--owner", "b", key)
        self.assertEqual(self.blocks(), {"c2": 0})

    def test_W9_a_sweep_knows_old_keys(self):
        self.run_store("add-volume", "v2")
        keys = [self.put(f"content {number}".encode(), "--owner", "a") for number in range(12)]
        self.run_store("migrate", "--from", "v1", "--to", "v2")
        lists, claims = str(self.root / "sweep"), self.root / "claims"
        self.run_store("sweep", "--owner", "a", "--begin", lists)
        claims.write_text("".join(f"{key}\n" for key in keys[:8]))
        self.run_store("sweep", "--owner", "a", "--finish", lists, "--keep", str(claims))
        for number, key in enumerate(keys):
            done = self.run_store("get", key, code=0 if number < 8 else 3)
            self.assertEqual(done, f"content {number}" if number < 8 else "")

    def test_W9_what_migrate_refuses(self):
        self.run_store("add-volume", "v2", "--capacity", "1000")
        key = self.put(random.Random(1).randbytes(5000), "--volume", "v1")
        self.run_store("migrate", "--from", "v1", code=2)
        self.run_store("migrate", "--from", "v1", "--to", "v2", "no key", code=2)
        self.run_store("migrate", "--finish", "--to", "v2", code=2)
        self.run_store("migrate", "--from", "v1", "--to", "v1", code=3)
        self.run_store("migrate", "--from", "v1", "--to", "v9", code=3)
        self.run_store("migrate", "--from", "v2", "--to", "v1", key, code=3)
        self.run_store("migrate", "--from", "v1", "--to", "v2", code=3)  # no room
        self.run_store("migrate", "--finish")
        self.assertEqual(self.references(key), 1)
        self.run_store("add-volume", "v3")
        # A damaged content stays, and is told.
        other = self.put(b"other", "--volume", "v1")
        block = self.block(key)
        block.write_bytes(block.read_bytes()[:-9] + b"damaged!!")
        told = self.run_store("migrate", "--from", "v1", "--to", "v3", code=1)
        self.assertIn(key, told)
        self.assertEqual(self.run_store("get", other), "other")
        self.assertEqual(self.blocks(), {"v1": 1, "v2": 0, "v3": 1})

    def test_W9_tables_are_made_again_from_the_containers(self):
        self.run_store("add-volume", "c1", "--kind", "container")
        keys = [self.put(f"content {number}".encode(), "--volume", "c1") for number in range(10)]
        self.put(b"content 3", "--volume", "c1")
        self.run_store("rm", keys[5])
        listed = self.run_store("ls")
        self.run_store("reindex")
        self.assertEqual(self.run_store("ls"), listed)
        shutil.rmtree(self.root / "store/c1/table")
        self.assertEqual(self.run_store("ls"), listed)
        self.assertEqual(self.run_store("check"), "")
        (container,) = (self.root / "store/c1/containers").iterdir()
        whole = bytearray(container.read_bytes())
        whole[len(whole) // 2] ^= 1
        container.write_bytes(whole)
        self.assertIn("container 1", self.run_store("reindex", code=1))

    def test_W9_compaction_gives_space_back(self):
        self.run_store("add-volume", "c1", "--kind", "container")
        noise = random.Random(1)
        keys = [self.put(noise.randbytes(50_000), "--volume", "c1") for _ in range(20)]
        self.run_store("rm", *keys[1:])
        stats = self.run_store("stats", "--json").splitlines()
        before = json.loads(stats[0])["stored_bytes"]
        self.run_store("compact", "--below", "90")
        after = json.loads(self.run_store("stats", "--json").splitlines()[0])["stored_bytes"]
        self.assertGreater(before, 1_000_000)
        self.assertLess(after, 100_000)
        self.assertEqual(self.references(keys[0]), 1)
        self.assertEqual(self.run_store("check"), "")

    def test_W10_a_damaged_content_is_restored_from_its_copy(self):
        self.run_store("add-volume", "v2", "--depth", "2")
        key = self.put(b"some content", "--volume", "v1", "--copies", "2")
        self.block(key).write_bytes(b"rubbish")
        self.assertEqual(self.run_store("get", key), "some content")
        self.assertIn(key, self.run_store("check", code=1))
        self.assertIn("restored", self.run_store("repair", "--copies", "2"))
        self.assertEqual(self.run_store("check"), "")
        self.run_store("put", "--copies", "3", "-", stdin=b"more", code=3)

    def test_wrong_usage_is_told(self):
        self.run_store("put", code=2)
        self.run_store("compact", "--below", "half", code=2)
        self.run_store("put", "--copies", "0", "-", code=2)
        self.run_store("stat", code=2)
        self.run_store("set-state", "v1", "full", code=2)
        self.run_store("set-state", "v9", "frozen", code=3)
        self.run_store("add-volume", "v2", "--kind", "heap", code=2)
        self.run_store("get", "v1:lower", code=2)
        self.run_store("put", "--mode", "often", "-", code=2)
        self.run_store("add-volume", "V", code=2)
        self.run_store("add-volume", "v1", code=2)
        self.run_store("get", "none:AD", code=3)
        self.assertEqual(stele("store", "stats").returncode, 2)
        self.assertEqual(stele("store", "stats", "--store", self.store + "x").returncode, 3)


if __name__ == "__main__":
    unittest.main()
