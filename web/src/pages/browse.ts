import type { BrowseEntry } from "../api";
import { el, fill, type Child } from "../dom";
import { later, problem, showPage, type Context } from "../frame";
import { moment, table } from "../parts";
import { formatBytes, formatNumber, texts } from "../words";

function row({ paths }: Context, entry: BrowseEntry): Child[] {
  const name = entry.name || "/";
  return [
    [
      entry.prefix ? el("a", { href: paths.browse(entry.prefix) }, name) : entry.url ? null : name,
      entry.url
        ? [
            entry.prefix ? " · " : "",
            el("a", { href: paths.calendar(entry.url) }, entry.prefix ? texts.calendarOf : name),
          ]
        : null,
    ],
    formatNumber(entry.urls),
    formatNumber(entry.captures),
    formatBytes(entry.bytes),
    moment(entry.first, "date"),
    moment(entry.last, "date"),
  ];
}

// A page of entries, with a button for the next.
async function entries(context: Context, prefix: string, resume?: string): Promise<Child> {
  const answer = await context.api.browse(prefix, resume);
  if (answer.entries.length === 0 && resume === undefined) return el("p", {}, texts.nothingBelow);
  const list = table(
    prefix || texts.hosts,
    [
      { head: texts.name, className: "address" },
      { head: texts.urls, number: true },
      { head: texts.capturesTitle, number: true },
      { head: texts.bytes, number: true },
      { head: texts.since },
      { head: texts.until },
    ],
    answer.entries.map((entry) => row(context, entry)),
  );
  if (answer.resume === undefined) return list;
  const next = el(
    "div",
    {},
    el(
      "button",
      {
        type: "button",
        onclick: () => {
          entries(context, prefix, answer.resume).then(
            (content) => fill(next, content),
            (error: unknown) => fill(next, problem(error)),
          );
        },
      },
      texts.more,
    ),
  );
  return [list, next];
}

// "http://a/b/c/" as links to everything above it.
function trail({ paths }: Context, prefix: string): Child {
  const [, root = "", rest = ""] = /^([a-z]+:\/\/[^/]*\/?|[^/]*\/?)(.*)$/i.exec(prefix) ?? [];
  const links: Child[] = [el("a", { href: paths.browse() }, texts.hosts)];
  let path = "";
  for (const part of [root, ...rest.split(/(?<=\/)/)]) {
    if (part === "") continue;
    path += part;
    links.push(
      " › ",
      el(
        "a",
        { href: paths.browse(path), "aria-current": path === prefix ? "page" : undefined },
        part,
      ),
    );
  }
  return links;
}

export function showBrowse(context: Context, prefix: string): void {
  showPage(
    context,
    "browse",
    prefix ? `${texts.browseTitle}: ${prefix}` : texts.browseTitle,
    el("h1", {}, texts.browseTitle),
    prefix && el("p", { class: "address" }, trail(context, prefix)),
    later(() => entries(context, prefix)),
  );
}
