import { shortAddress } from "../address";
import { el, type Child } from "../dom";
import { later, showPage, type Context } from "../frame";
import { moment, table } from "../parts";
import { formatNumber, texts } from "../words";

const RESULTS_SHOWN = 100;

async function results({ api, paths }: Context, words: string, title: string): Promise<Child> {
  const found = await api.search(words, RESULTS_SHOWN);
  const partial = !found.complete && el("p", { class: "faint" }, texts.searchPartial);
  if (found.results.length === 0) return [el("p", {}, texts.searchNothing), partial];
  return [
    el("p", {}, texts.searchFound(formatNumber(found.total), found.total)),
    partial,
    table(
      title,
      [
        { head: texts.site, className: "address" },
        { head: texts.since },
        { head: texts.until },
        { head: texts.versions, number: true },
      ],
      found.results.map((result) => [
        [
          el(
            "a",
            { href: paths.view(result.timestamp, result.url) },
            result.title || shortAddress(result.url),
          ),
          el("br"),
          el("a", { class: "faint", href: paths.calendar(result.url) }, shortAddress(result.url)),
        ],
        moment(result.first, "date"),
        moment(result.last, "date"),
        formatNumber(result.captures),
      ]),
    ),
  ];
}

export function showSearch(context: Context, words: string): void {
  const title = texts.searchTitle(words);
  showPage(
    context,
    "search",
    title,
    el("h1", {}, title),
    later(() => results(context, words, title)),
  );
}
