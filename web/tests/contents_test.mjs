// What each page tells, on a small archive in which there is something of every kind, so that all
// numbers are known.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Lab, stele, violations } from "./lab.mjs";
import { writeWarc } from "./warc.mjs";

const SITE = "http://kinds.example/";
const text = (words) => `<title>Kinds</title><p>${words}</p>`;
// One day after another, each of another kind.
const kinds = {
  first: { body: text("one") },
  identical: { body: text("one") },
  "same-text": { body: `${text("one")}<!-- changed -->` },
  text: { body: text("two") },
  redirect: { status: "302 Found", headers: { Location: "/elsewhere" } },
  error: { status: "500 Broken", body: text("three") },
};
const pages = [
  ...Object.values(kinds).map((page, at) => ({
    url: SITE,
    date: `2020-03-0${at + 1}T10:00:00Z`,
    ...page,
  })),
  { url: `${SITE}news/today`, date: "2020-03-01T11:00:00Z", body: "x".repeat(2000) },
  { url: `${SITE}news/today`, date: "2020-04-01T11:00:00Z", body: "y".repeat(2000) },
  { url: `${SITE}newer`, date: "2020-03-01T11:00:00Z", body: "newer" },
  { url: "http://sub.kinds.example/", date: "2020-03-01T11:00:00Z", body: "sub" },
  { url: "http://other.example/", date: "2020-03-01T11:00:00Z", body: "other" },
];

let lab;
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "stele-contents-"));
  const file = join(folder, "kinds.warc");
  writeWarc(file, pages);
  const archive = join(folder, "kinds");
  stele(["import", "--quiet", "--dedup", "--archive", archive, file]);
  const config = join(archive, "archive.toml");
  const said = readFileSync(config, "utf8")
    .replace(/^title = .*/m, 'title = "The <b>kinds</b>"')
    .replace(/^description = .*/m, 'description = "Something of every kind"')
    .replace(/^rights = .*/m, 'rights = "Free for all"');
  writeFileSync(config, said);
  lab = await Lab.serve([archive], undefined, folder);
});
after(() => lab?.stop());

// The texts of the rows of a table, by the text of their first cell.
async function rowsOf(place) {
  const rows = await place
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  return Object.fromEntries(rows.map(([name, ...values]) => [name, values]));
}

test("I8_HomeTellsWhatTheArchiveIs", async () => {
  const page = await lab.openPage("/");
  assert.equal(await page.locator("h1").innerText(), "The <b>kinds</b>");
  const main = await page.locator("main").innerText();
  assert.match(main, /Something of every kind.*Free for all/s);
  const sites = await rowsOf(page);
  assert.deepEqual(Object.keys(sites).sort(), [
    "kinds.example",
    "other.example",
    "sub.kinds.example",
  ]);
  assert.deepEqual(sites["kinds.example"].slice(0, 2), ["1 Mar 2020", "1 Apr 2020"]);
  assert.equal(await page.locator("tbody svg.spark").count(), 3);
  // The latest run, and what was wrong with it.
  assert.match(main, /Run 1 \(import\).*11 captures/s);
  await page.locator("summary", { hasText: "Answered with an error: 1" }).click();
  assert.match(await page.locator("details li").innerText(), /kinds\.example.*500/s);
  await lab.close(page);
});

test("I8_EveryKindOfChangeHasAShapeAndAColour", async () => {
  const page = await lab.openPage(`/calendar/${SITE}`);
  const days = await page.locator(".month td button").evaluateAll((buttons) =>
    buttons.map((button) => {
      const drawn = button.querySelector("svg");
      return {
        day: button.innerText.trim(),
        kind: /state-([\w-]+)/.exec(drawn.getAttribute("class"))[1],
        shape: drawn.innerHTML,
        colour: getComputedStyle(drawn).color,
        label: button.getAttribute("aria-label"),
      };
    }),
  );
  assert.deepEqual(
    days.map(({ kind }) => kind),
    Object.keys(kinds),
  );
  assert.equal(new Set(days.map(({ shape }) => shape)).size, days.length);
  const coloured = days.filter(({ kind }) => kind !== "first"); // which has that of another text
  assert.equal(new Set(coloured.map(({ colour }) => colour)).size, coloured.length);
  const words = ["First capture", "Identical", "Same text", "Text changed", "Redirect", "Error"];
  days.forEach(({ label }, at) => assert.match(label, new RegExp(words[at])));
  // The same for whoever sees neither.
  await page.getByRole("button", { name: "List" }).click();
  await page.waitForSelector("th:text('Status')");
  const rows = await page.locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, words.length);
  rows.forEach((row, at) => assert.match(row, new RegExp(words[at])));
  await lab.close(page);
});

test("I8_ADayOfTheCalendarCanBeTickedAndCompared", async () => {
  const page = await lab.openPage(`/calendar/${SITE}`);
  const days = page.locator(".month td button");
  for (const day of [0, 3]) {
    await days.nth(day).click();
    await page.locator(".day-times:visible input").check();
  }
  await page.getByRole("button", { name: "Compare the two" }).click();
  await page.waitForURL(`${lab.origin}/compare/20200301100000/20200304100000/${SITE}`);
  await page.waitForSelector(".sides");
  assert.equal(await page.locator(".sides del").innerText(), "one");
  assert.equal(await page.locator(".sides ins").innerText(), "two");
  await lab.close(page);
});

