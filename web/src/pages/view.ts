// An archived page as it was, below one line that says what it is.
import { normalise, shortAddress, siteOf } from "../address";
import type { CaptureDetail, Coherence, Period } from "../api";
import { el, fill, svg, type Child } from "../dom";
import { problem, showPage, type Context } from "../frame";
import { namedGlyph } from "../glyphs";
import { formatMoment, formatSpan, toDate, toTimestamp } from "../moment";
import { digits, moment } from "../parts";
import { canReplay, Replayer, type Shown } from "../replayer";
import { formatBytes, formatNumber, locale, texts } from "../words";

// The months that have captures as ticks on a line; the one that is shown stands out. A click goes
// to what was captured about then; keyboards have the calendar for that.
function timeline(
  periods: Period[],
  timestamp: string,
  go: (timestamp: string) => void,
): SVGElement {
  const times = periods.map((period) => toDate(digits(period.period)).getTime());
  const first = Math.min(...times);
  const span = Math.max(1, Math.max(...times, toDate(timestamp).getTime()) - first);
  const x = (time: number) => 5 + (190 * (time - first)) / span;
  const most = Math.max(1, ...periods.map((period) => period.captures));
  const ticks = periods.map((period, at) => {
    const height = 6 + (11 * period.captures) / most;
    return svg("rect", {
      fill: "currentColor",
      x: x(times[at] ?? first) - 1,
      y: 19 - height,
      width: 2,
      height,
    });
  });
  const now = x(toDate(timestamp).getTime());
  const drawn = svg(
    "svg",
    {
      onclick: (event) => {
        const { left, width } = drawn.getBoundingClientRect();
        const at = (200 * ((event as MouseEvent).clientX - left)) / width;
        go(toTimestamp(new Date(first + (span * (at - 5)) / 190)));
      },
      class: "timeline",
      viewBox: "0 0 200 24",
      role: "img",
      "aria-label": texts.timeline,
      preserveAspectRatio: "none",
    },
    svg("rect", { fill: "currentColor", x: 3, y: 19, width: 194, height: 1 }),
    ticks,
    svg("rect", { class: "now", fill: "currentColor", x: now - 1.5, y: 1, width: 3, height: 22 }),
  );
  return drawn;
}

class ViewPage {
  private readonly line = el("div", { class: "banner" });
  private readonly panel = el("div", {
    class: "panel",
    hidden: true,
    tabindex: -1,
    onkeydown: (event) => (event as KeyboardEvent).key === "Escape" && this.closePanel(),
  });
  private readonly replayer: Replayer;
  private readonly notice = el("div", { class: "nothing", hidden: true });
  private readonly unfold = el(
    "button",
    {
      class: "unfold",
      type: "button",
      hidden: true,
      onclick: () => this.fold(false),
    },
    texts.unfold,
  );
  private open = ""; // which panel
  private time: string;
  private url: string;
  private title = "";
  private refusal = "";
  private detail: CaptureDetail | undefined;
  private coherence: Coherence | undefined;
  private periods: Period[] = [];
  private triedPdf = "";
  private asked = 0; // counts pages shown, so that a late answer about an old one is dropped

  constructor(
    private readonly context: Context,
    time: string,
    url: string,
  ) {
    this.time = time;
    this.url = url;
    this.replayer = new Replayer(context.archive, context.paths, {
      shown: (shown) => this.shown(shown),
      broken: (time, url) => void this.broken(time, url),
      failed: (reason) => this.say(`${texts.cannotReplay} ${reason}`),
    });
    document.body.className = "replaying";
    fill(
      document.body,
      el("header", { "aria-label": texts.banner }, this.line, this.panel, this.unfold),
      el("main", { class: "stage" }, this.notice, this.replayer.frame),
    );
    this.say(texts.preparing);
    this.replayer.show(time, url);
    if (!canReplay(context.archive)) void this.describe();
  }

  private say(text: string): void {
    fill(
      this.line,
      el("a", { href: this.context.paths.home(), "aria-label": texts.home }, "⌂"),
      el("span", { class: "when", role: "status" }, text),
      el("h1", { class: "where", title: this.url }, shortAddress(this.url)),
    );
  }

  private shown(shown: Shown): void {
    this.time = shown.time;
    this.url = shown.url;
    this.title = shown.title;
    this.refusal = shown.refusal;
    history.replaceState(null, "", this.context.paths.view(shown.time, shown.url));
    void this.describe();
  }

