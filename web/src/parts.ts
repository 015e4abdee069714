// Pieces that several pages share.
import type { Capture, RunReport, Sum } from "./api";
import { shortAddress } from "./address";
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

export type Column = { head: string; number?: boolean; className?: string };

// Cells that are numbers stand right.
export function table(caption: string, columns: Column[], rows: Child[][]): HTMLElement {
  const cell = (tag: "th" | "td", column: Column | undefined, child: Child) =>
    el(
      tag,
      {
        class: column?.number ? "number" : column?.className,
        scope: tag === "th" ? "col" : undefined,
      },
      child,
    );
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", { class: "unseen" }, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) => cell("th", column, column.head)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((child, at) => cell("td", columns[at], child)),
          ),
        ),
      ),
    ),
  );
}

export function sums(caption: string, head: string, entries: [Child, Sum][]): HTMLElement {
  return table(
    caption,
    [
      { head, className: "address" },
      { head: texts.capturesTitle, number: true },
      { head: texts.bytes, number: true },
    ],
    entries.map(([name, sum]) => [name, formatNumber(sum.captures), formatBytes(sum.bytes)]),
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
