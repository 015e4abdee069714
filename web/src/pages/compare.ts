// Two captures of an address side by side: their texts with the differences marked, or the pages.
import { normalise, shortAddress } from "../address";
import type { Capture, Diff, DiffLine, Hunk } from "../api";
import { el, fill, type Child } from "../dom";
import { later, problem, showPage, type Context } from "../frame";
import { diffWords, type Piece } from "../text_diff";
import { moment } from "../parts";
import { Replayer } from "../replayer";
import { texts } from "../words";

function side(kind: "removed" | "added", pieces: Piece[]): HTMLElement {
  const mark = kind === "removed" ? "del" : "ins";
  const name = kind === "removed" ? texts.removedLine : texts.addedLine;
  return el(
    "div",
    { class: kind },
    el("span", { class: "unseen" }, `${name}: `),
    pieces.map((piece) => (piece.changed ? el(mark, {}, piece.text) : piece.text)),
  );
}

// Removed lines stand beside the added ones that came in their place, with their words compared.
function replaced(removed: string[], added: string[]): Child[] {
  const cells: Child[] = [];
  for (let at = 0; at < Math.max(removed.length, added.length); ++at) {
    const before = removed[at];
    const after = added[at];
    const [left, right] =
      before !== undefined && after !== undefined
        ? diffWords(before, after)
        : [[{ text: before ?? "", changed: true }], [{ text: after ?? "", changed: true }]];
    cells.push(
      before === undefined ? el("div") : side("removed", left),
      after === undefined ? el("div") : side("added", right),
    );
  }
  return cells;
}

function rows(lines: DiffLine[]): Child[] {
  const cells: Child[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    cells.push(...replaced(removed, added));
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.op === "removed") removed.push(line.text);
    else if (line.op === "added") added.push(line.text);
    else {
      flush();
      cells.push(el("div", {}, line.text), el("div", {}, line.text));
    }
  }
  flush();
  return cells;
}

// The dates of both; with seconds where they are of one minute.
function dates({ before, after }: Diff): [string, string] {
  const same = before.timestamp.slice(0, 12) === after.timestamp.slice(0, 12);
  const precision = same ? "exact" : "minute";
  return [moment(before.time, precision), moment(after.time, precision)];
}

function head(context: Context, name: string, capture: Capture, date: string): HTMLElement {
  return el(
    "div",
    { class: "head" },
    `${name}: `,
    el(
      "a",
      { href: context.paths.view(capture.timestamp, capture.url) },
      date,
    ),
  );
}

function heads(context: Context, diff: Diff): Child[] {
  const [before, after] = dates(diff);
  return [
    head(context, texts.before, diff.before, before),
    head(context, texts.after, diff.after, after),
  ];
}

function asText(context: Context, diff: Diff): Child {
  const hunks = diff.hunks.map((hunk: Hunk): Child => [
    hunk.before_line > 1 && el("div", { class: "between" }, texts.linesBetween(hunk.before_line)),
    rows(hunk.lines),
  ]);
  return el("div", { class: "sides" }, heads(context, diff), hunks);
}

function asPages(context: Context, diff: Diff): Child {
  const quiet = { shown: () => undefined, broken: () => undefined, failed: () => undefined };
  const [before, after] = dates(diff);
  const sides: [Capture, string][] = [
    [diff.before, before],
    [diff.after, after],
  ];
  const frames = sides.map(([capture, date]) => {
    const replayer = new Replayer(
      context.archive,
      context.paths,
      quiet,
      `${texts.replayFrame}, ${date}`,
    );
    const url = normalise(capture.url);
    if (url) replayer.show(capture.timestamp, url);
    return replayer.frame;
  });
  return [
    el("div", { class: "pair" }, heads(context, diff)),
    el("div", { class: "pair" }, frames),
  ];
}

async function comparison(
  context: Context,
  url: string,
  before: string,
  after: string,
): Promise<Child> {
  const diff = await context.api.diff(url, before, after);
  const place = el("div", {});
  const buttons = new Map<string, HTMLButtonElement>();
  const choose = (mode: string) => {
    for (const [of, button] of buttons) button.setAttribute("aria-pressed", String(of === mode));
    fill(place, mode === "text" ? asText(context, diff) : asPages(context, diff));
  };
  const modes: [string, string][] = [
    ["text", texts.asText],
    ["pages", texts.asPages],
  ];
  for (const [mode, name] of modes) {
    buttons.set(mode, el("button", { type: "button", onclick: () => choose(mode) }, name));
  }
  choose("text");
  const verdicts = {
    identical: texts.sameBytes,
    "same-text": texts.sameWords,
    text: texts.changedLines(diff.removed, diff.added),
  };
  return [
    el("p", { role: "status" }, verdicts[diff.state]),
    el("div", { class: "tools", role: "group", "aria-label": texts.view }, [...buttons.values()]),
    place,
  ];
}

export function showCompare(
  context: Context,
  before: string,
  after: string,
  address: string,
): void {
  const url = normalise(address);
  showPage(
    context,
    "compare",
    `${texts.compareTitle}: ${shortAddress(address)}`,
    el("h1", {}, texts.compareTitle),
    el(
      "p",
      {},
      el(
        "a",
        { class: "address", href: context.paths.calendar(url ?? address) },
        shortAddress(address),
      ),
    ),
    url ? later(() => comparison(context, url, before, after)) : problem(undefined),
  );
}