  // PDF needs another frame than pages; what else cannot be shown, cannot.
  private async broken(time: string, url: string): Promise<void> {
    const pdf = `${time} ${url}`;
    const detail = await this.context.api.capture(url, time).catch(() => null);
    if (detail?.type === "application/pdf" && this.triedPdf !== pdf) {
      this.triedPdf = pdf;
      this.replayer.show(detail.timestamp, url, true);
    } else {
      this.say(texts.broken);
    }
  }

  private async describe(): Promise<void> {
    const number = ++this.asked;
    document.title = this.title || shortAddress(this.url);
    this.detail = undefined;
    this.coherence = undefined;
    this.explain();
    if (this.refusal !== "") {
      const known = Object.hasOwn(texts.refusals, this.refusal);
      this.say((known && texts.refusals[this.refusal]) || texts.notArchived);
      return;
    }
    const { api } = this.context;
    try {
      const [detail, { periods }] = await Promise.all([
        api.capture(this.url, this.time),
        api.timeline(this.url, "month"),
      ]);
      if (number !== this.asked) return;
      this.detail = detail;
      this.periods = periods;
      this.title ||= detail.title;
      this.draw();
      const coherence = await api.coherence(this.url, detail.timestamp);
      if (number !== this.asked) return;
      this.coherence = coherence;
      this.draw();
    } catch {
      if (number === this.asked && !this.detail)
        this.say(this.time ? formatMoment(this.time, locale, "minute") : "");
    }
  }

  // Instead of the frame, where there is nothing in it. What is damaged or away is named there.
  private explain(): void {
    const { paths } = this.context;
    const why = { missing: texts.notArchivedText, blocked: texts.blockedText }[this.refusal];
    this.notice.hidden = why === undefined;
    this.replayer.frame.hidden = why !== undefined;
    if (why === undefined) return;
    fill(
      this.notice,
      el(
        "div",
        { class: "notice" },
        el("p", { class: "address" }, el("strong", {}, this.url)),
        el("p", {}, why),
        el(
          "p",
          { class: "tools" },
          el("a", { class: "button", href: paths.calendar(this.url) }, texts.calendarOf),
          el("a", { class: "button", href: paths.browse(siteOf(this.url)) }, texts.tryBelow),
        ),
      ),
    );
  }

  private draw(): void {
    const { detail } = this;
    if (!detail) return;
    const { paths, archive } = this.context;
    document.title = `${this.title || shortAddress(this.url)} (${moment(detail.time, "date")})`;
    fill(
      this.line,
      el("a", { href: paths.home(), "aria-label": texts.home }, "⌂"),
      this.step("‹", texts.previousChange, detail.previous_change),
      el("a", { class: "when", href: paths.calendar(this.url) }, moment(detail.time, "minute")),
      this.step("›", texts.nextChange, detail.next_change),
      timeline(this.periods, detail.timestamp, (time) =>
        location.assign(paths.view(time, this.url)),
      ),
      el("h1", { class: "where", title: this.url }, this.title || shortAddress(this.url)),
      !canReplay(archive) && el("span", { class: "mark", title: texts.reducedWhy }, texts.reduced),
      el("span", { class: "roomy" }, this.tools(detail)),
      this.panelButton("info", texts.info, () => this.info()),
      el(
        "button",
        {
          type: "button",
          "aria-label": texts.fold,
          title: texts.fold,
          onclick: () => this.fold(true),
        },
        "×",
      ),
    );
  }

  // In the line, and where that is short, in the panel.
  private tools(detail: CaptureDetail): Child[] {
    const { paths } = this.context;
    return [
      this.coherenceMark(),
      this.panelButton("cite", texts.cite, () => this.cite()),
      el(
        "a",
        {
          href: paths.compare(
            detail.previous_change ?? "",
            detail.previous_change ? detail.timestamp : "",
            this.url,
          ),
        },
        texts.compare,
      ),
      el(
        "a",
        { href: paths.raw(detail.timestamp, this.url), target: "_blank", rel: "noopener" },
        texts.raw,
      ),
    ];
  }

  private step(sign: string, name: string, time: string | null): Child {
    if (!time) return el("span", { class: "faint", "aria-hidden": "true" }, sign);
    const label = `${name}: ${formatMoment(digits(time), locale, "minute")}`;
    return el(
      "a",
      { href: this.context.paths.view(digits(time), this.url), "aria-label": label, title: label },
      sign,
    );
  }

