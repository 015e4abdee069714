// The paths of our pages, both ways. An archived address stands in a path as it is, its query and
// fragment included, as in /view/2014/http://example.org/?a=b.

export type Route =
  | { page: "home" }
  | { page: "search"; words: string }
  | { page: "calendar"; url: string }
  | { page: "view"; time: string; url: string }
  | { page: "compare"; before: string; after: string; url: string }
  | { page: "browse"; prefix: string }
  | { page: "runs" }
  | { page: "run"; run: number }
  | { page: "jobs" }
  | { page: "statistics" }
  | { page: "unknown" };

const PAGES = ["search", "calendar", "view", "compare", "browse", "runs", "jobs", "statistics"];

// Where the pages of the archive begin: "/", or "/name/" with several archives.
export function prefixOf(path: string): string {
  const [, first = "", second] = path.split("/", 3);
  if (first === "" || PAGES.includes(first)) return "/";
  return second === "" || (second !== undefined && PAGES.includes(second)) ? `/${first}/` : "/";
}

// `address` is path, query and fragment behind the prefix, such as "calendar/http://example.org/".
export function parseRoute(address: string): Route {
  if (address === "" || /^[?#]/.test(address)) return { page: "home" };
  if (/^search\?/.test(address)) {
    return { page: "search", words: new URLSearchParams(address.slice(7)).get("q") ?? "" };
  }
  if (/^runs\/?$/.test(address)) return { page: "runs" };
  if (/^jobs\/?$/.test(address)) return { page: "jobs" };
  if (/^statistics\/?$/.test(address)) return { page: "statistics" };
  const run = /^runs\/(\d{1,10})$/.exec(address);
  if (run) return { page: "run", run: Number(run[1]) };
  const calendar = /^calendar\/(.+)$/.exec(address);
  if (calendar) return { page: "calendar", url: withoutFragment(calendar[1] ?? "") };
  const view = /^view\/(\d{0,17})\/(.+)$/.exec(address);
  if (view) return { page: "view", time: view[1] ?? "", url: view[2] ?? "" };
  const compare = /^compare\/(\d{0,17})\/(\d{0,17})\/(.+)$/.exec(address);
  if (compare) {
    const [, before = "", after = "", url = ""] = compare;
    return { page: "compare", before, after, url: withoutFragment(url) };
  }
  const browse = /^browse(?:\/(.*))?$/.exec(address);
  if (browse) return { page: "browse", prefix: withoutFragment(browse[1] ?? "") };
  return { page: "unknown" };
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] ?? "";
}

export class Paths {
  constructor(readonly prefix: string) {}

  home = () => this.prefix;
  search = (words: string) => `${this.prefix}search?${new URLSearchParams({ q: words })}`;
  calendar = (url: string) => `${this.prefix}calendar/${withoutFragment(url)}`;
  view = (time: string, url: string) => `${this.prefix}view/${time}/${url}`;
  compare = (before: string, after: string, url: string) =>
    `${this.prefix}compare/${before}/${after}/${withoutFragment(url)}`;
  browse = (prefix = "") => `${this.prefix}browse/${prefix}`;
  runs = () => `${this.prefix}runs`;
  run = (run: number) => `${this.prefix}runs/${run}`;
  jobs = () => `${this.prefix}jobs`;
  statistics = () => `${this.prefix}statistics`;
  raw = (time: string, url: string) => `${this.prefix}web/${time}id_/${url}`;
  reduced = (time: string, url: string) => `${this.prefix}web/${time}mp_/${url}`;
  record = (id: string) => `${this.prefix}record/${id}`;
}
