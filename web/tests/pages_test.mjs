// Each page of ours, on the example archive: what it shows, that axe finds nothing wrong with it,
// in light and dark, on a desk and on a phone, and that it asks nobody but the program.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { crawl, Lab, lighthouse, violations } from "./lab.mjs";

const HOURS = "http://lighthouse.example/hours.html";
let lab;
before(async () => {
  lab = await Lab.start("lighthouse", lighthouse);
});
after(() => lab?.stop());

const looks = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 } },
};
const paths = {
  home: "/",
  search: "/search?q=opening",
  nothing: "/search?q=unheard-of",
  calendar: `/calendar/${HOURS}`,
  list: `/calendar/${HOURS}#2026/list`,
  compare: `/compare/2006/2026/${HOURS}`,
  hosts: "/browse/",
  browse: "/browse/http://lighthouse.example/",
  runs: "/runs",
  run: "/runs/3",
  jobs: "/jobs",
  statistics: "/statistics",
  unknown: "/runs/x",
};

for (const [name, path] of Object.entries(paths)) {
  for (const [look, options] of Object.entries(looks)) {
    test(`I8_AxeFindsNothingWrong.${name}.${look}`, async () => {
      const page = await lab.openPage(path, options);
      assert.equal(await page.locator(".problem").count(), 0);
      assert.deepEqual(await violations(page), []);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `the page is ${wider} pixels wider than the window`);
      await lab.shot(page, `${name}-${look}`);
      await lab.close(page);
    });
  }
}

test("I8_AxeWouldFindSomething", async () => {
  const page = await lab.openPage("/runs");
  await page.evaluate(() => document.querySelector("main").append(new Image()));
  assert.deepEqual(await violations(page), ["image-alt: img"]);
  await lab.close(page);
});

test("I8_HomeShowsSitesAndTheLatestRun", async () => {
  const page = await lab.openPage("/");
  assert.match(await page.locator("tbody tr").first().innerText(), /lighthouse\.example/);
  assert.match(await page.locator("main").innerText(), /Run 3/);
  await lab.close(page);
});

test("I8_AnAddressOpensItsCalendarAndWordsAreSearched", async () => {
  const page = await lab.openPage("/");
  await page.fill("#seek", "lighthouse.example/hours.html");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${lab.origin}/calendar/${HOURS}**`);
  await page.fill("#seek", "opening hours");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${lab.origin}/search?q=opening+hours`);
  await page.click("tbody a >> nth=0");
  await page.waitForURL(`${lab.origin}/view/**`);
  await page.context().close();
});

test("I8_CalendarTellsChangesByShape", async () => {
  const page = await lab.openPage(`/calendar/${HOURS}`);
  const days = page.locator(".month td button");
  assert.equal(await days.count(), 2); // of 2026
  assert.match(await days.nth(0).getAttribute("aria-label"), /January 2026.*Text changed/);
  await page.click(".years button >> nth=0");
  await page.waitForFunction(() => document.querySelectorAll(".month td button").length === 1);
  assert.match(await days.nth(0).getAttribute("aria-label"), /2006.*First capture/);
  assert.ok(page.url().endsWith("#2006"));
  await lab.close(page);
});

test("I8_CalendarWorksByKeyboard", async () => {
  const page = await lab.openPage(`/calendar/${HOURS}`);
  await page.focus(".month td button >> nth=0");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".times li").count(), 1);
  for (let step = 0; step < 4; ++step) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.matches(".times a"))) break;
  }
  await page.keyboard.press("Enter");
  await page.waitForURL(`${lab.origin}/view/2026*/${HOURS}`);
  await lab.close(page);
});

test("I8_TwoTickedAreCompared", async () => {
  const page = await lab.openPage(`/calendar/${HOURS}#2026/list`);
  const button = page.getByRole("button", { name: "Compare the two" });
  assert.ok(await button.isDisabled());
  await page.check("tbody input >> nth=0");
  await page.check("tbody input >> nth=1");
  await button.click();
  await page.waitForURL(`${lab.origin}/compare/2026*/2026*/${HOURS}`);
  await page.waitForSelector(".sides");
  assert.ok((await page.locator(".sides del, .sides ins").count()) > 0);
  await lab.close(page);
});

test("I8_TheTimesOfOneDayAreOpenAtATime", async () => {
  const page = await lab.openPage(`/calendar/${HOURS}`);
  const open = page.locator(".day-times:visible");
  const days = page.locator(".month td button");
  await days.nth(0).click();
  assert.match(await open.innerText(), /January 2026/);
  await days.nth(1).click();
  assert.equal(await open.count(), 1);
  assert.match(await open.innerText(), /February 2026/);
  assert.equal(await page.locator("[aria-expanded=true]").count(), 1);
  await days.nth(1).click();
  assert.equal(await open.count(), 0);
  await lab.close(page);
});

