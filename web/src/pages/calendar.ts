// All captures of one address: years as bars, the months of one year, the times of a day; or the
// same year as a list. Which year and which view is in the fragment (#2014, #2014/list).
import { normalise, shortAddress, siteOf } from "../address";
import type { Api, Capture, Period, State } from "../api";
import { column } from "../charts";
import { el, fill, type Child } from "../dom";
import { later, problem, showPage, type Context } from "../frame";
import { glyph, legend, namedGlyph, strongest } from "../glyphs";
import {
  daysInMonth,
  dayOf,
  formatMoment,
  monthName,
  monthOf,
  weekdayName,
  weekdayOf,
} from "../moment";
import { table } from "../parts";
import { formatBytes, formatNumber, locale, texts } from "../words";

const CAPTURES_AT_ONCE = 10_000;
const CAPTURES_SHOWN = 50_000; // of one year; a page with more could not be used

const stateOf = (capture: Capture): State => capture.state ?? "first";

async function capturesOf(api: Api, url: string, year: string): Promise<Capture[]> {
  const captures: Capture[] = [];
  let resume: string | undefined;
  do {
    const answer = await api.captures({
      url,
      from: year,
      to: year,
      limit: CAPTURES_AT_ONCE,
      ...(resume === undefined ? {} : { resume }),
    });
    captures.push(...answer.captures);
    resume = answer.resume;
  } while (resume !== undefined && captures.length < CAPTURES_SHOWN);
  return captures;
}

// The two captures that are to be compared.
class Ticks {
  private chosen: string[] = [];
  readonly button: HTMLButtonElement;

  constructor(context: Context, url: string) {
    this.button = el(
      "button",
      {
        type: "button",
        disabled: true,
        onclick: () => {
          const [before = "", after = ""] = [...this.chosen].sort();
          location.assign(context.paths.compare(before, after, url));
        },
      },
      texts.compareTicked,
    );
  }

  box(capture: Capture): HTMLInputElement {
    const moment = formatMoment(capture.timestamp, locale, "minute");
    const box = el("input", {
      type: "checkbox",
      "aria-label": texts.tick(moment),
      value: capture.timestamp,
      checked: this.chosen.includes(capture.timestamp),
      onchange: () => this.set(capture.timestamp, box.checked),
    });
    return box;
  }

  // A third one takes the place of the first.
  private set(timestamp: string, ticked: boolean): void {
    this.chosen = this.chosen.filter((other) => other !== timestamp);
    if (ticked) this.chosen.push(timestamp);
    if (this.chosen.length > 2) this.chosen.shift();
    for (const box of document.querySelectorAll<HTMLInputElement>("main input[type=checkbox]")) {
      box.checked = this.chosen.includes(box.value);
    }
    this.button.disabled = this.chosen.length !== 2;
    this.button.classList.toggle("main", this.chosen.length === 2);
  }
}

// One year, drawn either way.
class YearView {
  constructor(
    private readonly context: Context,
    private readonly ticks: Ticks,
    private readonly year: number,
    private readonly captures: Capture[],
  ) {}

  months(): HTMLElement {
    const byMonth = new Map<number, Capture[]>();
    for (const capture of this.captures) {
      const month = monthOf(capture.timestamp);
      byMonth.set(month, [...(byMonth.get(month) ?? []), capture]);
    }
    const all = Array.from({ length: 12 }, (_, at) => at + 1);
    return el(
      "div",
      { class: "months" },
      all.map((month) => this.month(month, byMonth.get(month) ?? [])),
    );
  }

  list(): HTMLElement {
    const rows = this.captures.map((capture): Child[] => [
      el(
        "a",
        { href: this.context.paths.view(capture.timestamp, capture.url) },
        formatMoment(capture.timestamp, locale, "exact"),
      ),
      this.ticks.box(capture),
      namedGlyph(stateOf(capture)),
      String(capture.status ?? "–"),
      capture.type,
      formatBytes(capture.length),
    ]);
    return table(
      texts.yearLabel(this.year, formatNumber(rows.length), rows.length),
      [
        { head: texts.time },
        { head: texts.compare },
        { head: texts.change },
        { head: texts.status },
        { head: texts.type, className: "address" },
        { head: texts.bytes, number: true },
      ],
      rows,
    );
  }

