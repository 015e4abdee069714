// Archived pages in the browser, through wabac.js: whole, of their own time, and with nothing from
// the live web.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
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

test("W15_WithoutTheWorkerReplayIsReduced", async () => {
  const web = mkdtempSync(join(tmpdir(), "stele-reduced-"));
  cpSync(pages, web, { recursive: true });
  rmSync(join(web, "replay/sw.js"));
  const reduced = await Lab.startAll({ lighthouse }, web);
  try {
    assert.equal(reduced.archive.service_worker, false);
    const page = await reduced.replay("2006", HOURS);
    assert.match(await page.locator(".banner").innerText(), /10 May 2006.*Reduced replay/s);
    await page.frameLocator("iframe").locator("body", { hasText: "Open on Sundays" }).waitFor();
    await reduced.shot(page, "replay-reduced");
    await reduced.close(page);
  } finally {
    await reduced.stop();
    rmSync(web, { recursive: true });
  }
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
