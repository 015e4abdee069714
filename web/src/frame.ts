// What all pages but replay have around them: the bar with the box, the content, the foot.
import { looksLikeAddress, normalise } from "./address";
import { ApiError, type Api, type Archive } from "./api";
import { el, fill, type Child } from "./dom";
import type { Paths } from "./route";
import { keepLanguage, language, languages, texts } from "./words";

// What a page needs to know and to ask.
export interface Context {
  api: Api;
  paths: Paths;
  archive: Archive;
}

// The one box: an address opens its calendar, words are searched for.
export function seekForm(paths: Paths, id: string, text = ""): HTMLFormElement {
  const input = el("input", {
    id,
    name: "q",
    type: "text",
    placeholder: texts.seekHint,
    value: text,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    required: true,
  });
  return el(
    "form",
    {
      class: "seek",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        const url = looksLikeAddress(input.value) ? normalise(input.value) : null;
        location.assign(url ? paths.calendar(url) : paths.search(input.value.trim()));
      },
    },
    el("label", { class: "unseen", for: id }, texts.seekLabel),
    input,
    el("button", { class: "main", type: "submit" }, texts.seek),
  );
}

function topBar(context: Context, page: string): HTMLElement {
  const { paths, archive } = context;
  const link = (name: string, path: string, text: string) =>
    el("a", { href: path, "aria-current": name === page ? "page" : undefined }, text);
  return el(
    "header",
    { class: "top" },
    el("a", { class: "name", href: paths.home() }, archive.title || archive.name || "Stele"),
    el(
      "nav",
      { "aria-label": texts.navigation },
      link("browse", paths.browse(), texts.browse),
      link("runs", paths.runs(), texts.runs),
      link("jobs", paths.jobs(), texts.jobs),
      link("statistics", paths.statistics(), texts.statistics),
    ),
    page === "home" ? null : seekForm(paths, "seek"),
  );
}

function footBar(archive: Archive): HTMLElement {
  const select = el(
    "select",
    {
      id: "language",
      onchange: () => {
        keepLanguage(select.value);
        location.reload();
      },
    },
    languages().map(([code, name]) =>
      el("option", { value: code, lang: code, selected: code === language }, name),
    ),
  );
  return el(
    "footer",
    { class: "bottom" },
    el("span", {}, archive.software),
    archive.user
      ? el("span", {}, archive.user)
      : archive.login && el("a", { href: `${archive.prefix}login` }, texts.logIn),
    el("span", {}, el("label", { for: "language" }, `${texts.chooseLanguage} `), select),
  );
}

export function showPage(context: Context, page: string, title: string, ...content: Child[]): void {
  const name = context.archive.title || context.archive.name || "Stele";
  document.title = title ? `${title} – ${name}` : name;
  fill(
    document.body,
    el("a", { class: "skip", href: "#content" }, texts.skip),
    topBar(context, page),
    el("main", { id: "content", class: page, tabindex: -1 }, ...content),
    footBar(context.archive),
  );
}

export function problem(error: unknown): HTMLElement {
  let text = texts.failed;
  if (error instanceof ApiError) text = error.status === 0 ? texts.unreachable : error.message;
  return el(
    "div",
    { class: "notice problem", role: "alert" },
    el("strong", {}, texts.failed),
    el("p", {}, text),
  );
}

// A place for something that comes later, and may fail alone without harm to the rest of the page.
export function later(make: () => Promise<Child>): HTMLElement {
  const place = el("div", { "aria-busy": "true" }, el("p", { class: "faint" }, texts.loading));
  make()
    .then(
      (content) => fill(place, content),
      (error: unknown) => fill(place, problem(error)),
    )
    .finally(() => place.removeAttribute("aria-busy"));
  return place;
}
