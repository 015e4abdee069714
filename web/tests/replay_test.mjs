// Archived pages in the browser, through wabac.js: whole, of their own time, and with nothing from
// the live web.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { Lab, lighthouse, needsSample, pages, samples, violations } from "./lab.mjs";
import { writeWarc } from "./warc.mjs";

const HOURS = "http://lighthouse.example/hours.html";
let lab;
before(async () => {
  lab = await Lab.start("lighthouse", lighthouse);
});
after(() => lab?.stop());

const textOf = (page) => lab.frameOf(page).locator("body").innerText();

test("W15_ReplaysAPageOfEachTime", async () => {
  const old = await lab.replay("2006", HOURS);
  const oldText = await textOf(old);
  await lab.shot(old, "replay-2006");
  const page = await lab.replay("20260301", HOURS);
  const text = await textOf(page);
  assert.match(text, /Opening hours/);
  assert.notEqual(text, oldText);
  assert.match(await page.locator(".banner .when").innerText(), /2026/);
  assert.match(page.url(), /\/view\/2026\d{10}\/http:\/\/lighthouse\.example\/hours\.html$/);
  await lab.shot(page, "replay-2026");
  await lab.close(old);
  await lab.close(page);
});

test("W15_ReplaysStylesAndPictures", async () => {
  const page = await lab.replay("2026", "http://lighthouse.example/");
  const frame = lab.frameOf(page);
  await frame.waitForFunction(() => document.images[0]?.complete);
  assert.equal(await frame.evaluate(() => document.images[0].naturalWidth), 64);
  assert.match(await frame.evaluate(() => getComputedStyle(document.body).fontFamily), /serif/);
  await lab.shot(page, "replay-home");
  await lab.close(page);
});

test("W15_LinksStayInTheArchiveAndInTheirTime", async () => {
  const page = await lab.replay("2006", "http://lighthouse.example/");
  await lab.frameOf(page).click("text=Opening hours");
  await page.waitForURL(`${lab.origin}/view/2006*/http://lighthouse.example/hours.html`);
  assert.match(await textOf(page), /Opening hours/);
  await lab.close(page);
});

test("W15_BannerLeadsToTheNextChange", async () => {
  const page = await lab.replay("2006", HOURS);
  const before = await textOf(page);
  await page.getByRole("link", { name: /^Next change/ }).click();
  await page.waitForURL(`${lab.origin}/view/2026*/${HOURS}`);
  await page.waitForSelector(".banner .when[href]");
  assert.notEqual(await textOf(page), before);
  await lab.close(page);
});

test("W15_BannerCitesInformsAndFolds", async () => {
  const page = await lab.replay("2006", HOURS);
  await page.getByRole("button", { name: "Cite" }).click();
  assert.match(
    await page.locator(".cite").inputValue(),
    /Opening hours.*lighthouse\.example.*2006.*\/view\/2006/,
  );
  await page.getByRole("button", { name: "Info" }).click();
  assert.match(await page.locator(".panel").innerText(), /lighthouse-2006\.arc\.gz/);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".panel").isHidden());
  await page.getByRole("button", { name: "Hide the bar" }).click();
  assert.ok(await page.locator(".banner").isHidden());
  await page.getByRole("button", { name: "Show the bar" }).click();
  assert.ok(await page.locator(".banner").isVisible());
  await lab.close(page);
});

test("W15_WhatIsNotArchivedIsSaidToBe", async () => {
  const page = await lab.replay("2026", "http://lighthouse.example/never-there.html");
  assert.match(await page.locator(".banner").innerText(), /Not archived/);
  assert.match(await page.locator(".nothing").innerText(), /There is no capture of this address/);
  assert.ok(await page.locator("iframe.replay").isHidden());
  await page.getByRole("link", { name: "What is there of this site" }).click();
  await page.waitForURL(`${lab.origin}/browse/http://lighthouse.example/`);
  await lab.close(page);
});

