// The crawls of the archive, and how those that run now get on. The server tells when something
// changes; where it cannot, it is asked again now and then.
import type { Job, JobStatus } from "../api";
import { el, fill, type Child } from "../dom";
import { problem, showPage, type Context } from "../frame";
import { formatSpan } from "../moment";
import { span as spanOf, table, tiles } from "../parts";
import { formatBytes, formatNumber, locale, texts } from "../words";

const ASKED_EVERY_MS = 5_000;

const rate = (amount: string) => texts.perSecond(amount);
const span = (seconds: number | null) =>
  seconds === null ? texts.unknownTime : formatSpan(seconds * 1000, locale);

function numbers(status: JobStatus): HTMLElement {
  return tiles([
    [texts.pages, formatNumber(status.pages)],
    [texts.files, formatNumber(status.files)],
    [texts.bytes, formatBytes(status.bytes)],
    [texts.filesRate, rate(formatNumber(Math.round(status.files_per_second)))],
    [texts.bytesRate, rate(formatBytes(Math.round(status.bytes_per_second)))],
    [texts.waiting, formatNumber(status.waiting)],
    [texts.hosts, formatNumber(status.hosts)],
    [texts.underWay, formatNumber(status.under_way)],
    [texts.failures, formatNumber(status.failures)],
    [texts.duplicates, formatNumber(status.duplicates)],
    [texts.timeTaken, span(status.seconds)],
    [texts.timeLeft, span(status.seconds_left)],
  ]);
}

function lastRun({ paths }: Context, { last_run: run }: Job): Child {
  if (!run) return null;
  return el(
    "p",
    {},
    `${texts.latestRun}: `,
    el("a", { href: paths.run(run.run) }, texts.runNumber(run.run)),
    `, ${spanOf(run.begin, run.end)}, ${texts.captures(formatNumber(run.captures), run.captures)}`,
  );
}

function section(context: Context, job: Job): HTMLElement {
  const { status } = job;
  return el(
    "section",
    { "aria-label": job.job },
    el("h2", {}, job.job),
    el(
      "p",
      { class: "state" },
      status ? (texts.jobStates[status.state] ?? status.state) : texts.notRunning,
    ),
    status && numbers(status),
    lastRun(context, job),
    job.queues.length > 0 &&
      table(
        texts.queues,
        [
          { head: texts.queues, className: "address" },
          { head: texts.waiting, number: true },
        ],
        job.queues.map((queue) => [queue.host, formatNumber(queue.waiting)]),
      ),
  );
}

export function showJobs(context: Context): void {
  const { api } = context;
  const place = el("div", { "aria-busy": "true" }, el("p", { class: "faint" }, texts.loading));
  // Said aloud only when a crawl begins, pauses or ends, and not with every number.
  const states = el("p", { class: "unseen", role: "status" });
  const show = (jobs: Job[]) => {
    const running = jobs.filter((job) => job.running);
    const told = running.length > 0 ? texts.runningJobs(running.length) : texts.nothingRuns;
    if (states.textContent !== told) fill(states, told);
    const scrolled = scrollY; // what is made anew keeps its place
    fill(
      place,
      el("p", {}, told),
      [...running, ...jobs.filter((job) => !job.running)].map((job) => section(context, job)),
      jobs.length === 0 && el("p", { class: "faint" }, texts.noJobs),
    );
    scrollTo(0, scrolled);
    place.removeAttribute("aria-busy");
  };
  const ask = () =>
    api.jobs().then(
      ({ jobs }) => show(jobs),
      (error: unknown) => fill(place, problem(error)),
    );
  showPage(context, "jobs", texts.jobs, el("h1", {}, texts.jobs), states, place);
  api.watchJobs(({ jobs }) => show(jobs), () => setInterval(() => void ask(), ASKED_EVERY_MS));
  void ask();
}