  private coherenceMark(): Child {
    const { coherence } = this;
    if (!coherence || coherence.embeds === 0) return null;
    const spread =
      coherence.spread_seconds >= 86_400
        ? texts.spread(formatSpan(coherence.spread_seconds * 1000, locale))
        : "";
    const missing = coherence.missing.length > 0 ? texts.missing(coherence.missing.length) : "";
    const words = [spread, missing].filter(Boolean).join(", ") || texts.coherent(coherence.embeds);
    const button = this.panelButton("coherence", words, () => this.coherencePanel());
    if (spread || missing) button.classList.add("mark");
    if (missing) button.classList.add("bad");
    return button;
  }

  private panelButton(name: string, label: string, make: () => Child): HTMLButtonElement {
    return el(
      "button",
      {
        type: "button",
        "aria-expanded": String(this.open === name),
        onclick: () => {
          this.open = this.open === name ? "" : name;
          this.panel.hidden = this.open === "";
          fill(this.panel, this.open !== "" && make());
          this.draw();
          if (this.open !== "") this.panel.focus();
        },
      },
      label,
    );
  }

  private closePanel(): void {
    this.open = "";
    this.panel.hidden = true;
    this.draw();
  }

  private fold(folded: boolean): void {
    this.line.hidden = folded;
    this.panel.hidden = folded || this.open === "";
    this.unfold.hidden = !folded;
    if (folded) this.unfold.focus();
  }

  private cite(): Child {
    const { detail, context } = this;
    if (!detail) return null;
    const name = context.archive.title || context.archive.name;
    const link = location.origin + context.paths.view(detail.timestamp, this.url);
    const field = el(
      "textarea",
      { class: "cite", rows: 3, readonly: true, "aria-label": texts.cite },
      texts.citation(this.title, this.url, name, moment(detail.time, "minute"), link),
    );
    const button = el(
      "button",
      {
        type: "button",
        onclick: () => {
          field.select();
          void navigator.clipboard.writeText(field.value).then(
            () => fill(button, texts.copied),
            () => undefined,
          );
        },
      },
      texts.copy,
    );
    return [field, button];
  }

  private coherencePanel(): Child {
    const { coherence } = this;
    if (!coherence) return null;
    return el(
      "dl",
      {},
      el("dt", {}, texts.coherence),
      el("dd", {}, formatNumber(coherence.embeds)),
      el("dt", {}, texts.spreadTitle),
      el(
        "dd",
        {},
        `${moment(coherence.earliest, "minute")} – ${moment(coherence.latest, "minute")}`,
      ),
      coherence.missing.length > 0 && [
        el("dt", {}, texts.missingTitle),
        el(
          "dd",
          {},
          coherence.missing.map((url) => el("div", { class: "address" }, url)),
        ),
      ],
    );
  }

  private info(): Child {
    const {
      detail,
      context: { paths },
    } = this;
    if (!detail) return null;
    const rows: [string, Child][] = [
      [texts.originalAddress, detail.url],
      [texts.date, `${moment(detail.time, "minute")} UTC`],
      [texts.status, String(detail.status ?? "–")],
      [texts.type, detail.type],
      [texts.size, formatBytes(detail.length)],
      [texts.change, detail.state && namedGlyph(detail.state)],
      [texts.digest, detail.digest],
      [
        texts.revisitOf,
        detail.original && `${moment(detail.original.time, "minute")} ${detail.original.url}`,
      ],
      [texts.run, el("a", { href: paths.run(detail.run) }, texts.runNumber(detail.run))],
      [texts.count, el("a", { href: paths.calendar(this.url) }, formatNumber(detail.count))],
      [texts.file, detail.container],
      [texts.record, [detail.id, " ", el("a", { href: paths.record(detail.id) }, texts.download)]],
      [texts.headers, detail.headers.map(([name, value]) => el("div", {}, `${name}: ${value}`))],
    ];
    return [
      el("div", { class: "tools narrow" }, this.tools(detail)),
      el(
        "dl",
        {},
        rows
          .filter(([, value]) => value)
          .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
      ),
    ];
  }
}

export function showView(context: Context, time: string, address: string): void {
  const url = normalise(address);
  if (url) new ViewPage(context, time, url);
  else showPage(context, "view", texts.notFound, problem(undefined));
}