test("W15_OnAPhoneTheToolsAreInThePanel", async () => {
  const page = await lab.replay("2026", "http://lighthouse.example/", {
    viewport: { width: 390, height: 780 },
  });
  const wider = await page
    .locator(".banner")
    .evaluate((line) => line.scrollWidth - line.clientWidth);
  assert.ok(wider <= 0, `the banner is ${wider} pixels too wide`);
  assert.ok(await page.getByRole("button", { name: "Cite" }).isHidden());
  await page.getByRole("button", { name: "Info" }).click();
  assert.ok(await page.getByRole("link", { name: "Raw" }).isVisible());
  await page.getByRole("button", { name: "Cite" }).click();
  assert.match(await page.locator(".cite").inputValue(), /lighthouse\.example/);
  await lab.close(page);
});

test("W15_TheTimelineLeadsToItsMoments", async () => {
  const page = await lab.replay("2026", HOURS);
  await page.locator(".timeline").click({ position: { x: 6, y: 6 } });
  await page.locator(".banner .when", { hasText: "2006" }).waitFor();
  await lab.close(page);
});

test("W15_ComparesPagesSideBySide", async () => {
  const page = await lab.openPage(`/compare/2006/2026/${HOURS}`);
  await page.getByRole("button", { name: "Pages" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".pair iframe").length === 2);
  const replayed = () => page.frames().filter((frame) => frame.url().includes("/r/w/"));
  for (let wait = 0; replayed().length < 2 && wait < 100; ++wait) await page.waitForTimeout(100);
  const texts = await Promise.all(replayed().map((frame) => frame.locator("body").innerText()));
  assert.equal(texts.length, 2);
  assert.notEqual(texts[0], texts[1]);
  await lab.shot(page, "compare-pages");
  await lab.close(page);
});

const collections = [
  {
    files: ["pywb", "iana.warc.gz"],
    time: "2014",
    url: "http://www.iana.org/",
    says: /Domain Names/,
  },
  {
    files: ["pywb", "example.warc.gz"],
    time: "2014",
    url: "http://example.com/?example=1",
    says: /Example Domain/,
  },
  {
    files: ["warcio", "example.arc.gz"],
    time: "2014",
    url: "http://example.com/",
    says: /Example Domain/,
  },
  {
    files: ["jwat", "IAH-20080430204825-00000-blackbook.warc.gz"],
    time: "2008",
    url: "http://www.archive.org/",
    says: /Internet Archive/,
  },
];
for (const { files, time, url, says } of collections) {
  test(`W15_ReplaysSamples.${files.join("/")}`, { skip: needsSample(...files) }, async () => {
    const other = await Lab.start("samples", [join(samples, ...files)]);
    try {
      const page = await other.replay(time, url);
      await other.frameOf(page).locator("body", { hasText: says }).waitFor();
      await other.shot(page, `sample-${files[1].replace(/\W+/g, "-")}`);
      await other.close(page);
    } finally {
      await other.stop();
    }
  });
}

// Serves an archive with pages that have no service worker, and looks at it.
async function withoutWorker(archives, look) {
  const web = mkdtempSync(join(tmpdir(), "stele-reduced-"));
  cpSync(pages, web, { recursive: true });
  rmSync(join(web, "replay/sw.js"));
  const reduced = await Lab.startAll(archives, web);
  try {
    assert.equal(reduced.archive.service_worker, false);
    await look(reduced);
  } finally {
    await reduced.stop();
    rmSync(web, { recursive: true });
  }
}

test("W15_WithoutTheWorkerReplayIsReduced", () =>
  withoutWorker({ lighthouse }, async (reduced) => {
    const page = await reduced.replay("2006", HOURS);
    assert.match(await page.locator(".banner").innerText(), /10 May 2006.*Reduced replay/s);
    await page.frameLocator("iframe").locator("body", { hasText: "Open on Sundays" }).waitFor();
    await reduced.shot(page, "replay-reduced");
    await reduced.close(page);
  }));

