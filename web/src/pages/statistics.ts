import type { Statistics } from "../api";
import { barChart, monthsBetween, shareBar } from "../charts";
import { el, type Child } from "../dom";
import { later, showPage, type Context } from "../frame";
import { sums, table, tiles } from "../parts";
import { formatBytes, formatNumber, texts } from "../words";

const KINDS_SHOWN = 20;
const MONTHS_DRAWN = 120; // more are drawn as years

// All months from the first to the last.
const monthsOf = ({ months }: Statistics) =>
  monthsBetween(months[0]?.month ?? "", months[months.length - 1]?.month ?? "");

const drawsYears = (statistics: Statistics) => monthsOf(statistics).length > MONTHS_DRAWN;

// Months with those between them; years when there are too many months to see.
function series(
  statistics: Statistics,
  value: (month: Statistics["months"][number]) => number,
) {
  const values = new Map(statistics.months.map((month) => [month.month, value(month)]));
  const all = monthsOf(statistics);
  if (!drawsYears(statistics))
    return all.map((month) => ({ label: month, value: values.get(month) ?? 0 }));
  const years = new Map<string, number>();
  for (const month of all) {
    const year = month.slice(0, 4);
    years.set(year, (years.get(year) ?? 0) + (values.get(month) ?? 0));
  }
  return [...years].map(([label, sum]) => ({ label, value: sum }));
}

function chart(title: string, statistics: Statistics, bytes: boolean): Child {
  const format = bytes ? formatBytes : formatNumber;
  const bars = series(statistics, (month) => (bytes ? month.bytes : month.captures));
  return el(
    "div",
    { class: "chart" },
    el("h2", {}, title),
    barChart(
      bars.map((bar) => ({ ...bar, title: `${bar.label}: ${format(bar.value)}` })),
      format,
    ),
  );
}

function shares(
  title: string,
  head: string,
  all: number,
  entries: [string, { captures: number; bytes: number }][],
): Child {
  return [el("h2", {}, title), sums(title, head, all, entries.slice(0, KINDS_SHOWN))];
}

// What all captures would take without revisits, and how much of that was not stored.
function saved({ bytes, duplicates }: Statistics): Child {
  const whole = bytes + duplicates.revisits.bytes;
  if (duplicates.revisits.bytes === 0) return null;
  return el(
    "p",
    { class: "saved" },
    shareBar(duplicates.revisits.bytes / whole),
    ` ${texts.savedOf(formatBytes(duplicates.revisits.bytes), formatBytes(whole))}`,
  );
}

function counted(
  text: (n: string, count: number, bytes: string) => string,
  { captures, bytes }: { captures: number; bytes: number },
): string {
  return text(formatNumber(captures), captures, formatBytes(bytes));
}

function draw(statistics: Statistics): Child {
  const { revisits, repeated } = statistics.duplicates;
  return [
    !statistics.complete && el("p", { class: "faint" }, texts.counting),
    tiles([
      [texts.pages, formatNumber(statistics.pages)],
      [texts.capturesTitle, formatNumber(statistics.captures)],
      [texts.hosts, formatNumber(statistics.hosts)],
      [texts.bytes, formatBytes(statistics.bytes)],
      [texts.stored, formatBytes(statistics.stored_bytes)],
    ]),
    statistics.months.length > 0 && [
      chart(
        drawsYears(statistics) ? texts.capturesByYear : texts.capturesByMonth,
        statistics,
        false,
      ),
      chart(drawsYears(statistics) ? texts.bytesByYear : texts.bytesByMonth, statistics, true),
      el(
        "details",
        {},
        el("summary", {}, texts.asTable),
        table(
          texts.capturesByMonth,
          [
            { head: texts.month },
            { head: texts.capturesTitle, number: true },
            { head: texts.pages, number: true },
            { head: texts.bytes, number: true },
          ],
          statistics.months.map((month) => [
            month.month,
            formatNumber(month.captures),
            formatNumber(month.pages),
            formatBytes(month.bytes),
          ]),
        ),
      ),
    ],
    el("h2", {}, texts.duplicatesSaved),
    saved(statistics),
    el("p", {}, counted(texts.revisitsSaved, revisits)),
    el("p", {}, counted(texts.repeatedSum, repeated)),
    shares(
      texts.mediaTypes,
      texts.type,
      statistics.captures,
      statistics.types.map((entry) => [entry.type, entry]),
    ),
    shares(
      texts.statusCodes,
      texts.status,
      statistics.captures,
      statistics.statuses.map((entry) => [entry.status, entry]),
    ),
  ];
}

export function showStatistics(context: Context): void {
  showPage(
    context,
    "statistics",
    texts.statistics,
    el("h1", {}, texts.statistics),
    later(async () => draw(await context.api.statistics())),
  );
}
