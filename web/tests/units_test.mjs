// What can be judged without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { transformWithEsbuild } from "vite";

// A module of ours that imports no other.
async function load(name) {
  const path = join(dirname(fileURLToPath(import.meta.url)), "../src", name);
  const { code } = await transformWithEsbuild(readFileSync(path, "utf8"), path, {
    sourcemap: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
const address = await load("address.ts");
const moment = await load("moment.ts");
const route = await load("route.ts");
const { diffWords } = await load("text_diff.ts");
const { translate } = await load("told.ts");
const { de } = await load("texts/de.ts");

test("I8_AddressesAreToldFromWords", () => {
  for (const text of [
    "example.org",
    "http://a/",
    "www.example.org/x y".replace(" ", "+"),
    "localhost:80",
    "127.0.0.1/x",
    "münchen.de",
  ]) {
    assert.ok(address.looksLikeAddress(text), text);
  }
  for (const text of ["opening hours", "lighthouse", "", "  ", "3.14", "a@b.org", "etc."]) {
    assert.ok(!address.looksLikeAddress(text), text);
  }
});

test("I8_OnlyWebAddressesAreAddresses", () => {
  assert.equal(address.normalise("Example.ORG:80/a/../b"), "http://example.org/b");
  assert.equal(address.normalise("https://example.org"), "https://example.org/");
  for (const text of ["javascript:alert(1)", "file:///etc/passwd", "ftp://a/", "http://"]) {
    assert.equal(address.normalise(text), null, text);
  }
});

test("I8_RoutesAreReadAsTheyAreWritten", () => {
  for (const prefix of ["/", "/museum/"]) {
    const paths = new route.Paths(prefix);
    const parsed = (path) => {
      assert.equal(route.prefixOf(path.split("?")[0]), prefix);
      return route.parseRoute(path.slice(prefix.length));
    };
    const url = "http://example.org/a//b?c=http://d/&e#f";
    const plain = "http://example.org/a//b?c=http://d/&e";
    assert.deepEqual(parsed(paths.home()), { page: "home" });
    assert.deepEqual(parsed(paths.view("2014", url)), { page: "view", time: "2014", url });
    assert.deepEqual(parsed(paths.calendar(url)), { page: "calendar", url: plain });
    assert.deepEqual(parsed(paths.compare("", "2015", url)), {
      page: "compare",
      before: "",
      after: "2015",
      url: plain,
    });
    assert.deepEqual(parsed(paths.search("a & b")), { page: "search", words: "a & b" });
    assert.deepEqual(parsed(paths.browse("http://a/b/")), {
      page: "browse",
      prefix: "http://a/b/",
    });
    assert.deepEqual(parsed(paths.run(7)), { page: "run", run: 7 });
    assert.deepEqual(parsed(paths.statistics()), { page: "statistics" });
  }
  assert.deepEqual(route.parseRoute("runs/x"), { page: "unknown" });
});

test("I8_MomentsGoBothWays", () => {
  assert.equal(moment.toTimestamp(moment.toDate("20140126200624")), "20140126200624");
  assert.equal(moment.toTimestamp(moment.toDate("2014")), "20140101000000");
  assert.equal(moment.weekdayOf(2026, 11, 16), 0); // a Monday
  assert.equal(moment.daysInMonth(2024, 2), 29);
});

test("I8_WordsThatDifferAreMarked", () => {
  const [left, right] = diffWords("Monday to Friday, 9 to 5", "Monday to Saturday, 9 to 5");
  assert.deepEqual(
    left.filter((piece) => piece.changed).map((piece) => piece.text),
    ["Friday"],
  );
  assert.deepEqual(
    right.filter((piece) => piece.changed).map((piece) => piece.text),
    ["Saturday"],
  );
});

test("I8_MarkedLinesAreTheLines", () => {
  const words = ["a", "b", " ", ".", "ä", "", "12"];
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const line = () => Array.from({ length: random(12) }, () => words[random(words.length)]).join("");
  for (let round = 0; round < 500; ++round) {
    const [before, after] = [line(), line()];
    const [left, right] = diffWords(before, after);
    assert.equal(left.map((piece) => piece.text).join(""), before);
    assert.equal(right.map((piece) => piece.text).join(""), after);
    const kept = (pieces) =>
      pieces
        .filter((piece) => !piece.changed)
        .map((piece) => piece.text)
        .join("");
    assert.equal(kept(left), kept(right));
  }
  const long = "x ".repeat(2000);
  assert.deepEqual(diffWords(long, `${long}y`)[0], [{ text: long, changed: true }]);
});

// The sentences in a source of the crawler: its texts with a space in them.
function sentencesIn(name) {
  const path = join(dirname(fileURLToPath(import.meta.url)), "../../src/crawl", name);
  const code = readFileSync(path, "utf8").replace(/^\s*\/\/.*$/gm, "");
  const texts = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"(?:\s+"((?:[^"\\\n]|\\.)*)")?/g)];
  return texts.map(([, first, second]) => first + (second ?? "")).filter((text) => / /.test(text));
}

test("I8_WhatCrawlsWriteIsTranslated", () => {
  assert.equal(translate("the server answered 404", de.told), "Der Server antwortete mit 404");
  assert.equal(
    translate("its robots.txt could not be had: the server answered 500", de.told),
    "Seine robots.txt war nicht zu holen (Der Server antwortete mit 500)",
  );
  assert.equal(translate("it is outside of the crawl ($&)", de.told).slice(-5), " ($&)");
  assert.equal(translate("something new", de.told), null);
  const sentences = sentencesIn("missing_embeds.cc");
  assert.ok(sentences.length > 15, sentences.join("\n"));
  for (const sentence of sentences) {
    if (/^, |^limit $/.test(sentence)) continue; // parts of others
    assert.ok(translate(sentence, de.told), `no German for: ${sentence}`);
  }
  for (const sentence of sentencesIn("page_trouble.cc").filter((text) => /--|import/.test(text))) {
    assert.ok(translate(sentence, de.told), `no German for: ${sentence}`);
  }
});
