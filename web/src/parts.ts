// Pieces that several pages share.
import type { Capture, RunReport, Sum } from "./api";
import { shortAddress } from "./address";
import { shareBar } from "./charts";
import { el, type Child } from "./dom";
import { formatMoment, type Precision } from "./moment";
import type { Paths } from "./route";
import { formatBytes, formatNumber, locale, texts } from "./words";

// The API's times are ISO 8601; ours are their digits.
export function digits(time: string): string {
  return time.replace(/\D/g, "").slice(0, 14);
}

export function moment(time: string | null, precision: Precision): string {
  return time ? formatMoment(digits(time), locale, precision) : "–";
}

export function tiles(entries: [string, string][]): HTMLElement {
  return el(
    "dl",
    { class: "tiles" },
    entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

// From one moment to another; of two on one day, the day once. `end` is null while it goes on.
export function span(begin: string, end: string | null): string {
  if (!end) return `${moment(begin, "minute")} – ${texts.unfinished}`;
  const sameDay = digits(begin).slice(0, 8) === digits(end).slice(0, 8);
  return `${moment(begin, "minute")} – ${moment(end, sameDay ? "clock" : "minute")}`;
}

export type Column = { head: string; number?: boolean; className?: string };

// Cells that are numbers stand right. Where there is no room for columns, each row is a list: the
// sheet then takes the names of the columns from the cells. Roles say that it still is a table.
export function table(caption: string, columns: Column[], rows: Child[][]): HTMLElement {
  const cell = (tag: "th" | "td", column: Column | undefined, child: Child) =>
    el(
      tag,
      {
        class: column?.number ? "number" : column?.className,
        scope: tag === "th" ? "col" : undefined,
        role: tag === "th" ? "columnheader" : "cell",
        "data-head": tag === "td" ? column?.head : undefined,
      },
      tag === "td" && child ? el("span", { class: "value" }, child) : child,
    );
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { role: "table" },
      el("caption", { class: "unseen" }, caption),
      el(
        "thead",
        { role: "rowgroup" },
        el(
          "tr",
          { role: "row" },
          columns.map((column) => cell("th", column, column.head)),
        ),
      ),
      el(
        "tbody",
        { role: "rowgroup" },
        rows.map((row) =>
          el(
            "tr",
            { role: "row" },
            row.map((child, at) => cell("td", columns[at], child)),
          ),
        ),
      ),
    ),
  );
}

// Sums with the share that each has of `all` captures, drawn and said.
export function sums(
  caption: string,
  head: string,
  all: number,
  entries: [Child, Sum][],
): HTMLElement {
  return table(
    caption,
    [
      { head, className: "address" },
      { head: texts.share, className: "share" },
      { head: texts.capturesTitle, number: true },
      { head: texts.bytes, number: true },
    ],
    entries.map(([name, sum]) => [
      name,
      shareBar(all === 0 ? 0 : sum.captures / all),
      formatNumber(sum.captures),
      formatBytes(sum.bytes),
    ]),
  );
}

export function captureLink(paths: Paths, capture: Capture): Child {
  return el(
    "a",
    { class: "address", href: paths.view(capture.timestamp, capture.url) },
    shortAddress(capture.url),
  );
}

// What is wrong with a run, as a list; null when nothing is.
export function problemsOf(paths: Paths, report: RunReport): HTMLElement | null {
  const items: Child[] = [];
  const add = (count: number, title: (n: string) => string, details: Child[]) => {
    if (count === 0) return;
    const heading = title(formatNumber(count));
    items.push(
      el(
        "li",
        {},
        details.length === 0
          ? heading
          : el(
              "details",
              {},
              el("summary", {}, heading),
              el(
                "ul",
                {},
                details.map((line) => el("li", {}, line)),
              ),
            ),
      ),
    );
  };
  const captures = (list: Capture[]) =>
    list.map((capture): Child => [captureLink(paths, capture), ` ${capture.status ?? ""}`]);
  add(report.errors.captures, texts.errorsTitle, captures(report.errors.first));
  add(report.unresolved.captures, texts.unresolvedTitle, captures(report.unresolved.first));
  add(report.undecided.captures, texts.undecidedTitle, captures(report.undecided.first));
  add(
    report.damaged,
    texts.damagedTitle,
    report.damaged_first.map((place) =>
      [
        place.file,
        texts.bytesFromTo(formatNumber(place.begin), formatNumber(place.end)),
        place.reason,
      ].join(", "),
    ),
  );
  add(report.unlisted, texts.unlistedTitle, []);
  add(report.truncated, texts.truncatedTitle, []);
  add(report.removed, texts.removedTitle, []);
  return items.length === 0 ? null : el("ul", {}, items);
}
