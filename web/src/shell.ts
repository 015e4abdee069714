// The page on the replay origin that holds the frame with the archived page: it starts wabac.js's
// service worker, tells it where captures come from, and tells our page on the other origin what
// the frame shows. It lies outside the worker's scope (/r/), so that its own policy stays in force.
// docs/access.md, "Replay in the browser".

// A ticket has done its work: archived pages can read this address.
const query = new URLSearchParams(location.search);
query.delete("ticket");
history.replaceState(null, "", `${location.pathname}?${query}`);

const app = document.documentElement.dataset["app"] ?? "";
const archive = /^[\w.-]{1,100}$/.exec(query.get("archive") ?? "")?.[0];
const collection = archive ?? "main";
const prefix = archive ? `/${archive}/` : "/";
const replayed = `/r/w/${collection}/`;

// What an archived page may load: what the worker answers, and nothing else. No ws: and no wss:.
const policy =
  "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; " +
  "frame-src 'self' data: about: blob:; " +
  `form-action 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'self' ${app}`;

// Popups and leaving the frame stay closed. Browsers show PDF only in frames without a sandbox: our
// page, which knows the type that was archived, asks for one.
const sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals";

interface Shown {
  time?: string;
  url?: string;
  type?: string;
  title?: string;
  refusal?: string; // why the server showed no capture: missing, blocked, damaged, away
  broken?: boolean;
}

function tell(message: { ready: true } | { failed: string } | { shown: Shown }): void {
  parent.postMessage(message, app);
}

let frame = makeFrame(true);
let wanted = ""; // the address that the frame was last sent to
const watched = new WeakSet<object>();

function makeFrame(guarded: boolean): HTMLIFrameElement {
  const made = document.createElement("iframe");
  made.name = "___wb_replay_top_frame"; // wabac.js sends links with target=_top here
  if (guarded) made.setAttribute("sandbox", sandbox);
  made.addEventListener("load", () => report());
  return made;
}

function show(time: string, url: string, guarded: boolean): void {
  const next = makeFrame(guarded);
  wanted = `${location.origin}${replayed}${time}mp_/${url}`;
  next.src = wanted;
  frame.replaceWith(next);
  frame = next;
}

function captureAt(address: string): { time: string; url: string } | null {
  const path = address.split(replayed)[1] ?? "";
  const [, time, url] = /^(\d*)(?:[a-z]+_)?\/(.+)$/.exec(path) ?? [];
  return url === undefined ? null : { time: time ?? "", url };
}

// Remembers where the page in the frame goes next, for the case that the browser cannot show it.
function watch(inside: Window): void {
  const { navigation } = inside as Window & { navigation?: EventTarget };
  if (!navigation || watched.has(navigation)) return;
  watched.add(navigation);
  navigation.addEventListener("navigate", (event) => {
    wanted = (event as Event & { destination: { url: string } }).destination.url;
  });
}

// What is in the frame. It has our origin, so this can be read, also of pictures and PDF, of which
// the worker sends no message; not of the browser's own error pages.
function look(): Shown | null {
  try {
    const inside = frame.contentWindow;
    const page = inside?.document;
    if (!inside || !page || inside.location.href === "about:blank") return null;
    watch(inside);
    const capture = captureAt(inside.location.href);
    if (!capture) return { broken: true };
    return {
      ...capture,
      type: page.contentType,
      title: page.title,
      refusal: page.documentElement?.dataset["archive"] ?? "",
    };
  } catch {
    return { broken: true, ...captureAt(wanted) };
  }
}

function report(): void {
  const shown = look();
  if (!shown) return;
  const open = !frame.hasAttribute("sandbox");
  if (open && shown.url !== undefined && shown.type !== "application/pdf") {
    show(shown.time ?? "", shown.url, true); // from a PDF to a page
    return;
  }
  tell({ shown });
}

async function startWorker(): Promise<ServiceWorker> {
  if (!("serviceWorker" in navigator))
    throw new Error("no service worker: needs https or localhost");
  const registration = await navigator.serviceWorker.register("/sw.js", {
    scope: "/r/",
    updateViaCache: "none",
  });
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (!worker) throw new Error("no service worker");
  if (worker.state === "activated") return worker;
  return new Promise((done, fail) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") done(worker);
      if (worker.state === "redundant") fail(new Error("the service worker did not start"));
    });
  });
}

// Made anew at each start: an archived page might have changed the old one.
function addCollection(worker: ServiceWorker): Promise<void> {
  return new Promise((done, fail) => {
    navigator.serviceWorker.addEventListener("message", (event: MessageEvent) => {
      const message = event.data as { msg_type?: string; name?: string; error?: unknown };
      if (message.msg_type === "collAdded" && message.name === collection) done();
      else if (message.error) fail(new Error(String(message.error)));
    });
    navigator.serviceWorker.startMessages();
    worker.postMessage({
      msg_type: "addColl",
      name: collection,
      type: "live",
      file: { sourceUrl: "proxy:" },
      extraConfig: {
        prefix: "",
        isLive: false,
        archivePrefix: `${prefix}web/`,
        archiveMod: "rp_",
        noPostToGet: true, // the server makes keys of bodies, as it did when they came
        csp: policy,
        baseUrl: `${app}${prefix}view/`,
        baseUrlAppendReplay: true,
      },
    });
  });
}

function listen(): void {
  addEventListener("message", (event: MessageEvent) => {
    if (event.source === parent && event.origin === app) {
      const wish = (event.data as { show?: { time: string; url: string; pdf: boolean } }).show;
      if (wish && /^\d{0,17}$/.test(wish.time) && /^https?:\/\//.test(wish.url)) {
        show(wish.time, wish.url, !wish.pdf);
      }
    } else if (event.source === frame.contentWindow) {
      setTimeout(report, 0); // the worker says that something changed; what, we see ourselves
    }
  });
}

document.body.append(frame);
startWorker()
  .then(addCollection)
  .then(() => {
    listen();
    tell({ ready: true });
  })
  .catch((error: unknown) => tell({ failed: String(error) }));
