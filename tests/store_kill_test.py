"""Servers and commands of the store are killed at random points; nothing acknowledged is lost."""

import hashlib
import http.client
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from archive_samples import STELE, stele

CONTENTS = [f"content {n} ".encode() + random.Random(n).randbytes(n * 97 % 3000)
            for n in range(40)]
KINDS = {"v1": "tree", "v2": "container", "v3": "tree"}
BLOCKS = [hashlib.sha256(content).hexdigest().upper() for content in CONTENTS]


class Server:
    """`stele store serve` of one volume, and what its clients know."""

    def __init__(self, store, volume, port=0):
        self.volume = volume
        self.process = subprocess.Popen(
            [STELE, "store", "serve", "--store", store, "--volume", volume, "--listen",
             f"127.0.0.1:{port}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(line[0].rpartition(":")[2])

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.communicate(timeout=60)

    def perform(self, connection, act, number, operation):
        """Stores or deletes a content once; raises when there is no answer."""
        path = f"/v1/volumes/{self.volume}/contents"
        words = f"owner=me&operation={operation}"
        if act == "+":
            content = CONTENTS[number]
            connection.request("POST", f"{path}?signature={BLOCKS[number]}&size={len(content)}"
                               f"&type=text/html&{words}", body=content)
        else:
            connection.request("DELETE", f"{path}/{BLOCKS[number]}?{words}")
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def get(self, connection, what):
        connection.request("GET", f"/v1/volumes/{self.volume}/contents/{what}")
        answer = connection.getresponse()
        return answer.status, answer.read()


class Ledger:
    """Acknowledged references, and what got no answer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = [0] * len(CONTENTS)
        self.open = {}
        self.wrong = []
        self.acknowledged = 0

    def perform(self, server, connection, act, number, operation):
        with self.lock:
            self.open[operation] = (act, number)
        status = server.perform(connection, act, number, operation)
        with self.lock:
            del self.open[operation]
            if status not in (200, 201, 204):
                self.wrong.append((act, number, operation, status))
                return
            self.counts[number] += 1 if act == "+" else -1
            self.acknowledged += 1

    def work(self, server, name, dice):
        """Until the server is gone. Deletes only what it stored itself."""
        connection = server.connect()
        stored = []
        try:
            for step in range(10_000):
                delete = stored and dice.random() < 0.6
                number = stored.pop() if delete else dice.randrange(len(CONTENTS))
                self.perform(server, connection, "-" if delete else "+", number, f"{name}-{step}")
                if not delete:
                    stored.append(number)
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()

    def finish(self, server):
        """Does once more what got no answer, so that every count is known."""
        connection = server.connect()
        for operation, (act, number) in list(self.open.items()):
            self.perform(server, connection, act, number, operation)
        connection.close()


class StoreKill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.store = str(self.root / "store")
        self.connector = None

    def run_store(self, command, *words, stdin=None):
        done = stele("store", command, "--store", self.store, *words, stdin=stdin)
        self.assertEqual(done.returncode, 0, f"{command} {words}: {done.stdout} {done.stderr}")
        return done.stdout

    def verify(self, server, ledger):
        connection = server.connect()
        for number, count in enumerate(ledger.counts):
            status, content = server.get(connection, BLOCKS[number])
            self.assertEqual(status, 200 if count else 404, number)
            if not count:
                continue
            self.assertEqual(content, CONTENTS[number])
            _, info = server.get(connection, BLOCKS[number] + "/info")
            self.assertEqual(json.loads(info)["references"], count)
        connection.close()

    def kill_servers(self, kind, rounds):
        self.run_store("add-volume", "--kind", kind, "v1")
        dice = random.Random(kind)
        ledger = Ledger()
        for run in range(rounds):
            server = Server(self.store, "v1")
            ledger.finish(server)
            if run % 5 == 4:
                self.verify(server, ledger)
            clients = [
                threading.Thread(target=ledger.work, args=(
                    server, f"{run}-{client}", random.Random(run * 10 + client)))
                for client in range(4)]
            for client in clients:
                client.start()
            time.sleep(dice.random() * 0.04)
            server.kill()
            for client in clients:
                client.join()
            if run % 10 == 9:
                # Compaction forgets operations of blocks that are gone: what got no answer is
                # repeated before.
                server = Server(self.store, "v1")
                ledger.finish(server)
                server.kill()
                self.run_store("compact", "--quiet")
        server = Server(self.store, "v1")
        ledger.finish(server)
        self.verify(server, ledger)
        server.kill(signal.SIGTERM)
        self.run_store("check")
        self.assertEqual(ledger.wrong[:3], [])
        self.assertGreater(ledger.acknowledged, rounds)

    def test_W4_a_server_of_a_tree_volume_is_killed_fifty_times(self):
        self.kill_servers("tree", 50)

    def test_W4_a_server_of_a_container_volume_is_killed_fifty_times(self):
        self.kill_servers("container", 50)

    def kill_command(self, dice, *words):
        process = subprocess.Popen([STELE, "store", *words, "--store", self.store, "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.06)
        process.kill()
        process.wait(timeout=60)

    def test_W10_compact_and_repair_are_killed_and_finish_later(self):
        self.run_store("add-volume", "--kind", "container", "v1")
        self.run_store("add-volume", "--kind", "tree", "v2")
        self.run_store("add-volume", "--kind", "container", "v3")
        files = []
        for number, content in enumerate(CONTENTS):
            files.append(self.root / f"file{number}")
            files[-1].write_bytes(content)
        lines = self.run_store("put", "--copies", "2", *map(str, files)).splitlines()
        keys = [line.split()[0] for line in lines]
        self.assertEqual(len(keys), len(CONTENTS))
        kept = {key: content for key, content in zip(keys, CONTENTS) if key[-1] in "0123456789A"}
        self.run_store("rm", *(key for key in keys if key not in kept))
        dice = random.Random(1)
        for _ in range(25):
            self.kill_command(dice, "compact", "--below", "100")
            self.kill_command(dice, "repair", "--copies", "3")
        self.run_store("repair", "--copies", "3", "--quiet")
        self.run_store("compact", "--below", "100", "--quiet")
        self.run_store("check")
        for key, content in kept.items():
            done = subprocess.run([STELE, "store", "get", "--store", self.store, key],
                                  capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, content), key)
            self.assertEqual(json.loads(self.run_store("stat", "--json", key))["references"], 1)

    # -- Moves --

    def ask(self, command, *words):
        """As run_store(), through the connector where there is one."""
        where = ("--connector", str(self.connector)) if self.connector else ("--store", self.store)
        done = stele("store", command, *where, *words)
        self.assertEqual(done.returncode, 0, f"{command} {words}: {done.stdout} {done.stderr}")
        return done.stdout

    def start_move(self, source, target):
        where = ("--connector", str(self.connector)) if self.connector else ("--store", self.store)
        return subprocess.Popen(
            [STELE, "store", "migrate", *where, "--from", source, "--to", target, "--quiet"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def fill(self):
        """Stores some contents, once each."""
        self.files = []
        for number in range(25):
            self.files.append(self.root / f"file{number}")
            self.files[-1].write_bytes(CONTENTS[number])
        lines = self.ask("put", "--owner", "a", *map(str, self.files)).splitlines()
        self.keys = [line.split()[0] for line in lines]
        self.counts = [1] * len(self.keys)

    def time_of_a_move(self):
        """Seconds that it takes to empty a volume which has all contents."""
        for source in ("v2", "v3"):
            self.assertEqual(self.start_move(source, "v1").wait(timeout=60), 0)
        begin = time.monotonic()
        self.assertEqual(self.start_move("v1", "v2").wait(timeout=60), 0)
        return time.monotonic() - begin

    def use_old_keys(self, dice):
        one, other = dice.sample(range(len(self.keys)), 2)
        self.ask("put", "--owner", "a", str(self.files[one]))
        self.counts[one] += 1
        if self.counts[other] > 1:
            self.ask("rm", "--owner", "a", self.keys[other])
            self.counts[other] -= 1
        self.assertEqual(self.ask("get", self.keys[one]).encode("latin-1"), CONTENTS[one])

    def fullest_volume(self):
        lines = [json.loads(line) for line in self.ask("stats", "--json").splitlines()]
        return max(lines, key=lambda line: line["blocks"])["volume"]

    def moves_under_way(self):
        return len(self.ask("ls", "--owner", "stele.move").splitlines())

    def verify_moved(self):
        """Every content lies at one place, with all references, and is found by its old key."""
        wanted = sorted((BLOCKS[number], count) for number, count in enumerate(self.counts))
        found = [json.loads(line) for line in self.ask("ls", "--json").splitlines()]
        self.assertEqual(sorted((line["key"].partition(":")[2].partition(".")[0],
                                 line["references"]) for line in found), wanted)
        for number, key in enumerate(self.keys):
            self.assertEqual(self.ask("get", key).encode("latin-1"), CONTENTS[number])

    def test_W9_migrate_is_killed_and_finishes_later(self):
        """Contents go round between three volumes; most of the moves are killed."""
        for name, kind in KINDS.items():
            self.run_store("add-volume", "--kind", kind, name)
        self.fill()
        whole_time = self.time_of_a_move()
        dice = random.Random(1)
        interrupted = 0
        for _ in range(30):
            source = self.fullest_volume()
            process = self.start_move(source, dice.choice([name for name in KINDS
                                                           if name != source]))
            time.sleep(dice.random() * whole_time)
            process.kill()
            process.wait(timeout=60)
            interrupted += self.moves_under_way() > 0
            self.use_old_keys(dice)
        self.assertGreater(interrupted, 0)
        self.run_store("migrate", "--finish", "--quiet")
        self.assertEqual(self.moves_under_way(), 0)
        self.run_store("compact", "--quiet")
        self.run_store("check")
        self.verify_moved()
        for source in ("v1", "v3"):
            self.run_store("migrate", "--from", source, "--to", "v2", "--quiet")
        self.verify_moved()

    def test_W9_servers_are_killed_while_contents_move(self):
        for name, kind in KINDS.items():
            self.run_store("add-volume", "--kind", kind, name)
        servers = {name: Server(self.store, name) for name in KINDS}
        self.addCleanup(lambda: [server.kill() for server in servers.values()])
        self.connector = self.root / "connector.xml"
        self.connector.write_text(
            '<connector version="1" epoch="1">\n' + "".join(
                f'<volume name="{name}" state="writable" depth="3" host="127.0.0.1"'
                f' port="{server.port}" tls="false"/>\n' for name, server in servers.items())
            + "</connector>\n")
        self.fill()
        whole_time = self.time_of_a_move()
        dice = random.Random(2)
        for _ in range(16):
            source = self.fullest_volume()
            target = dice.choice([name for name in KINDS if name != source])
            process = self.start_move(source, target)
            time.sleep(dice.random() * whole_time)
            victim = dice.choice(sorted(KINDS))
            servers[victim].kill()
            servers[victim] = Server(self.store, victim, servers[victim].port)
            process.wait(timeout=120)
            self.use_old_keys(dice)
        self.ask("migrate", "--finish", "--quiet")
        self.assertEqual(self.moves_under_way(), 0)
        self.verify_moved()
        for server in servers.values():
            server.kill(signal.SIGTERM)
        self.run_store("check")


if __name__ == "__main__":
    unittest.main()