test("W15_ReducedReplayRunsScriptsAndInnerDocuments", () => {
  const at = "2020-01-01T00:00:00Z";
  const script = (body) => ({ headers: { "Content-Type": "text/javascript" }, body });
  const picture = {
    headers: { "Content-Type": "image/svg+xml" },
    body: '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"></svg>',
  };
  const file = join(lab.folder, "reduced.warc");
  writeWarc(file, [
    {
      url: "http://reduced.example/",
      date: at,
      body: `<title>Reduced</title><p id=late></p>
        <iframe name=inner srcdoc="<img src=&quot;/inner.svg&quot;><a href='/next'>On</a>"></iframe>
        <iframe name=framed src="/framed"></iframe>
        <script>
          const script = document.createElement("script");
          script.src = "http://cdn.example/late.js";
          document.head.append(script);
        </script><button onclick="go()">Go</button>
        <script src="/go.js"></script>`,
    },
    {
      url: "http://cdn.example/late.js",
      date: at,
      ...script('document.getElementById("late").textContent = "late script";'),
    },
    {
      url: "http://reduced.example/go.js",
      date: at,
      ...script('function go() { location.href = "/next"; }'),
    },
    { url: "http://reduced.example/inner.svg", date: at, ...picture },
    { url: "http://reduced.example/next", date: at, body: "<h1>Next page</h1>" },
    { url: "http://reduced.example/framed", date: at, body: "<h1>In a frame</h1>" },
  ]);
  return withoutWorker({ reduced: [file] }, async (reduced) => {
    const page = await reduced.replay("2020", "http://reduced.example/");
    const frame = page.frameLocator("iframe");
    // An address in a string of a script, and one of a script elsewhere.
    await frame.locator("#late", { hasText: "late script" }).waitFor();
    // A document that is in an attribute of another.
    const inner = frame.frameLocator("iframe[name=inner]");
    await inner.locator("img").waitFor();
    const framed = frame.frameLocator("iframe[name=framed]");
    await framed.locator("h1", { hasText: "In a frame" }).waitFor();
    const width = () => inner.locator("img").evaluate((image) => image.naturalWidth);
    for (let wait = 0; (await width()) !== 30 && wait < 100; ++wait) await page.waitForTimeout(50);
    assert.equal(await width(), 30);
    await reduced.shot(page, "replay-reduced-scripts");
    await inner.getByText("On").click();
    await inner.locator("h1", { hasText: "Next page" }).waitFor();
    // A script that goes elsewhere.
    await frame.getByText("Go").click();
    await frame.locator("h1", { hasText: "Next page" }).waitFor();
    await reduced.close(page);
  });
});

test("W15_SeveralArchivesReplayTheirOwn", async () => {
  const both = await Lab.startAll({ old: lighthouse.slice(0, 1), new: lighthouse.slice(1) });
  try {
    const page = await both.open("/new/");
    await page.click("tbody a >> nth=0");
    await page.waitForURL(`${both.origin}/new/calendar/http://lighthouse.example/**`);
    await page.goto(`${both.origin}/new/view/2006/${HOURS}`);
    await page.waitForSelector(".banner .when[href]");
    assert.match(page.url(), /\/new\/view\/2026\d{10}\/http/); // that archive has no 2006
    await both.frameOf(page).click("text=News");
    await page.waitForURL(`${both.origin}/new/view/2026*/http://lighthouse.example/news.html`);
    await page.goto(`${both.origin}/view/2026/${HOURS}`);
    await page.waitForSelector(".banner .when[href]");
    assert.match(page.url(), /\/view\/2006\d{10}\/http/);
    await both.close(page);
  } finally {
    await both.stop();
  }
});

test("W15_ReplaysRedirectsErrorsAndPdf", async () => {
  const at = "2020-01-01T00:00:00Z";
  const pdf =
    "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" +
    "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n" +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n";
  const file = join(lab.folder, "odd.warc");
  writeWarc(file, [
    {
      url: "http://odd.example/from",
      date: at,
      status: "302 Found",
      headers: { Location: "/to?x=1" },
    },
    {
      url: "http://odd.example/to?x=1",
      date: at,
      body: "<h1>Arrived</h1><a href=/paper.pdf>Paper</a>",
    },
    { url: "http://odd.example/gone", date: at, status: "503 Out", body: "<h1>Back soon</h1>" },
    {
      url: "http://odd.example/paper.pdf",
      date: at,
      headers: { "Content-Type": "application/pdf" },
      body: pdf,
    },
  ]);
  const odd = await Lab.start("odd", [file]);
  try {
    const page = await odd.replay("2020", "http://odd.example/from");
    await page.waitForURL(`${odd.origin}/view/20200101000000/http://odd.example/to?x=1`);
    assert.match(await odd.frameOf(page).locator("body").innerText(), /Arrived/);
    await odd.frameOf(page).click("text=Paper");
    await page.waitForURL(`${odd.origin}/view/20200101000000/http://odd.example/paper.pdf`);
    await odd.shot(page, "replay-pdf");
    await odd.close(page);
    const gone = await odd.replay("2020", "http://odd.example/gone");
    assert.match(await odd.frameOf(gone).locator("body").innerText(), /Back soon/);
    await odd.close(gone);
  } finally {
    await odd.stop();
  }
});

