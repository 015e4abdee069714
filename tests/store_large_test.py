"""Contents of more than 4 GiB are stored, read and deleted in flat memory."""

import json
import pathlib
import random
import resource
import signal
import subprocess
import tempfile
import unittest

from archive_samples import STELE, stele

PIECE = 1 << 20
PIECES = 4 * 1024 + 1  # more bytes than 32 bits can count
MEMORY_MAX = 200 << 20


def make_file(path):
    """Mostly holes, with bytes that do not shrink at its ends and where a number of 32 bits would
    begin again."""
    dice = random.Random(1)
    with open(path, "wb") as file:
        for number in (0, 2048, 4095, 4096):
            file.seek(number * PIECE)
            file.write(dice.randbytes(PIECE))
        file.seek(PIECES * PIECE)
        file.write(dice.randbytes(12345))
        return file.tell()


class StoreLarge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        cls.path = str(cls.root / "large")
        cls.size = make_file(cls.path)

    def run_store(self, command, *words):
        done = stele("store", command, *words)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        return done.stdout

    def read_back(self, *words):
        with open(self.path, "rb") as file, subprocess.Popen(
                [STELE, "store", "get", *words], stdout=subprocess.PIPE) as process:
            while piece := process.stdout.read(PIECE):
                self.assertTrue(piece == file.read(len(piece)), file.tell())
            self.assertEqual(file.read(1), b"")
        self.assertEqual(process.returncode, 0)

    def use(self, *where):
        key = self.run_store("put", *where, self.path).split()[0]
        info = json.loads(self.run_store("stat", *where, "--json", key))
        self.assertEqual((info["size"], info["references"]), (self.size, 1))
        self.assertLess(info["stored_size"], self.size // 50)
        self.read_back(*where, key)
        self.run_store("rm", *where, key)
        self.assertEqual(self.run_store("ls", *where), "")

    def peak_of(self, pid):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

    def test_W2_four_gigabytes_in_a_tree_volume(self):
        store = str(self.root / "tree")
        self.run_store("add-volume", "--store", store, "--kind", "tree", "v1")
        self.use("--store", store)

    def test_W8_four_gigabytes_in_a_container_volume_behind_a_server(self):
        store, connector = str(self.root / "container"), self.root / "connector.xml"
        self.run_store("add-volume", "--store", store, "--kind", "container", "v1")
        server = subprocess.Popen(
            [STELE, "store", "serve", "--store", store, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, text=True)
        try:
            port = server.stdout.readline().split()[0].rpartition(":")[2]
            # Not by the address of the loopback: clients compress what they send elsewhere.
            connector.write_text(
                '<connector version="1" epoch="1">\n<volume name="v1" state="writable" depth="3"'
                f' host="0.0.0.0" port="{port}" tls="false"/>\n</connector>\n')
            self.use("--connector", str(connector))
            self.assertLess(self.peak_of(server.pid), MEMORY_MAX)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=60)
        self.run_store("compact", "--store", store, "--quiet")
        self.assertEqual(json.loads(self.run_store("stats", "--store", store, "--json"))["blocks"],
                         0)

    def tearDown(self):
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        self.assertLess(peak, MEMORY_MAX)


if __name__ == "__main__":
    unittest.main()
