// Finds out which page is meant, and shows it.
import { Api } from "./api";
import { el, fill } from "./dom";
import { problem, showPage, type Context } from "./frame";
import { showBrowse } from "./pages/browse";
import { showCalendar } from "./pages/calendar";
import { showCompare } from "./pages/compare";
import { showHome } from "./pages/home";
import { showJobs } from "./pages/jobs";
import { showRun, showRuns } from "./pages/runs";
import { showSearch } from "./pages/search";
import { showStatistics } from "./pages/statistics";
import { showView } from "./pages/view";
import { parseRoute, Paths, prefixOf, type Route } from "./route";
import { language, texts } from "./words";
import "./style.css";

function show(context: Context, route: Route): void {
  switch (route.page) {
    case "home":
      return showHome(context);
    case "search":
      return showSearch(context, route.words);
    case "calendar":
      return showCalendar(context, route.url);
    case "view":
      return showView(context, route.time, route.url);
    case "compare":
      return showCompare(context, route.before, route.after, route.url);
    case "browse":
      return showBrowse(context, route.prefix);
    case "runs":
      return showRuns(context);
    case "run":
      return showRun(context, route.run);
    case "jobs":
      return showJobs(context);
    case "statistics":
      return showStatistics(context);
    case "unknown":
      return showPage(context, "unknown", texts.notFound, el("h1", {}, texts.notFound));
  }
}

async function start(): Promise<void> {
  document.documentElement.lang = language;
  const prefix = prefixOf(location.pathname);
  const api = new Api(prefix);
  const address = (location.pathname + location.search + location.hash).slice(prefix.length);
  const archive = await api.archive();
  show({ api, paths: new Paths(prefix), archive }, parseRoute(address));
}

start().catch((error: unknown) =>
  fill(document.body, el("main", {}, el("h1", {}, "Stele"), problem(error))),
);
