// An archive that only those see who log in: browsers with a password, programs with a token. What
// lets a browser in where archived pages come from is worth nothing to these pages.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { importAll, Lab, lighthouse, stele, violations } from "./lab.mjs";
import { writeWarc } from "./warc.mjs";

const PASSWORD = "a lamp that turns";
const HOURS = "http://lighthouse.example/hours.html";
const SPY = "http://spy.example/";

// Runs in an archived page, in a window in which nothing is rewritten: all that it finds of what
// let the browser in. The frames around it, up to the shell, have its origin.
/* global app */
async function spy() {
  const frame = document.createElement("iframe");
  frame._no_rewrite = true;
  frame.src = "/r/w/main/20200101000000id_/http://spy.example/plain.js";
  document.body.append(frame);
  await new Promise((done) => {
    frame.onload = done;
  });
  const found = [];
  let own = frame.contentWindow;
  for (let depth = 0; depth < 4; ++depth, own = own.parent) {
    try {
      const entries = own.performance.getEntries().map((entry) => entry.name);
      found.push(own.location.href, own.document.cookie, own.document.referrer, ...entries);
    } catch {
      found.push(`refused at ${depth}`);
    }
  }
  for (const mode of ["cors", "no-cors"]) {
    try {
      const { fetch } = frame.contentWindow;
      const answer = await fetch(`${app}/api/v1/archive`, { mode, credentials: "include" });
      found.push(`GOT ${await answer.text()}`);
    } catch {
      // nothing
    }
  }
  document.getElementById("found").textContent = JSON.stringify(found);
}

let lab;
let token;
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "stele-login-"));
  const users = join(folder, "users");
  stele(["user", "add", "ada", "--users", users], { input: `${PASSWORD}\n` });
  token = stele(["user", "token", "robot", "--users", users]).toString().trim();
  const file = join(folder, "spy.warc");
  writeWarc(file, [
    {
      url: SPY,
      date: "2020-01-01T00:00:00Z",
      body: `<p id=found></p><script>
        const app = location.ancestorOrigins[location.ancestorOrigins.length - 1];
        (${spy})();</script>`,
    },
    {
      url: `${SPY}plain.js`,
      date: "2020-01-01T00:00:00Z",
      headers: { "Content-Type": "text/javascript" },
      body: "// nothing",
    },
  ]);
  const archive = importAll(join(folder, "closed"), [...lighthouse, file]);
  const options = {
    words: ["--users", users],
    headers: { Authorization: `Bearer ${token}` },
  };
  lab = await Lab.serve([archive], undefined, folder, options);
});
after(() => lab?.stop());

const loggedIn = (password = PASSWORD) => ({
  httpCredentials: { username: "ada", password, origin: lab.origin },
});

test("I7_NobodyLooksWithoutLoggingIn", async () => {
  const context = await lab.browser.newContext();
  const page = await context.newPage();
  for (const path of ["/", `/view/2006/${HOURS}`, `/web/2006mp_/${HOURS}`]) {
    // The browser asks for a name; nobody answers.
    await assert.rejects(page.goto(lab.origin + path), /ERR_INVALID_AUTH_CREDENTIALS/);
  }
  await context.close();
});

test("I7_AWrongPasswordOpensNothing", async () => {
  const context = await lab.browser.newContext(loggedIn("another lamp"));
  const page = await context.newPage();
  for (const path of ["/", `/view/2006/${HOURS}`, `/web/2006mp_/${HOURS}`, "/login"]) {
    const answer = await page.goto(lab.origin + path);
    assert.equal(answer.status(), 401, path);
    const text = await page.locator("body").innerText();
    assert.match(text, /Log in\s+Name and password, or token, are missing or wrong/);
  }
  assert.deepEqual(await violations(page), []);
  await lab.shot(page, "login-wrong");
  await context.close();
});

test("I7_WhoLogsInSeesPagesAndReplay", async () => {
  const page = await lab.openPage("/", loggedIn());
  assert.match(await page.locator("footer").innerText(), /ada/);
  assert.deepEqual(await violations(page), []);
  await lab.shot(page, "login-home");
  await page.goto(`${lab.origin}/view/2006/${HOURS}`);
  await page.waitForSelector(".banner .when[href]");
  await lab.frameOf(page).locator("body", { hasText: "Open on Sundays" }).waitFor();
  // By a cookie, which scripts do not see and which is sent nowhere from other sites.
  const cookies = await page.context().cookies(lab.replayOrigin);
  assert.deepEqual(
    cookies.map(({ name, httpOnly, sameSite }) => [name.slice(0, 13), httpOnly, sameSite]),
    [["stele-replay-", true, "Strict"]],
  );
  // It opens replay only, and without it replay is closed.
  const { name, value } = cookies[0];
  const capture = `${lab.replayOrigin}/web/20060510000000rp_/${HOURS}`;
  const ask = (url, headers = {}) => fetch(url, { headers, redirect: "manual" });
  assert.equal((await ask(`${lab.origin}/`, { Cookie: `${name}=${value}` })).status, 401);
  assert.equal((await ask(capture, { Cookie: `${name}=${value}` })).status, 200);
  assert.equal((await ask(capture)).status, 403);
  await lab.close(page);
});

test("I7_OneTicketIsEnoughForTwoFrames", async () => {
  const page = await lab.openPage(`/compare/2006/2026/${HOURS}`, loggedIn());
  await page.getByRole("button", { name: "Pages" }).click();
  const replayed = () => page.frames().filter((frame) => frame.url().includes("/r/w/"));
  for (let wait = 0; replayed().length < 2 && wait < 100; ++wait) await page.waitForTimeout(100);
  assert.equal(replayed().length, 2);
  for (const frame of replayed()) {
    await frame.locator("body", { hasText: "Opening hours" }).waitFor();
  }
  await lab.close(page);
});

test("I7_ATokenOpensForPrograms", async () => {
  const ask = (secret) =>
    fetch(`${lab.origin}/web/2006id_/${HOURS}`, { headers: { Authorization: `Bearer ${secret}` } });
  assert.match(await (await ask(token)).text(), /Open on Sundays/);
  assert.equal((await ask(`${token}0`)).status, 401);
});

test("W15_AHostilePageGetsNothingThatLetsAnybodyIn", async () => {
  const page = await lab.replay("2020", SPY, loggedIn());
  const frame = lab.frameOf(page);
  await frame.waitForFunction(() => document.getElementById("found").textContent !== "");
  const found = await frame.locator("#found").innerText();
  assert.doesNotMatch(found, /GOT|stele-replay-/);
  assert.match(found, /\/shell\?.*refused at 3/s); // it has seen the shell, and not our page
  // The shell forgets the address that it was opened by; browsers may not. It is used by then.
  const shell = page.frames().find((one) => one.url().startsWith(`${lab.replayOrigin}/shell`));
  assert.doesNotMatch(shell.url(), /ticket/);
  for (const [, ticket] of found.matchAll(/ticket=([^"&\\]+)/g)) {
    const again = await fetch(`${lab.replayOrigin}/shell?ticket=${ticket}`);
    assert.equal(again.headers.get("set-cookie"), null);
  }
  await lab.close(page);
});