  // The month, and below its row the times of the day that is chosen.
  private month(month: number, captures: Capture[]): Child {
    const name = monthName(month, locale, "long");
    const times = el("div", { id: `times-${month}`, class: "card day-times", hidden: true });
    const cells: Child[] = Array.from({ length: weekdayOf(this.year, month, 1) }, () => el("td"));
    for (let day = 1; day <= daysInMonth(this.year, month); ++day) {
      const ofDay = captures.filter((capture) => dayOf(capture.timestamp) === day);
      cells.push(el("td", {}, ofDay.length === 0 ? day : this.day(day, ofDay, times)));
    }
    const weeks: Child[] = [];
    for (let at = 0; at < cells.length; at += 7) weeks.push(el("tr", {}, cells.slice(at, at + 7)));
    const heads = Array.from({ length: 7 }, (_, day) =>
      el(
        "th",
        { scope: "col", abbr: weekdayName(day, locale, "long") },
        weekdayName(day, locale, "narrow"),
      ),
    );
    return [
      el(
        "section",
        { class: "month card", "aria-label": `${name} ${this.year}` },
        el("h2", {}, name),
        el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, weeks)),
      ),
      times,
    ];
  }

  private day(day: number, captures: Capture[], times: HTMLElement): HTMLElement {
    const states = [...new Set(captures.map(stateOf))];
    const name = formatMoment((captures[0]?.timestamp ?? "").slice(0, 8), locale, "day");
    const label = texts.dayLabel(
      name,
      captures.length,
      states.map((state) => texts.states[state]).join(", "),
    );
    const button = el(
      "button",
      {
        type: "button",
        "aria-label": label,
        title: label,
        "aria-expanded": "false",
        "aria-controls": times.id,
        onclick: () => {
          const open = button.getAttribute("aria-expanded") === "true";
          for (const other of times.parentElement?.querySelectorAll("[aria-expanded]") ?? []) {
            other.setAttribute("aria-expanded", "false");
          }
          for (const other of times.parentElement?.querySelectorAll(".day-times") ?? []) {
            other.toggleAttribute("hidden", true);
          }
          button.setAttribute("aria-expanded", String(!open));
          fill(times, !open && this.times(name, captures));
          times.hidden = open;
        },
      },
      glyph(strongest(states)),
      day,
    );
    return button;
  }

  private times(day: string, captures: Capture[]): Child {
    return [
      el("h3", {}, texts.timesOf(day)),
      el(
        "ul",
        { class: "times" },
        captures.map((capture) =>
          el(
            "li",
            {},
            this.ticks.box(capture),
            el(
              "a",
              { href: this.context.paths.view(capture.timestamp, capture.url) },
              formatMoment(capture.timestamp, locale, "second"),
            ),
            el("span", {}, namedGlyph(stateOf(capture))),
            el("span", { class: "faint" }, String(capture.status ?? "")),
          ),
        ),
      ),
    ];
  }
}

// The bar of years with what it governs.
class CalendarView {
  private readonly ticks: Ticks;
  private readonly place = el("div", {});
  private readonly years = new Map<number, HTMLButtonElement>();
  private readonly modes = new Map<string, HTMLButtonElement>();
  private year = 0;
  private mode = "calendar";
  private readonly loaded = new Map<number, Promise<Capture[]>>();

  constructor(
    private readonly context: Context,
    private readonly url: string,
    private readonly periods: Period[],
  ) {
    this.ticks = new Ticks(context, url);
  }

  draw(): Child {
    const counts = new Map(this.periods.map((period) => [Number(period.period), period.captures]));
    const most = Math.max(...counts.values());
    const first = Number(this.periods[0]?.period);
    const last = Number(this.periods[this.periods.length - 1]?.period);
    const buttons: Child[] = [];
    for (let year = first; year <= last; ++year)
      buttons.push(this.yearButton(year, counts.get(year) ?? 0, most));
    const bar = el("div", { class: "years", role: "group", "aria-label": texts.years }, buttons);
    const [, year, mode] = /^#(\d{4})(?:\/(list))?$/.exec(location.hash) ?? [];
    this.mode = mode ?? "calendar";
    const tools = el(
      "div",
      { class: "tools" },
      el(
        "div",
        { role: "group", "aria-label": texts.view },
        this.modeButton("calendar", texts.asCalendar),
        " ",
        this.modeButton("list", texts.asList),
      ),
      this.ticks.button,
      el("span", { class: "faint" }, texts.tickTwo),
    );
    this.choose(counts.has(Number(year)) ? Number(year) : last);
    return [bar, legend(), tools, this.place];
  }

  private yearButton(year: number, captures: number, most: number): HTMLElement {
    const button = el(
      "button",
      {
        type: "button",
        "aria-label": texts.yearLabel(year, formatNumber(captures), captures),
        disabled: captures === 0,
        onclick: () => this.choose(year),
      },
      column(captures / most),
      year,
    );
    this.years.set(year, button);
    return button;
  }

  private modeButton(mode: string, text: string): HTMLElement {
    const button = el(
      "button",
      {
        type: "button",
        onclick: () => {
          this.mode = mode;
          this.choose(this.year);
        },
      },
      text,
    );
    this.modes.set(mode, button);
    return button;
  }

  private choose(year: number): void {
    this.year = year;
    for (const [of, button] of this.years) button.setAttribute("aria-pressed", String(of === year));
    for (const [of, button] of this.modes)
      button.setAttribute("aria-pressed", String(of === this.mode));
    history.replaceState(null, "", `#${year}${this.mode === "list" ? "/list" : ""}`);
    requestAnimationFrame(() => {
      this.years.get(year)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    const captures = this.loaded.get(year) ?? capturesOf(this.context.api, this.url, String(year));
    this.loaded.set(year, captures);
    captures.then(
      (found) => {
        if (this.year !== year) return; // another year was chosen meanwhile
        const view = new YearView(this.context, this.ticks, year, found);
        fill(this.place, this.mode === "list" ? view.list() : view.months());
      },
      (error: unknown) => fill(this.place, problem(error)),
    );
  }
}

async function calendar(context: Context, url: string): Promise<Child> {
  const { periods } = await context.api.timeline(url, "year");
  if (periods.length === 0) {
    return el(
      "div",
      { class: "notice" },
      el("strong", {}, texts.notArchived),
      el("p", {}, texts.notArchivedText),
      el("p", {}, el("a", { href: context.paths.browse(siteOf(url)) }, texts.tryBelow)),
    );
  }
  return new CalendarView(context, url, periods).draw();
}

export function showCalendar(context: Context, address: string): void {
  const url = normalise(address) ?? address;
  showPage(
    context,
    "calendar",
    `${texts.calendarOf}: ${shortAddress(url)}`,
    el("h1", {}, shortAddress(url)),
    el("p", {}, el("a", { href: context.paths.browse(siteOf(url)) }, texts.tryBelow)),
    later(() => calendar(context, url)),
  );
}
