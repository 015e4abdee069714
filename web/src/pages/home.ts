import type { Archive, Site } from "../api";
import { sparkline, monthsBetween } from "../charts";
import { el, type Child } from "../dom";
import { later, seekForm, showPage, type Context } from "../frame";
import { moment, problemsOf, table, tiles } from "../parts";
import { formatBytes, formatNumber, texts } from "../words";

const SITES_SHOWN = 50;
const COUNTS_ASKED_MS = 1500;

// The captures of a site month by month, from the first month to the last.
function course(site: Site): SVGElement {
  const counts = new Map(site.months.map((month) => [month.period, month.captures]));
  const first = site.months[0]?.period ?? "";
  const last = site.months[site.months.length - 1]?.period ?? "";
  return sparkline(
    monthsBetween(first, last).map((month) => counts.get(month) ?? 0),
    "spark",
  );
}

async function siteTable({ api, paths, archive }: Context): Promise<Child> {
  const { total, sites } = await api.sites({ limit: SITES_SHOWN });
  if (sites.length === 0) return archive.complete && el("p", {}, texts.noSites);
  const rows = sites.map((site): Child[] => [
    el("a", { href: paths.calendar(site.url) }, site.host),
    moment(site.first, "date"),
    moment(site.last, "date"),
    formatNumber(site.pages),
    formatBytes(site.bytes),
    course(site),
  ]);
  return [
    table(
      texts.sites,
      [
        { head: texts.site, className: "address" },
        { head: texts.since },
        { head: texts.until },
        { head: texts.versions, number: true },
        { head: texts.bytes, number: true },
        { head: texts.course },
      ],
      rows,
    ),
    total > sites.length &&
      el("p", {}, el("a", { href: paths.browse() }, `${texts.allSites} (${formatNumber(total)})`)),
  ];
}

async function latestRun({ api, paths }: Context, run: number): Promise<Child> {
  const report = await api.report(run);
  return [
    el(
      "p",
      {},
      el("a", { href: paths.run(run) }, texts.runNumber(run)),
      ` (${report.run.kind}), `,
      moment(report.run.begin, "minute"),
      " – ",
      texts.captures(formatNumber(report.all.captures), report.all.captures),
      ", ",
      formatBytes(report.all.bytes),
    ),
    problemsOf(paths, report) ?? el("p", { class: "faint" }, texts.noProblems),
  ];
}

function about(archive: Archive): Child {
  const lines: [string, string][] = [
    [texts.creator, archive.creator],
    [texts.rights, archive.rights],
    [texts.contact, archive.contact],
  ];
  return [
    archive.description && el("p", {}, archive.description),
    lines
      .filter(([, text]) => text)
      .map(([name, text]) => el("p", { class: "faint" }, `${name}: ${text}`)),
  ];
}

// Shows the page again when the archive has been counted, unless somebody is typing.
function waitForCounts(context: Context): void {
  setTimeout(async () => {
    const archive = await context.api.archive().catch(() => context.archive);
    const typing = document.querySelector<HTMLInputElement>("#seek")?.value;
    if (archive.complete && !typing) showHome({ ...context, archive });
    else waitForCounts(context);
  }, COUNTS_ASKED_MS);
}

export function showHome(context: Context): void {
  const { archive, paths } = context;
  const lastRun = archive.last_run?.run;
  showPage(
    context,
    "home",
    "",
    el("h1", {}, archive.title || archive.name),
    about(archive),
    seekForm(paths, "seek"),
    !archive.complete && el("p", { class: "faint" }, texts.counting),
    tiles([
      [texts.pages, formatNumber(archive.pages)],
      [texts.capturesTitle, formatNumber(archive.captures)],
      [texts.stored, formatBytes(archive.bytes)],
      [texts.since, moment(archive.first, "date")],
      [texts.until, moment(archive.last, "date")],
    ]),
    el("h2", {}, texts.sites),
    later(() => siteTable(context)),
    lastRun !== undefined && [
      el("h2", {}, texts.latestRun),
      later(() => latestRun(context, lastRun)),
    ],
  );
  if (!archive.complete) waitForCounts(context);
}
