"""What a crawl writes beside the pages, and where it takes its links and its manners from."""

import time
import unittest

from crawl_lab import CrawlTest

HOST = "site.test"


class Records(CrawlTest):
    def notes(self):
        """The fields of the metadata records, by URL without the port."""
        found = {}
        for fields, block in self.records():
            if fields["WARC-Type"] == "metadata":
                lines = [line.split(": ", 1) for line in block.decode().splitlines() if line]
                url = fields["WARC-Target-URI"].replace(f":{self.web.port}", "")
                found[url] = [(line + [""])[:2] for line in lines]
        return found

    def test_I1_a_capture_says_how_it_was_found_and_where_it_leads(self):
        self.web.add(HOST, "/", '<a href="/a">x</a><img src="/i.png">')
        self.web.add(HOST, "/a", '<a href="http://elsewhere.test/">x</a>')
        self.web.add(HOST, "/i.png", b"\x89PNG", "image/png")
        self.crawl(self.web.url(HOST))
        notes = self.notes()
        home, page, image = (dict(notes[f"http://{HOST}{path}"]) for path in ("/", "/a", "/i.png"))
        seed = self.web.url(HOST)
        self.assertIn("seed", [name for name, _ in notes[f"http://{HOST}/"]])
        self.assertNotIn("via", home)
        self.assertEqual((page["via"], page["hopsFromSeed"], page["sourceTag"]), (seed, "L", seed))
        self.assertEqual((image["via"], image["hopsFromSeed"]), (seed, "E"))
        outlinks = [value.split()[:2] for name, value in notes[f"http://{HOST}/"]
                    if name == "outlink"]
        self.assertCountEqual(outlinks, [[self.web.url(HOST, "/a"), "L"],
                                         [self.web.url(HOST, "/i.png"), "E"]])
        self.assertEqual(page["outlink"].split()[:2], ["http://elsewhere.test/", "L"])
        for fields in (home, page, image):
            self.assertGreaterEqual(int(fields["fetchTimeMs"]), 0)

    def test_I1_what_is_too_long_is_cut_and_marked(self):
        self.web.add(HOST, "/", '<img src="/big.png">')
        self.web.add(HOST, "/big.png", bytes(5000), "image/png")
        self.crawl(self.web.url(HOST), "--max-file-size", "1000")
        (big,) = [(fields, block) for fields, block in self.records()
                  if fields["WARC-Type"] == "response"
                  and fields["WARC-Target-URI"].endswith("/big.png")]
        self.assertEqual(big[0]["WARC-Truncated"], "length")
        self.assertEqual(len(big[1].split(b"\r\n\r\n", 1)[1]), 1000)
        (line,) = [line for line in self.log(1) if line[3].endswith("/big.png")]
        self.assertIn("lenTrunc", line[11])

    def test_I1_what_takes_too_long_is_cut_and_marked(self):
        def hang(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx")
            handler.rfile.read()  # until the client leaves
            raise ConnectionError

        def drip(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            while True:
                handler.wfile.write(b"x")
                time.sleep(.05)
        self.web.add(HOST, "/", '<a href="/hang">x</a><a href="/drip">x</a>')
        self.web.add(HOST, "/hang", hang)
        self.web.add(HOST, "/drip", drip)
        self.crawl(self.web.url(HOST), "--max-idle-time", "1", "--max-file-time", "2")
        cut = {fields["WARC-Target-URI"].rsplit("/", 1)[1]: fields.get("WARC-Truncated")
               for fields, _ in self.records() if fields["WARC-Type"] == "response"}
        self.assertEqual(cut, {"robots.txt": None, "": None, "hang": "time", "drip": "time"})
        self.assertEqual(sum("timeTrunc" in line[11] for line in self.log(1)), 2)

    def test_I1_each_container_says_who_made_it_and_how(self):
        self.web.add(HOST, "/", "a page")
        self.crawl(self.web.url(HOST), "--contact", "https://crawler.example/", "--robots", "embeds")
        self.crawl()
        (sent,) = {fields["User-Agent"] for _, _, _, fields in self.web.requests}
        self.assertRegex(sent, r"stele/\S+ .*https://crawler\.example/")
        firsts = [block.decode() for fields, block in self.records()
                  if fields["WARC-Type"] == "warcinfo"]
        self.assertEqual(len(firsts), len(self.containers()))
        self.assertEqual(len(firsts), 2)
        for text in firsts:
            fields = dict(line.split(": ", 1) for line in text.splitlines() if line)
            self.assertEqual((fields["http-header-user-agent"], fields["robots"],
                              fields["isPartOf"]), (sent, "embeds", "archive"))

    def test_D4_a_body_that_was_not_fetched_says_why_and_keeps_the_head(self):
        def page(handler):
            if handler.headers.get("If-None-Match") == '"v1"':
                return 304, {"ETag": '"v1"', "X-Said": "unchanged"}, b""
            return 200, {"Content-Type": "image/png", "ETag": '"v1"'}, b"\x89PNG of some length"
        self.web.add(HOST, "/", "<img src=/i.png>")
        self.web.add(HOST, "/i.png", page)
        self.crawl(self.web.url(HOST))
        self.crawl("--dedup-headers", "etag")
        notes = self.notes()[f"http://{HOST}/i.png"]
        self.assertIn(["bodyNotFetched", "the server said that it is unchanged"], notes)
        heads = [value for name, value in notes if name == "responseHead"]
        self.assertTrue(heads[0].startswith("HTTP/1.1 304"), heads)
        self.assertIn("X-Said: unchanged", heads)

    def test_I1_a_token_is_sent_and_never_stored(self):
        secret = "tok3n-of-nobody"
        asked = []

        def page(handler):
            asked.append(handler.headers.get("Authorization"))
            return 200, {"Content-Type": "text/html"}, b"members only"
        self.web.add(HOST, "/", page)
        logins = self.folder / "logins"
        logins.write_text(f"{HOST} bearer {secret}\n")
        self.crawl(self.web.url(HOST), "--logins", logins)
        self.assertIn(f"Bearer {secret}", asked)
        stored = [path for path in self.archive.rglob("*") if path.is_file()]
        for path in stored:
            self.assertNotIn(secret.encode(), path.read_bytes(), path)
        for fields, block in self.records():
            self.assertNotIn(secret.encode(), block, fields)
        self.assertEqual(dict(self.notes()[f"http://{HOST}/"])["requestRedacted"],
                         "Authorization, Cookie")


class Ways(CrawlTest):
    """Where links come from, and what robots.txt asks for, in a whole crawl."""

    def test_I1_feeds_are_read(self):
        items = "".join(f"<item><link>{self.web.url(HOST, f'/{i}')}</link></item>"
                        for i in range(3))
        self.web.add(HOST, "/", '<link rel=alternate type="application/rss+xml" href=/feed>')
        self.web.add(HOST, "/feed", f'<rss version="2.0"><channel>{items}</channel></rss>',
                     "application/rss+xml")
        for i in range(3):
            self.web.add(HOST, f"/{i}", "an article")
        self.crawl(self.web.url(HOST))
        for i in range(3):
            self.assertIn((f"http://{HOST}/{i}", 200), self.urls())

    def test_I1_a_crawl_delay_is_obeyed(self):
        self.web.add(HOST, "/robots.txt", "User-agent: *\nCrawl-delay: 2\n", "text/plain")
        self.web.add(HOST, "/", '<a href="/a">x</a>')
        self.web.add(HOST, "/a", "a")
        self.crawl(self.web.url(HOST), delay=None)
        earlier, later = [at for path, at in self.web.times(HOST) if path != "/robots.txt"]
        self.assertGreaterEqual(later - earlier, 1.99)

    def test_I1_of_robots_only_the_first_500_kilobytes_count(self):
        rules = "User-agent: *\nDisallow: /early\n"
        rules += "# " + "x" * (500 * 1024) + "\nDisallow: /late\n"
        self.web.add(HOST, "/robots.txt", rules, "text/plain")
        self.web.add(HOST, "/", '<a href="/early">x</a><a href="/late">x</a>')
        for path in ("/early", "/late"):
            self.web.add(HOST, path, "page")
        self.crawl(self.web.url(HOST))
        asked = self.web.asked(HOST)
        self.assertEqual((asked["/early"], asked["/late"]), (0, 1))


if __name__ == "__main__":
    unittest.main()