test("I8_BrowsingTellsCountsAndSizes", async () => {
  const page = await lab.openPage("/browse/");
  const hosts = await rowsOf(page);
  assert.deepEqual(hosts["kinds.example"].slice(0, 2), ["3", "9"]);
  assert.match(hosts["kinds.example"][2], /^4\.\d kB$/);
  await page.getByRole("link", { name: "kinds.example", exact: true }).click();
  await page.waitForURL(`${lab.origin}/browse/${SITE}`);
  await page.waitForSelector("tbody");
  const paths = await rowsOf(page);
  assert.deepEqual(paths.news.slice(0, 3), ["1", "2", "4 kB"]);
  await page.getByRole("link", { name: "news", exact: true }).click();
  await page.waitForURL(`${lab.origin}/browse/${SITE}news/`);
  await page.getByRole("link", { name: "today", exact: true }).click();
  await page.waitForURL(`${lab.origin}/calendar/${SITE}news/today*`);
  // The forms of the field: a begin, and the hosts of a domain.
  for (const [query, names] of [
    [`*/${SITE}ne*`, ["newer", "news"]],
    ["*/*.kinds.example", ["kinds.example", "sub.kinds.example"]],
  ]) {
    await page.goto(`${lab.origin}/web/${query}`);
    await page.waitForSelector("tbody");
    assert.deepEqual(Object.keys(await rowsOf(page)).sort(), names);
  }
  await lab.close(page);
});

test("I8_StatisticsDrawMonthsAndTellWhatDuplicatesSaved", async () => {
  const page = await lab.openPage("/statistics");
  const bars = await page
    .locator(".chart")
    .evaluateAll((charts) =>
      charts.map((chart) => [...chart.querySelectorAll("title")].map((bar) => bar.textContent)),
    );
  assert.equal(bars.length, 2);
  assert.deepEqual(bars[0], ["2020-03: 10", "2020-04: 1"]);
  assert.match(bars[1][1], /^2020-04: 2 kB$/);
  const codes = page.getByRole("region", { name: "Status codes" });
  const statuses = await rowsOf(codes);
  assert.deepEqual(Object.keys(statuses).sort(), ["200", "302", "500"]);
  assert.match(statuses["200"].join(), /\b9\b/);
  const saved = text("one").length;
  const main = await page.locator("main").innerText();
  assert.match(main, new RegExp(`1 revisit stands for ${saved} bytes`, "s"));
  await lab.close(page);
});

// All that can be clicked can be reached with the tab key, and shows that it has been.
for (const path of [
  "/",
  "/search?q=kinds",
  `/calendar/${SITE}`,
  `/calendar/${SITE}#2020/list`,
  `/compare/20200301/20200304/${SITE}`,
  "/browse/",
  "/runs",
  "/runs/1",
  "/jobs",
  "/statistics",
]) {
  test(`I8_TheKeyboardReachesEverything.${path}`, async () => {
    const page = await lab.openPage(path);
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href], button, input, select, summary")];
      return all.filter((one) => !one.disabled && one.checkVisibility()).length;
    });
    assert.ok(wanted > 5);
    await page.evaluate(() => {
      globalThis.reached = new Set();
      globalThis.unseen = [];
      addEventListener("focusin", ({ target }) => {
        globalThis.reached.add(target);
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        if (outlineStyle === "none" || outlineWidth === "0px")
          globalThis.unseen.push(target.outerHTML);
      });
      document.activeElement?.blur();
    });
    for (let step = 0; step < wanted + 3; ++step) await page.keyboard.press("Tab");
    assert.ok((await page.evaluate(() => globalThis.reached.size)) >= wanted);
    assert.deepEqual(await page.evaluate(() => globalThis.unseen), []);
    await lab.close(page);
  });
}

test("W15_TheBannerComparesAndShowsWhatIsRaw", async () => {
  const page = await lab.replay("20200304100000", SITE);
  const back = page.getByRole("link", { name: /^Previous change/ });
  const raw = page.getByRole("link", { name: "Raw" });
  const address = await raw.getAttribute("href");
  assert.equal(address, `/web/20200304100000id_/${SITE}`);
  const answer = await page.context().request.get(lab.origin + address);
  assert.equal(await answer.text(), text("two"));
  const compare = page.getByRole("link", { name: "Compare" });
  assert.match(
    await compare.getAttribute("href"),
    /^\/compare\/2020030\d100000\/20200304100000\/http:\/\/kinds\.example\/$/,
  );
  await back.click();
  await page.waitForURL(/\/view\/20200303100000\//);
  await page.waitForSelector(".banner .when[href]");
  await lab.frameOf(page).locator("p", { hasText: "one" }).waitFor();
  await lab.close(page);
});

for (const [look, options] of Object.entries({
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 } },
})) {
  test(`W15_AxeFindsNothingWrongWithTheBanner.${look}`, async () => {
    const page = await lab.replay("20200304100000", SITE, options);
    await page.getByRole("button", { name: "Info" }).click();
    assert.deepEqual(await violations(page), []);
    await lab.shot(page, `view-${look}`);
    await lab.close(page);
  });
}
