// The server's JSON API, as docs/access-api.yaml describes it.

export type State = "first" | "identical" | "same-text" | "text" | "redirect" | "error";

export interface Run {
  run: number;
  kind: string;
  note: string;
  begin: string;
  end: string | null;
  containers: number;
  captures: number;
}

export interface Archive {
  name: string;
  title: string;
  description: string;
  creator: string;
  rights: string;
  contact: string;
  prefix: string;
  replay_origin: string;
  replay_ticket: string; // opens the replay origin to who logged in; empty where that is not needed
  service_worker: boolean;
  user: string; // who logged in; empty: nobody
  login: boolean; // whether somebody can
  captures: number;
  pages: number;
  hosts: number;
  bytes: number;
  payload_bytes: number;
  first: string | null;
  last: string | null;
  runs: number;
  last_run?: Run | null;
  software: string;
  complete: boolean;
}

export interface Period {
  period: string;
  captures: number;
  changed?: number;
}

export interface Site {
  host: string;
  url: string;
  first: string;
  last: string;
  captures: number;
  pages: number;
  bytes: number;
  months: Period[];
}

export interface Capture {
  id: string;
  time: string;
  timestamp: string;
  url: string;
  status: number | null;
  type: string;
  length: number;
  digest: string;
  run: number;
  page: boolean;
  revisit: boolean;
  truncated: boolean;
  state?: State;
}

export interface CaptureDetail extends Capture {
  title: string;
  container: string;
  offset: number;
  record_length: number;
  original: { id: string; time: string; url: string } | null;
  headers: [string, string][];
  previous: string | null;
  next: string | null;
  previous_change: string | null;
  next_change: string | null;
  first: string;
  last: string;
  count: number;
}

export interface SearchResult {
  url: string;
  title: string;
  timestamp: string;
  first: string;
  last: string;
  captures: number;
}

export interface BrowseEntry {
  name: string;
  prefix: string;
  url: string;
  urls: number;
  captures: number;
  bytes: number;
  first: string;
  last: string;
}

export interface Sum {
  captures: number;
  bytes: number;
}

export interface Trouble {
  captures: number;
  first: Capture[];
}

export interface RunReport {
  run: Run;
  all: Sum;
  pages: Sum;
  revisits: Sum;
  duplicates: Sum;
  by_status: Record<string, Sum>;
  by_type: Record<string, Sum>;
  hosts: { host: string; captures: number; pages: number; bytes: number }[];
  host_count: number;
  first: string | null;
  last: string | null;
  truncated: number;
  removed: number;
  errors: Trouble;
  unresolved: Trouble;
  undecided: Trouble;
  containers: number;
  container_bytes: number;
  unlisted: number;
  damaged: number;
  damaged_first: { file: string; begin: number; end: number; reason: string }[];
  missing: { count: number; first: MissingEmbed[] };
  suspects: { count: number; first: SuspectPage[] };
}

// What a page needs and the archive does not have.
export interface MissingEmbed {
  url: string;
  page: string;
  reason: string;
  remedy: string;
}

// A page that is probably not what a person would have seen.
export interface SuspectPage {
  url: string;
  trouble: string;
  why: string;
  remedy: string;
}

// A crawl that runs. docs/formats/crawl-status.md
export interface JobStatus {
  run: number;
  state: string;
  started: string;
  seconds: number;
  pages: number;
  files: number;
  bytes: number;
  duplicates: number;
  failures: number;
  files_per_second: number;
  bytes_per_second: number;
  waiting: number;
  hosts: number;
  under_way: number;
  seconds_left: number | null;
}

export interface Job {
  job: string;
  running: boolean;
  status: JobStatus | null;
  queues: { host: string; waiting: number }[];
  last_run: Run | null;
}

export type ChangeState = "new" | "gone" | "text" | "same-text" | "identical";

export interface Change {
  state: ChangeState;
  url: string;
  page: boolean;
  before: Capture | null;
  after: Capture | null;
}

