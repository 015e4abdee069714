// What the browser tests stand on: an archive served by the program, Chromium, and a trap in which
// every request to anywhere but the program ends. Chromium sends what is not for this machine
// through a proxy, and the trap is that proxy.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../..");
export const samples = join(
  process.env.STELE_TEST_DATA ?? resolve(root, "../shared/data"),
  "warc-samples",
);
const program = process.env.STELE ?? join(root, "build/stele");
export const pages = process.env.STELE_WEB ?? join(root, "build/web");
const shots = join(root, "build/browser-tests");

// The browser's own errands, which no page caused: accounts, updates, autofill.
const BROWSERS_OWN = /(^|\.)(google|googleapis|gstatic|gvt1|gvt2)\.com(:\d+)?$/;

// "why" for node:test's skip option, or false.
export const needsSample = (...path) =>
  existsSync(join(samples, ...path)) ? false : `${path.join("/")} is not here (STELE_TEST_DATA)`;

export const lighthouse = [
  "lighthouse-2006.arc.gz",
  "lighthouse-2026-01.warc.gz",
  "lighthouse-2026-02.warc.gz",
].map((name) => join(root, "examples", name));

function startTrap() {
  const caught = [];
  const note = (host, what) => {
    if (!BROWSERS_OWN.test(host)) caught.push(what);
  };
  const server = createServer((request, response) => {
    note(
      new URL(request.url, "http://nowhere.invalid").hostname,
      `${request.method} ${request.url}`,
    );
    response.writeHead(502).end();
  });
  server.on("connect", (request, socket) => {
    note(request.url, `CONNECT ${request.url}`);
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () =>
      done({ caught, port: server.address().port, close: () => server.close() }),
    ),
  );
}

// Runs a command of the program to its end, and gives what it wrote.
export const stele = (words, options = {}) =>
  execFileSync(program, words, { stdio: "pipe", ...options });

function startProgram(archives, web, words) {
  const options = archives.flatMap((archive) => ["--archive", archive]);
  const child = spawn(
    program,
    [
      "serve",
      ...options,
      "--listen",
      "127.0.0.1:0",
      "--replay-listen",
      "127.0.0.1:0",
      "--web",
      web,
      ...words,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  process.on("exit", () => child.kill());
  return new Promise((done, fail) => {
    child.on("exit", (code) => fail(new Error(`stele serve ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const address = /http:\/\/[\d.:]+\//.exec(line)?.[0];
      if (address) done({ origin: address.slice(0, -1), stop: () => child.kill("SIGTERM") });
    });
  });
}

// Imports the files one by one: each is a run.
export function importAll(archive, files) {
  for (const file of files) {
    try {
      stele(["import", "--quiet", "--archive", archive, file]);
    } catch (error) {
      if (error.status !== 1) throw error; // 1: imported, with damaged places
    }
  }
  return archive;
}

// Crawls a site on this machine into an archive that a lab serves.
export function crawl(archive, url) {
  return new Promise((done, fail) => {
    const words = ["crawl", "--quiet", "--no-favicons", "--archive", archive, "--delay", "0", url];
    const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"] });
    child.on("exit", (code) => (code === 0 ? done() : fail(new Error(`crawl ended with ${code}`))));
  });
}

// An archive, served and looked at.
export class Lab {
  static start(name, files) {
    return Lab.startAll({ [name]: files });
  }

  // Several archives, name -> files; the first is the one without a name in its paths.
  static async startAll(archives, web = pages) {
    const folder = mkdtempSync(join(tmpdir(), "stele-browser-"));
    const folders = Object.entries(archives).map(([name, files]) =>
      importAll(join(folder, name), files),
    );
    return Lab.serve(folders, web, folder);
  }

  // Archives that are there. `folder` goes with the lab. `words` are further options of the
  // program, `headers` what we need to be let in.
  static async serve(
    folders,
    web = pages,
    folder = undefined,
    { words = [], headers = {} } = {},
  ) {
    const lab = new Lab();
    lab.folder = folder;
    lab.program = await startProgram(folders, web, words);
    lab.origin = lab.program.origin;
    do {
      lab.archive = await (await fetch(`${lab.origin}/api/v1/archive`, { headers })).json();
    } while (!lab.archive.complete); // counted
    lab.replayOrigin = lab.archive.replay_origin;
    lab.trap = await startTrap();
    lab.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        `--proxy-server=127.0.0.1:${lab.trap.port}`,
        "--disable-background-networking",
        "--no-first-run",
        "--disable-component-update",
        "--disable-features=OptimizationHints,MediaRouter",
      ],
    });
    return lab;
  }

  async stop() {
    await this.browser?.close();
    this.program?.stop();
    this.trap?.close();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }

  // A fresh profile with one page. Whatever leaves our two origins is in `page.strays`.
  async open(path, options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 800 },
      locale: "en-GB",
      ...options,
    });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    page.strays = [];
    page.errors = [];
    context.on("request", (request) => {
      const url = request.url();
      const ours = [this.origin, this.replayOrigin, "data:", "blob:", "about:", "chrome"];
      if (!ours.some((start) => url.startsWith(start))) page.strays.push(url);
    });
    // What a policy stops is not sent.
    context.on("requestfailed", (request) => {
      if (/csp|BLOCKED_BY_CSP/.test(request.failure()?.errorText ?? "")) {
        page.strays = page.strays.filter((url) => url !== request.url());
      }
    });
    page.on("pageerror", (error) => page.errors.push(String(error)));
    page.on("console", (message) => {
      const { url } = message.location();
      const ours = url.startsWith(this.origin) && !url.startsWith(`${this.origin}/web/`);
      if (message.type() === "error" && ours) page.errors.push(message.text());
    });
    await page.goto(this.origin + path);
    return page;
  }

  // Opens a page of ours and waits until it has what it shows.
  async openPage(path, options) {
    const page = await this.open(path, options);
    await page.waitForSelector("main h1");
    await page.waitForFunction(() => !document.querySelector("[aria-busy]"));
    return page;
  }

  // Opens an archived page and waits for its frame.
  async replay(time, url, options) {
    const page = await this.open(`/view/${time}/${url}`, options);
    await page.waitForSelector(".banner .when[href], .banner .when:text('Not archived')");
    return page;
  }

  frameOf(page) {
    const frame = page
      .frames()
      .find(
        (one) =>
          one.url().startsWith(`${this.replayOrigin}/r/w/`) &&
          one.parentFrame()?.url().startsWith(`${this.replayOrigin}/shell`),
      );
    assert.ok(frame, `no replayed page among ${page.frames().map((one) => one.url())}`);
    return frame;
  }

  async shot(page, name) {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }

  // Nothing left the archive, no script of ours failed.
  async close(page) {
    await page.context().close();
    assert.deepEqual(page.strays, [], "requests to other servers");
    assert.deepEqual(this.trap.caught, [], "requests to other servers");
    assert.deepEqual(page.errors, [], "errors in our pages");
  }
}

// What axe has to say about a page of ours, as lines.
export async function violations(page) {
  const source = readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { iframes: false });
    return result.violations.map(
      (one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`,
    );
  });
  return found;
}
