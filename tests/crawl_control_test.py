"""A crawl is watched and changed while it runs, and jobs run by schedule."""

import functools
import json
import os
import pty
import re
import signal
import stat
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

from crawl_lab import STELE, CrawlTest

HOST = "site.test"
PAGES = 40
FREE_PAGES = 8


def links(*urls):
    return "<title>page</title>" + "".join(f'<a href="{url}">x</a>' for url in urls)


class ControlTest(CrawlTest):
    def setUp(self):
        super().setUp()
        self.web.add(HOST, "/robots.txt", "", status=404)
        # From here on pages come only when the gate is open, so that the crawl waits for the test.
        self.gate = threading.Event()
        for i in range(PAGES):
            body = links(*(f"/{i * 2 + j}" for j in (1, 2) if i * 2 + j < PAGES)).encode()
            self.web.add(HOST, f"/{i}", functools.partial(self.page, i, body))
        self.processes = []
        self.addCleanup(self.end_all)

    def page(self, number, body, _):
        if number >= FREE_PAGES:
            self.gate.wait(60)
        return 200, {"Content-Type": "text/html"}, body

    def end_all(self):
        self.gate.set()
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def start(self, *arguments, **more):
        process = subprocess.Popen(self.words(*arguments, **more), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def wait_for(self, what):
        end = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def start_and_find(self, *arguments, asked=FREE_PAGES + 4, **more):
        """A crawl that has come to some pages, and the file that tells where it is."""
        process = self.start(*arguments, **more)
        self.wait_for(lambda: list(self.archive.glob("crawl/*/running.json"))
                      and len(self.web.asked(HOST)) >= asked)
        (path,) = self.archive.glob("crawl/*/running.json")
        self.running = json.loads(path.read_text())
        self.token = (path.parent / "control.token").read_text().strip()
        return process

    def job(self, *words, code=0):
        done = subprocess.run([STELE, "job", words[0], "--archive", str(self.archive),
                               *map(str, words[1:])], capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, (done.stdout.decode(), done.stderr.decode()))
        self.said = done.stderr.decode()
        return done.stdout.decode()

    def status(self):
        return json.loads(self.job("status", "--json"))

    def ask(self, path, data=None, **headers):
        """The status and the body of an answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.running['port']}{path}", data,
                                         {name.replace("_", "-"): value
                                          for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def expected(self):
        return sorted([(f"http://{HOST}/{i}", 200) for i in range(PAGES)] +
                      [(f"http://{HOST}/robots.txt", 404)])


class Running(ControlTest):
    def test_I1_a_terminal_shows_how_far_it_is(self):
        self.web.add(HOST, "/only", links("/behind"))
        self.web.add(HOST, "/behind", lambda _: (self.gate.wait(60), (200, {}, b"behind"))[1])
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen(self.words(self.web.url(HOST, "/only")),
                                   stdout=subprocess.DEVNULL, stderr=end)
        self.processes.append(process)
        os.close(end)
        shown = ""
        while "1 page, 2 files" not in shown:
            shown += os.read(terminal, 1000).decode()
        self.gate.set()
        self.assertRegex(shown, r"\r\x1b\[K1 page, 2 files, \d+ B, \d+/s, \d+ B/s; 0 wait on "
                                r"1 host, 1 under way; 0 known, 0 failed")

    def test_I1_pause_stops_fetching_and_resume_goes_on(self):
        process = self.start_and_find(self.web.url(HOST, "/0"))
        self.assertEqual(self.job("pause").count("paused"), 1)
        self.gate.set()
        self.wait_for(lambda: self.status()["under_way"] == 0)
        before = sum(self.web.asked(HOST).values())
        for _ in range(5):
            paused = self.status()
            self.assertEqual((paused["state"], paused["under_way"]), ("paused", 0))
            self.assertGreater(paused["waiting"], 0)
        self.assertEqual(sum(self.web.asked(HOST).values()), before)
        self.assertEqual(json.loads(self.job("resume", "--json"))["state"], "running")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.urls(), self.expected())
        self.assertFalse(list(self.archive.glob("crawl/*/running.json")))
        self.assertFalse(list(self.archive.glob("crawl/*/control.token")))
        self.job("status", code=3)
        self.assertIn("no crawl runs in", self.said)

    def test_I1_urls_are_added_and_captured_and_limits_act(self):
        self.web.add(HOST, "/hidden", "nobody links here")
        self.web.add("other.test", "/", links("/more"))
        self.web.add("other.test", "/more", "more")
        self.gate.set()
        process = self.start_and_find(self.web.url(HOST, "/0"), "--delay", "3600", asked=2,
                                      delay=None)
        hidden, other = self.web.url(HOST, "/hidden"), self.web.url("other.test")
        self.assertEqual(self.job("add", hidden, self.web.url(HOST, "/0")),
                         "1 added, 1 known already, 0 refused\n")
        self.job("add", other, code=1)
        self.assertIn("outside", self.said)
        self.assertEqual(json.loads(self.job("add", "--seed", "--json", other))["added"], 1)
        # It would take days; now it does not, but ends before its time.
        self.job("set", code=2)
        self.job("set", "--connections", "0", code=2)
        self.assertIn("connections", self.said)
        limits = json.loads(self.job("set", "--json", "--delay", "0", "--max-pages", "20",
                                     "--connections", "1"))["limits"]
        self.assertEqual((limits["delay"], limits["max_pages"]), (0, 20))
        _, said = process.communicate(timeout=60)
        self.assertIn(b"limit of pages", said)
        urls = [url for url, _ in self.urls()]
        for url in (f"http://{HOST}/hidden", "http://other.test/", "http://other.test/more"):
            self.assertIn(url, urls)
        self.assertLess(len(urls), 30)

    def test_I1_stop_is_clean_and_what_was_added_outlives_even_a_kill(self):
        process = self.start_and_find(self.web.url(HOST, "/0"))
        self.job("pause")
        self.gate.set()
        last = json.loads(self.job("stop", "--wait", "--json"))
        self.assertEqual(last["state"], "stopped")
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertRegex(said, rb"stele crawl --archive \S+ goes on with it")
        self.web.add(HOST, "/hidden", "nobody links here")
        self.gate.clear()
        process = self.start_and_find(asked=len(self.web.asked(HOST)) + 1)
        self.job("pause")
        self.job("add", self.web.url(HOST, "/hidden"))
        self.kill(process)
        self.gate.set()
        # The file lies there still, and is seen through.
        self.assertTrue(list(self.archive.glob("crawl/*/running.json")))
        self.job("pause", code=3)
        self.assertIn("no crawl runs in", self.said)
        self.crawl()
        self.assertIn("Going on with run 1", self.said)
        self.assertEqual(self.urls(), sorted(self.expected() + [(f"http://{HOST}/hidden", 200)]))
        self.assertFalse(list(self.archive.glob("crawl/*/running.json")))

    def test_I1_cookies_of_servers_outlive_a_kill_and_those_of_people_are_stored_nowhere(self):
        self.web.add(HOST, "/0", links("/1", "/2"), Set_Cookie="visit=7; Path=/; Max-Age=3600")
        given = self.folder / "cookies.txt"
        given.write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tsession\tswordfish\n")
        self.web.add(HOST, "/hidden", "nobody links here")
        process = self.start_and_find(self.web.url(HOST, "/0"), "--cookies", given)
        self.wait_for(lambda: self.status()["files"] > FREE_PAGES)
        # What it knows is durable when this returns.
        self.job("add", self.web.url(HOST, "/hidden"))
        self.kill(process)
        stored = b"".join(path.read_bytes() for path in self.archive.glob("crawl/**/*")
                          if path.is_file())
        self.assertIn(b"visit", stored)
        self.assertNotIn(b"swordfish", stored)
        self.web.forget()
        self.gate.set()
        self.crawl()
        self.assertIn("Going on with run 1", self.said)
        with self.web.lock:
            sent = {path: set(fields.get("Cookie", "").split("; "))
                    for _, path, _, fields in self.web.requests}
        self.assertIn("/hidden", sent)
        self.assertNotIn("/0", sent)  # nobody has set it again
        for path, cookies in sent.items():
            self.assertEqual(cookies, {"session=swordfish", "visit=7"}, path)
        self.assertEqual(self.urls(), sorted(self.expected() + [(f"http://{HOST}/hidden", 200)]))

    def test_I1_limits_that_were_changed_outlive_a_kill(self):
        process = self.start_and_find(self.web.url(HOST, "/0"))
        self.job("set", "--max-pages", "20", "--connections", "1")
        self.kill(process)
        self.gate.set()
        out = json.loads(self.crawl("--json"))
        self.assertIn("Going on with run 1", self.said)
        self.assertIn("limit of pages", self.said)
        self.assertGreaterEqual(out["pages"], 20)
        self.assertLess(out["pages"], PAGES)
        # They were of that run only.
        self.assertEqual(json.loads(self.crawl("--json"))["pages"], PAGES)

    def test_I1_events_and_metrics_are_told(self):
        process = self.start_and_find(self.web.url(HOST, "/0"))
        # What was asked for counts when it is durable.
        self.wait_for(lambda: self.status()["files"] > 0)
        self.job("pause")
        self.gate.set()
        _, text = self.ask("/metrics")
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
        self.assertTrue(all(re.fullmatch(r'stele_crawl_\w+\{job="[^"]+",run="1"\}', name)
                            for name in samples), samples)
        values = {name.split("{")[0]: float(value) for name, value in samples.items()}
        self.assertEqual(values["stele_crawl_paused"], 1)
        self.assertGreaterEqual(values["stele_crawl_files_total"], 1)
        code, hosts = self.ask("/hosts")
        self.assertEqual((code, json.loads(hosts)[0]["host"]), (200, HOST))
        watcher = subprocess.Popen([STELE, "job", "status", "--archive", self.archive, "--watch",
                                    "--json"], stdout=subprocess.PIPE)
        self.processes.append(watcher)
        self.assertEqual(json.loads(watcher.stdout.readline())["state"], "paused")
        self.job("resume")
        process.communicate(timeout=60)
        told = [json.loads(line) for line in watcher.stdout.read().splitlines()]
        self.assertEqual(told[-1]["state"], "done")
        self.assertEqual(told[-1]["pages"], PAGES)
        self.assertEqual(watcher.wait(60), 0)

    def test_I1_strangers_are_refused(self):
        process = self.start_and_find(self.web.url(HOST, "/0"))
        bearer = f"Bearer {self.token}"
        for path, data, headers in (
                ("/status", None, {"Host": f"evil.example:{self.running['port']}"}),
                ("/status", None, {"Origin": "http://evil.example"}),
                ("/stop", b"", {}), ("/stop", b"", {"Authorization": "Bearer x"}),
                ("/stop", b"", {"Authorization": bearer, "Origin": "null"})):
            code, text = self.ask(path, data, **headers)
            self.assertEqual(code, 403, (path, headers))
            self.assertIn("error", json.loads(text))
        (token,) = self.archive.glob("crawl/*/control.token")
        self.assertEqual(stat.S_IMODE(token.stat().st_mode), 0o600)
        self.assertEqual(self.ask("/pause", b"", Authorization=bearer)[0], 200)
        self.gate.set()
        self.assertEqual(self.ask("/resume", b"", Authorization=bearer)[0], 200)
        process.communicate(timeout=60)
        self.assertEqual(self.urls(), self.expected())


class Nodes(ControlTest):
    """Several nodes crawl one web: each its hosts, and only URLs pass between them."""

    NODES = 3
    HOSTS = [f"host{i}.test" for i in range(8)]

    def setUp(self):
        super().setUp()
        for i, host in enumerate(self.HOSTS):
            self.web.add(host, "/", links("/a"))
            self.web.add(host, "/a", links(self.web.url(self.HOSTS[(i * 3 + 2) % 8], "/c")))
            self.web.add(host, "/b", links("/"))
            self.web.add(host, "/c", "the end")
            self.web.add(host, "/robots.txt", "", status=404)
        everywhere = [self.web.url(host, "/b") for host in self.HOSTS]
        self.web.add(self.HOSTS[0], "/", links("/a", *everywhere))
        self.seed = self.web.url(self.HOSTS[0])

    def idle(self):
        status = self.status()
        return status["waiting"] == 0 and status["under_way"] == 0

    def hand_over(self, archives):
        """True: some node got something that it did not know."""
        was_news = False
        for giver in archives:
            self.archive = giver
            self.job("set", "--max-rate", "0")  # which writes what it has found
            for number, taker in enumerate(archives, 1):
                if giver == taker:
                    continue
                self.archive = giver
                urls = self.folder / "urls.txt"
                urls.write_text(self.job("handover", number))
                self.archive = taker
                if urls.read_text():
                    was_news |= json.loads(self.job("add", "--json", "--from", urls))["added"] > 0
        return was_news

    def test_I2_nodes_that_hand_over_urls_bring_what_one_brings_and_share_no_host(self):
        self.crawl(self.seed, "--scope", "any")
        alone = self.urls()
        self.assertEqual(len(alone), 5 * len(self.HOSTS))
        self.web.forget()
        archives = [self.folder / f"node-{number}" for number in range(1, self.NODES + 1)]
        processes = []
        for number, self.archive in enumerate(archives, 1):
            processes.append(self.start(self.seed, "--scope", "any", "--user-agent",
                                        f"node{number}", "--share", f"{number}/{self.NODES}"))
            self.wait_for(lambda: list(self.archive.glob("crawl/*/running.json")))
        while True:
            for self.archive in archives:
                self.wait_for(self.idle)
            if not self.hand_over(archives):
                break
        together = []
        for self.archive, process in zip(archives, processes):
            self.job("stop", "--wait")
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            if list(self.archive.glob("volumes/**/*.warc.gz")):
                together += self.urls()
        self.assertEqual(sorted(together), alone)
        askers = {}
        for host, _, _, fields in self.web.requests:
            askers.setdefault(host, set()).add(fields["User-Agent"])
        self.assertEqual({len(nodes) for nodes in askers.values()}, {1})
        self.assertGreater(len(set.union(*askers.values())), 1)


class Jobs(ControlTest):
    def job_file(self, name, **keys):
        path = self.folder / f"{name}.toml"
        resolve = [f"{host}={address}" for host, address in self.web.addresses.items()]
        keys = {"seeds": [self.web.url(HOST, "/0")], "delay": 0, "favicons": False,
                "resolve": resolve, **keys}
        path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
        return path

    def runs(self):
        return [line for line in self.stele("info").splitlines() if "  crawl " in line]

    def test_I1_wrong_files_are_named_with_line_and_key(self):
        path = self.job_file("news", every="7d")
        self.assertIn("news.toml: good", self.job("check", path))
        for line, text in (("every = 7", r"every must be a text"),
                           ('every = "soon"', r"every: soon is no time; write for example"),
                           ("moon = 1", r"moon is no setting; there are .*seeds"),
                           ('scope = "wide"', r"scope: say page"), ("depth = ", r"")):
            wrong = self.folder / "wrong.toml"
            wrong.write_text('# a comment\nseeds = ["a.test"]\n' + line + "\n")
            self.job("check", wrong, code=1)
            self.assertRegex(self.said, rf"wrong\.toml:3: {text}")
        for line, text in (("connections = 0", r"connections: must be 1 or more"),
                           ('resolve = ["x=y"]', r"resolve: write a host and its address"),
                           ("dedup_abort = true", r"dedup_abort .* with dedup_headers"),
                           ('logins = "/nowhere/logins"', r"/nowhere/logins"),
                           ('dedup_index = "/nowhere/index"', r"/nowhere/index")):
            wrong.write_text('seeds = ["a.test"]\n' + line + "\n")
            self.job("check", wrong, code=1)
            self.assertRegex(self.said, rf"wrong\.toml:.*{text}")
        (self.folder / "none.toml").write_text("depth = 1\n")
        self.job("check", self.folder / "none.toml", code=1)
        self.assertIn("seeds are missing", self.said)
        # Whoever runs what is due hears of a file that cannot be read.
        self.job("install", path)
        (self.archive / "crawl" / "news" / "job.toml").write_text("moon = 1\n")
        self.job("run", "--once", code=1)
        self.assertIn("moon is no setting", self.said)
        hidden = self.folder / ".news.toml"
        hidden.write_text('seeds = ["a.test"]\n')
        self.job("install", hidden, code=2)

    def test_I1_jobs_run_when_they_are_due(self):
        self.gate.set()
        self.job("install", self.job_file("often", every="1h"), self.job_file("once"))
        often, once = map(json.loads, self.job("ls", "--json").splitlines())
        self.assertEqual((often["job"], often["due"], often["last"]), ("often", True, None))
        self.assertEqual((once["job"], once["due"]), ("once", False))
        self.assertIn("Run 1  40 pages", self.job("run", "--once"))
        self.assertEqual(self.job("run", "--once"), "")  # not again
        shown = self.job("show")
        self.assertRegex(shown, r"(?s)often  .*often/job\.toml\n.*every = '1h'.*once  .*by hand")
        often = json.loads(self.job("show", "often", "--json"))
        self.assertEqual((often["due"], often["last"]["run"]), (False, 1))
        self.assertRegex(often["next"], r"^\d{4}-\d\d-\d\dT")
        # With a period that is over it runs once, however often that was missed.
        self.job("install", "--replace", self.job_file("often", every="1s"))
        self.wait_for(lambda: json.loads(self.job("show", "often", "--json"))["due"])
        self.assertIn("Run 2  40 pages", self.job("run", "--once"))
        self.assertEqual(len(self.runs()), 2)

    def test_I1_a_scheduler_stays_stops_cleanly_and_goes_on(self):
        self.job("install", self.job_file("often", every="1h"))
        def scheduler():
            process = subprocess.Popen([STELE, "job", "run", "--archive", self.archive],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.processes.append(process)
            return process
        process = scheduler()
        self.wait_for(lambda: len(self.web.asked(HOST)) >= FREE_PAGES + 4)
        process.send_signal(signal.SIGTERM)
        self.wait_for(lambda: self.status()["state"] == "stopping")
        self.gate.set()
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("not ended", self.job("ls"))
        process = scheduler()
        self.assertRegex(process.stdout.readline(), rb"^Run 1  40 pages")
        # It waits for the next time now.
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"Going on with run 1", said)
        self.assertEqual(self.urls(), self.expected())
        self.assertEqual(set(self.web.asked(HOST).values()), {1})


if __name__ == "__main__":
    unittest.main()