export interface Changes {
  from_run: number | null;
  to_run: number | null;
  counts: Partial<Record<ChangeState, number>>;
  changes: Change[];
  more: boolean;
}

export interface DiffLine {
  op: "same" | "removed" | "added";
  text: string;
}

export interface Hunk {
  before_line: number;
  after_line: number;
  lines: DiffLine[];
}

export interface Diff {
  url: string;
  before: Capture;
  after: Capture;
  state: "identical" | "same-text" | "text";
  removed: number;
  added: number;
  hunks: Hunk[];
}

export interface Statistics {
  complete: boolean;
  months: { month: string; captures: number; pages: number; bytes: number }[];
  types: { type: string; captures: number; bytes: number }[];
  statuses: { status: string; captures: number; bytes: number }[];
  duplicates: { revisits: Sum; repeated: Sum };
  captures: number;
  pages: number;
  hosts: number;
  bytes: number;
  stored_bytes: number;
}

export interface Coherence {
  url: string;
  time: string;
  embeds: number;
  missing: string[];
  earliest: string | null;
  latest: string | null;
  spread_seconds: number;
}

// What the server said when it could not answer; `status` is 0 when it was not reached.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text);
  }
}

type Query = Record<string, string | number | undefined>;

export class Api {
  // `prefix` is where the archive's pages begin: "/" or "/name/".
  constructor(private readonly prefix: string) {}

  archive = () => this.get<Archive>("archive");
  sites = (query: { sort?: string; q?: string; limit?: number; offset?: number }) =>
    this.get<{ total: number; sites: Site[] }>("sites", query);
  captures = (query: {
    url: string;
    from?: string;
    to?: string;
    limit?: number;
    resume?: string;
  }) => this.get<{ url: string; captures: Capture[]; resume?: string }>("captures", query);
  capture = (url: string, at: string) =>
    this.get<CaptureDetail>("capture", { url, at: at || undefined });
  timeline = (url: string, by: "year" | "month" | "day") =>
    this.get<{ url: string; periods: Period[] }>("timeline", { url, by });
  search = (q: string, limit: number) =>
    this.get<{ complete: boolean; total: number; results: SearchResult[] }>("search", { q, limit });
  browse = (prefix: string, resume?: string) =>
    this.get<{ prefix: string; entries: BrowseEntry[]; resume?: string }>("browse", {
      prefix: prefix || undefined,
      resume,
    });
  runs = () => this.get<{ runs: Run[] }>("runs");
  report = (run: number) => this.get<RunReport>(`runs/${run}/report`);
  changes = (run: number, state: string, limit: number) =>
    this.get<Changes>("changes", { to_run: run, state, limit });
  diff = (url: string, before: string, after: string) =>
    this.get<Diff>("diff", { url, before: before || undefined, after: after || undefined });
  statistics = () => this.get<Statistics>("statistics");
  coherence = (url: string, at: string) => this.get<Coherence>("coherence", { url, at });

  jobs = () => this.get<{ jobs: Job[] }>("jobs");

  // Calls `show` whenever something changed; `cannot` once where the server has no more streams.
  watchJobs(show: (answer: { jobs: Job[] }) => void, cannot: () => void): void {
    const events = new EventSource(`${this.prefix}api/v1/jobs/events`);
    events.addEventListener("jobs", (event) =>
      show(JSON.parse(String((event as MessageEvent).data)) as { jobs: Job[] }),
    );
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) cannot();
    });
  }

  private async get<T>(path: string, query: Query = {}): Promise<T> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const tail = parameters.size > 0 ? `?${parameters}` : "";
    let response: Response;
    try {
      response = await fetch(`${this.prefix}api/v1/${path}${tail}`);
    } catch {
      throw new ApiError(0, "");
    }
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && body !== null) return body as T;
    const text = (body as { error?: unknown } | null)?.error;
    throw new ApiError(
      response.status,
      typeof text === "string" ? text : `HTTP ${response.status}`,
    );
  }
}