test("W15_ReplaysFormsAndQueriesWithTheirBodies", async () => {
  const at = "2020-01-01T00:00:00Z";
  const form = "application/x-www-form-urlencoded";
  const answer = (text) => ({ headers: { "Content-Type": "application/json" }, body: text });
  const file = join(lab.folder, "posts.warc");
  writeWarc(file, [
    {
      url: "http://post.example/",
      date: at,
      body: `<form method=post action=/find><input name=q value=lamps><button>Find</button></form>
        <p id=got></p><script>
        const ask = (body) => fetch("/graph", { method: "POST", body: JSON.stringify(body),
          headers: { "Content-Type": "application/json" } }).then((r) => r.json());
        ask({ query: { id: 2, all: true, none: null } }).then((b) =>
          ask({ query: { id: 3 } }).then((c) => {
            document.getElementById("got").textContent = b.name + " " + c.name; }))
          .catch(() => {}); // in reduced replay
        </script>`,
    },
    ...["lamps", "boats"].map((q, n) => ({
      url: "http://post.example/find",
      date: `2020-01-01T00:00:0${n + 1}Z`,
      body: `<h1>About ${q}</h1>`,
      post: { type: form, body: `q=${q}` },
    })),
    {
      url: "http://post.example/graph",
      date: at,
      ...answer('{"name": "second"}'),
      post: { type: "application/json", body: '{"query": {"id": 2, "all": true, "none": null}}' },
    },
    {
      url: "http://post.example/graph",
      date: at,
      ...answer('{"name": "third"}'),
      post: { type: "application/json", body: '{"query": {"id": 3}}' },
    },
  ]);
  const posts = await Lab.start("posts", [file]);
  try {
    const page = await posts.replay("2020", "http://post.example/");
    const frame = posts.frameOf(page);
    await frame.locator("#got", { hasText: "second third" }).waitFor();
    await frame.click("text=Find");
    await page.waitForURL(
      `${posts.origin}/view/20200101000001/http://post.example/find?__wb_method=post&q=lamps`,
    );
    assert.match(await posts.frameOf(page).locator("body").innerText(), /About lamps/);
    await page.waitForSelector(".banner .when[href]");
    await posts.shot(page, "replay-post");
    await posts.close(page);
    // The address of the answer can be opened by itself, and by the server alone.
    const again = await posts.replay("2020", "http://post.example/find?__wb_method=post&q=boats");
    assert.match(await posts.frameOf(again).locator("body").innerText(), /About boats/);
    await posts.close(again);
    const reduced = await posts.open("/web/20200101000000mp_/http://post.example/");
    await reduced.click("text=Find");
    await reduced.waitForSelector("text=About lamps");
    await posts.close(reduced);
  } finally {
    await posts.stop();
  }
});

