// Our side of a frame with an archived page. What comes from the frame is checked for its sender
// and is still no more than text: the page in it may send what it likes.
import type { Archive } from "./api";
import { el } from "./dom";
import type { Paths } from "./route";
import { texts } from "./words";

export interface Shown {
  time: string;
  url: string;
  type: string;
  title: string;
  refusal: string; // why there is no capture to see; else empty
}

export interface ReplayEvents {
  shown(shown: Shown): void;
  // The browser shows an error page of its own; instead of what, where that is known.
  broken(time: string, url: string): void;
  failed(reason: string): void; // replay could not start
}

const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, 10_000) : "");

// Whether pages can be replayed with their scripts; else the server's rewriting has to do.
export function canReplay(archive: Archive): boolean {
  return archive.replay_origin !== "" && archive.service_worker && isSecureContext;
}

export class Replayer {
  readonly frame: HTMLIFrameElement;
  private ready = false;
  private wish: { time: string; url: string; pdf: boolean } | undefined;

  constructor(
    private readonly archive: Archive,
    private readonly paths: Paths,
    private readonly events: ReplayEvents,
    title = texts.replayFrame,
  ) {
    this.frame = el("iframe", { class: "replay", title });
    if (!canReplay(archive)) {
      this.frame.setAttribute("sandbox", "allow-scripts allow-forms");
      return;
    }
    const query = new URLSearchParams();
    if (paths.prefix !== "/") query.set("archive", paths.prefix.slice(1, -1));
    if (archive.replay_ticket) query.set("ticket", archive.replay_ticket);
    archive.replay_ticket = ""; // it is good once, and what it is changed for is for all frames
    addEventListener("message", (event) => this.receive(event));
    this.frame.src = `${archive.replay_origin}/shell?${query}`;
  }

  // Requires: an absolute address, as a browser writes it.
  show(time: string, url: string, pdf = false): void {
    this.wish = { time, url, pdf };
    if (!canReplay(this.archive)) this.frame.src = this.paths.reduced(time, url);
    else if (this.ready)
      this.frame.contentWindow?.postMessage({ show: this.wish }, this.archive.replay_origin);
  }

  private receive(event: MessageEvent): void {
    if (event.source !== this.frame.contentWindow || event.origin !== this.archive.replay_origin)
      return;
    const message = event.data as {
      ready?: unknown;
      failed?: unknown;
      shown?: Record<string, unknown>;
    } | null;
    if (message?.ready) {
      this.ready = true;
      if (this.wish) this.show(this.wish.time, this.wish.url, this.wish.pdf);
    } else if (message?.failed) {
      this.events.failed(text(message.failed));
    } else if (message?.shown) {
      const { time, url, type, title, refusal, broken } = message.shown;
      if (broken === true || !/^\d{0,17}$/.test(text(time)) || !/^https?:\/\//.test(text(url)))
        this.events.broken(text(time), text(url));
      else {
        this.events.shown({
          time: text(time),
          url: text(url),
          type: text(type),
          title: text(title),
          refusal: text(refusal),
        });
      }
    }
  }
}
