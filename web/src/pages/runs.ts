import type { ChangeState, Changes, Run, RunReport, Sum } from "../api";
import { shortAddress } from "../address";
import { el, type Child } from "../dom";
import { later, showPage, type Context } from "../frame";
import { digits, problemsOf, span, sums, table, tiles } from "../parts";
import { translate } from "../told";
import { formatBytes, formatNumber, texts } from "../words";

const CHANGES_SHOWN = 200;

async function runTable({ api, paths }: Context): Promise<Child> {
  const { runs } = await api.runs();
  if (runs.length === 0) return el("p", {}, texts.noRuns);
  return table(
    texts.runsTitle,
    [
      { head: texts.run },
      { head: texts.kind },
      { head: texts.time },
      { head: texts.capturesTitle, number: true },
      { head: texts.files, number: true },
      { head: texts.note, className: "address" },
    ],
    runs.map((run: Run) => [
      el("a", { href: paths.run(run.run) }, texts.runNumber(run.run)),
      run.kind,
      span(run.begin, run.end),
      formatNumber(run.captures),
      formatNumber(run.containers),
      run.note,
    ]),
  );
}

export function showRuns(context: Context): void {
  showPage(
    context,
    "runs",
    texts.runsTitle,
    el("h1", {}, texts.runsTitle),
    later(() => runTable(context)),
  );
}

const bySize = (entries: Record<string, Sum>): [string, Sum][] =>
  Object.entries(entries).sort(([, a], [, b]) => b.captures - a.captures);

function report(context: Context, report: RunReport): Child {
  const { paths } = context;
  const { run } = report;
  return [
    el(
      "p",
      { class: "faint" },
      `${run.kind}, ${span(run.begin, run.end)}`,
      run.note && ` · ${run.note}`,
    ),
    tiles([
      [texts.pages, formatNumber(report.pages.captures)],
      [texts.capturesTitle, formatNumber(report.all.captures)],
      [texts.bytes, formatBytes(report.all.bytes)],
      [texts.revisits, formatNumber(report.revisits.captures)],
      [texts.duplicates, formatNumber(report.duplicates.captures)],
      [texts.stored, formatBytes(report.container_bytes)],
    ]),
    el("h2", {}, texts.problems),
    problemsOf(paths, report) ?? el("p", { class: "faint" }, texts.noProblems),
    crawlNotes(context, report),
    el("h2", {}, texts.byStatus),
    sums(texts.byStatus, texts.status, report.all.captures, bySize(report.by_status)),
    el("h2", {}, texts.byType),
    sums(texts.byType, texts.type, report.all.captures, bySize(report.by_type)),
    el("h2", {}, texts.byHost),
    sums(
      `${texts.byHost} (${formatNumber(report.host_count)})`,
      texts.site,
      report.all.captures,
      report.hosts.map((host): [Child, Sum] => [
        el("a", { href: paths.browse(`http://${host.host}/`) }, host.host),
        host,
      ]),
    ),
  ];
}

// What a crawl noted about pages: what they lack, and which look wrong.
function crawlNotes({ paths }: Context, { run, missing, suspects }: RunReport): Child {
  const address = (url: string) =>
    /^https?:/.test(url)
      ? el("a", { href: paths.view(digits(run.begin), url) }, shortAddress(url))
      : url;
  // As the crawl wrote it, where the catalogue does not know the sentence.
  const told = (text: string) => translate(text, texts.told) ?? el("span", { lang: "en" }, text);
  return [
    missing.count > 0 && [
      el("h2", {}, texts.missingEmbeds),
      el("p", {}, texts.missingEmbedsCount(formatNumber(missing.count))),
      table(
        texts.missingEmbeds,
        [
          { head: texts.missingFile, className: "address" },
          { head: texts.missingPage, className: "address" },
          { head: texts.missingReason },
          { head: texts.missingRemedy },
        ],
        missing.first.map((one) => [
          one.url,
          address(one.page),
          told(one.reason),
          told(one.remedy),
        ]),
      ),
    ],
    suspects.count > 0 && [
      el("h2", {}, texts.suspectPages),
      el("p", {}, texts.suspectPagesCount(formatNumber(suspects.count))),
      table(
        texts.suspectPages,
        [
          { head: texts.missingPage, className: "address" },
          { head: texts.missingReason },
          { head: texts.missingRemedy },
        ],
        suspects.first.map((one) => [
          address(one.url),
          [texts.troubles[one.trouble] ?? one.trouble, one.why].filter(Boolean).join(": "),
          told(one.remedy),
        ]),
      ),
    ],
  ];
}

function changeTable({ paths }: Context, changes: Changes): Child {
  const states: ChangeState[] = ["new", "gone", "text", "same-text", "identical"];
  const rows = changes.changes.map((change): Child[] => {
    const capture = change.after ?? change.before;
    const url = shortAddress(change.url);
    const { before, after } = change;
    return [
      texts.changeStates[change.state],
      capture ? el("a", { href: paths.view(capture.timestamp, capture.url) }, url) : url,
      before && after
        ? el(
            "a",
            {
              href: paths.compare(before.timestamp, after.timestamp, after.url),
              "aria-label": `${texts.compare}: ${url}`,
            },
            texts.compare,
          )
        : null,
    ];
  });
  return [
    tiles(
      states.map((state) => [texts.changeStates[state], formatNumber(changes.counts[state] ?? 0)]),
    ),
    rows.length > 0 &&
      table(
        texts.changes,
        [
          { head: texts.change },
          { head: texts.originalAddress, className: "address" },
          { head: texts.compare },
        ],
        rows,
      ),
  ];
}

export function showRun(context: Context, run: number): void {
  const { api } = context;
  showPage(
    context,
    "runs",
    texts.runNumber(run),
    el("h1", {}, texts.runNumber(run)),
    later(async () => report(context, await api.report(run))),
    run > 1 && [
      el("h2", {}, texts.changes),
      later(async () =>
        changeTable(context, await api.changes(run, "new,gone,text", CHANGES_SHOWN)),
      ),
    ],
  );
}