test("I8_RowsAreListsOnAPhone", async () => {
  const list = `/calendar/${HOURS}#2026/list`;
  for (const path of ["/", "/runs", "/runs/2", "/browse/", "/statistics", list]) {
    const page = await lab.openPage(path, { viewport: { width: 390, height: 780 } });
    await page.waitForSelector("[role=cell]:visible");
    const cut = await page
      .locator(".wide")
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    assert.equal(cut, 0, `${path} has tables that are wider than the page`);
    const name = await page
      .locator("[role=cell]:visible >> nth=1")
      .evaluate((cell) => getComputedStyle(cell, "::before").content);
    assert.match(name, /^"\w/, `${path} does not say what its cells are`);
    await lab.close(page);
  }
});

test("I8_StatisticsDrawShares", async () => {
  const page = await lab.openPage("/statistics");
  const types = page.getByRole("region", { name: "Media types" });
  const shares = await types.locator(".share-bar").allInnerTexts();
  const sum = shares.reduce((all, share) => all + Number.parseInt(share, 10), 0);
  assert.ok(shares.length > 1 && Math.abs(sum - 100) <= shares.length, shares.join());
  await lab.close(page);
});

test("I8_PagesSpeakGerman", async () => {
  const page = await lab.openPage("/", { locale: "de-DE" });
  assert.equal(await page.getAttribute("html", "lang"), "de");
  assert.match(await page.locator("main").innerText(), /Der letzte Lauf/);
  await page.selectOption("#language", "en");
  await page.waitForFunction(() => document.documentElement.lang === "en");
  await lab.close(page);
});

// What a crawl that runs tells others: docs/formats/crawl-status.md.
async function startCrawl(archive) {
  const status = {
    job: "lighthouse.example",
    run: 4,
    pid: 1,
    state: "running",
    started: "2026-11-16T14:45:00.000Z",
    time: "2026-11-16T14:46:40.250Z",
    seconds: 100.25,
    pages: 812,
    files: 2410,
    bytes: 91234567,
    duplicates: 40,
    failures: 3,
    pages_per_second: 8.1,
    files_per_second: 24,
    bytes_per_second: 912345,
    waiting: 1200,
    hosts: 14,
    under_way: 9,
    seconds_left: 50,
    limit: "",
    limits: {},
  };
  const server = createServer((request, response) =>
    response.end(
      JSON.stringify(
        request.url === "/hosts" ? [{ host: "lighthouse.example", waiting: 1200 }] : status,
      ),
    ),
  );
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const folder = join(archive, "crawl/lighthouse.example");
  mkdirSync(folder, { recursive: true });
  const { address, port } = server.address();
  writeFileSync(join(folder, "running.json"), JSON.stringify({ run: 4, pid: 1, address, port }));
  const stop = () => {
    rmSync(join(archive, "crawl"), { recursive: true });
    server.closeAllConnections();
    server.close();
  };
  return { status, stop };
}

test("I8_ACrawlIsWatchedWhileItRuns", async () => {
  const quiet = await lab.openPage("/jobs");
  assert.match(await quiet.locator("main").innerText(), /No crawl runs now/);
  await lab.close(quiet);
  const crawl = await startCrawl(join(lab.folder, "lighthouse"));
  try {
    const page = await lab.openPage("/jobs");
    const text = () => page.locator("main").innerText();
    assert.match(await text(), /1 crawl runs now.*lighthouse\.example.*Running.*812/s);
    assert.match(await text(), /50 seconds/);
    assert.match(await text(), /Longest queues.*1,200/s);
    assert.deepEqual(await violations(page), []);
    await lab.shot(page, "jobs-running");
    // Nobody asks: the server tells.
    crawl.status.pages = 999;
    crawl.status.state = "paused";
    await page.waitForSelector("text=Paused");
    assert.match(await text(), /999/);
    await lab.close(page);
    const german = await lab.openPage("/jobs", { locale: "de-DE" });
    assert.match(await german.locator("main").innerText(), /Angehalten.*Längste Schlangen/s);
    await lab.close(german);
  } finally {
    crawl.stop();
  }
});

test("I8_ARunTellsWhatItsPagesLack", async () => {
  const site = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html");
    if (request.url !== "/") response.writeHead(404);
    response.end(request.url === "/" ? "<title>Harbour</title><img src=/boat.png>" : "");
  });
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  const archive = join(lab.folder, "crawled");
  await crawl(archive, `http://127.0.0.1:${site.address().port}/`);
  site.close();
  const crawled = await Lab.serve([archive]);
  try {
    const page = await crawled.openPage("/runs/1");
    const missing = page.getByRole("region", { name: "Missing on pages" });
    assert.match(
      await missing.innerText(),
      /boat\.png.*127\.0\.0\.1.*the server answered 404.*nothing, if it is gone/s,
    );
    assert.deepEqual(await violations(page), []);
    await crawled.shot(page, "run-missing");
    const german = await crawled.openPage("/runs/1", { locale: "de-DE" });
    assert.match(
      await german.getByRole("region", { name: "Auf Seiten fehlt" }).innerText(),
      /boat\.png.*Der Server antwortete mit 404.*nichts, wenn es fort ist/s,
    );
    await crawled.close(german);
    await missing.getByRole("link").click();
    await page.waitForSelector(".banner .when[href]");
    assert.match(await page.locator(".banner .where").innerText(), /Harbour/);
    await crawled.close(page);
    const jobs = await crawled.openPage("/jobs");
    assert.match(await jobs.locator("main").innerText(), /127\.0\.0\.1.*Not running.*Run 1/s);
    await crawled.close(jobs);
  } finally {
    await crawled.stop();
  }
});