test("W15_ReplaysWhatOnlyCacheBustersTellApart", async () => {
  const at = "2020-01-01T00:00:00Z";
  const script = (body) => ({ headers: { "Content-Type": "text/javascript" }, body });
  const file = join(lab.folder, "busters.warc");
  writeWarc(file, [
    {
      url: "http://bust.example/",
      date: at,
      body: `<p id=got></p><p id=padded></p><script>
        const say = (id, text) => { document.getElementById(id).textContent = text; };
        fetch("/data?id=7&_=" + Date.now()).then((r) => r.text()).then((t) => say("got", t));
        const name = "jsonp" + String(Math.random()).slice(2);
        window[name] = (data) => say("padded", data.name);
        const script = document.createElement("script");
        script.src = "/padded?callback=" + name;
        document.head.append(script);
        </script><script src="/versioned.js?v=2"></script>`,
    },
    { url: "http://bust.example/data?id=8&_=1", date: at, body: "the wrong one" },
    { url: "http://bust.example/data?id=7&_=1", date: at, body: "the right one" },
    {
      url: "http://bust.example/padded?callback=jsonp123",
      date: at,
      ...script('jsonp123({"name": "called back"})'),
    },
    {
      url: "http://bust.example/versioned.js?v=1",
      date: at,
      ...script("document.title = 'versioned'"),
    },
  ]);
  const busters = await Lab.start("busters", [file]);
  try {
    const page = await busters.replay("2020", "http://bust.example/");
    const frame = busters.frameOf(page);
    await frame.locator("#got", { hasText: "the right one" }).waitFor();
    await frame.locator("#padded", { hasText: "called back" }).waitFor();
    assert.equal(await frame.title(), "versioned");
    await busters.close(page);
  } finally {
    await busters.stop();
  }
});

test("W15_ReplaysOldCharacterSetsAndCodings", async () => {
  const at = "2001-01-01T00:00:00Z";
  const page = (text, charset) => `<meta charset=${charset}><p id=said>${text}</p>`;
  const bytes = (text) => Buffer.from(text, "latin1");
  const cases = {
    // In the header, in the page, and nowhere but in the bytes themselves.
    "windows-1251": [
      { "Content-Type": "text/html; charset=windows-1251" },
      bytes("<p id=said>\xcf\xf0\xe8\xe2\xe5\xf2</p>"),
      "Привет",
    ],
    shift_jis: [
      { "Content-Type": "text/html" },
      bytes(page("\x93\xfa\x96\x7b\x8c\xea", "shift_jis")),
      "日本語",
    ],
    latin: [{ "Content-Type": "text/html" }, bytes("<p id=said>Gr\xfc\xdfe</p>"), "Grüße"],
    br: [{ "Content-Encoding": "br" }, brotliCompressSync(page("Grüße", "utf-8")), "Grüße"],
  };
  const file = join(lab.folder, "charsets.warc");
  writeWarc(
    file,
    Object.entries(cases).map(([name, [headers, body]]) => ({
      url: `http://old.example/${name}`,
      date: at,
      headers,
      body,
    })),
  );
  const old = await Lab.start("charsets", [file]);
  try {
    for (const [name, [, , says]] of Object.entries(cases)) {
      const replayed = await old.replay("2001", `http://old.example/${name}`);
      assert.equal(await old.frameOf(replayed).locator("#said").innerText(), says, name);
      await replayed.goto(`${old.origin}/web/20010101000000mp_/http://old.example/${name}`);
      assert.equal(await replayed.locator("#said").innerText(), says, `${name}, reduced`);
      await old.close(replayed);
    }
  } finally {
    await old.stop();
  }
});

test("W15_TheBannerTellsHowThePagesTimesDiffer", async () => {
  const file = join(lab.folder, "times.warc");
  const png = { headers: { "Content-Type": "image/png" }, body: "x" };
  writeWarc(file, [
    {
      url: "http://times.example/",
      date: "2020-01-10T00:00:00Z",
      body: "<img src=old.png><img src=new.png><img src=never.png>",
    },
    { url: "http://times.example/old.png", date: "2020-01-01T00:00:00Z", ...png },
    { url: "http://times.example/new.png", date: "2020-03-10T00:00:00Z", ...png },
    { url: "http://times.example/alone", date: "2020-01-10T00:00:00Z", body: "<img src=old.png>" },
  ]);
  const times = await Lab.start("times", [file]);
  try {
    const page = await times.replay("2020", "http://times.example/");
    await page.getByRole("button", { name: "Resources up to 2 months apart, 1 missing" }).click();
    const panel = await page.locator(".panel").innerText();
    assert.match(panel, /1 Jan 2020.*10 Mar 2020/s);
    assert.match(panel, /never\.png/);
    assert.deepEqual(await violations(page), []);
    await times.shot(page, "replay-coherence");
    await times.close(page);
  } finally {
    await times.stop();
  }
});
