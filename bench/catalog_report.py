"""Makes of bench/catalog_run's results a page with tables and goals."""

import json

import report

NAMES = {"stele": "Stele", "stele-scan": "Stele, its sorted run read from end to end",
         "rocksdb-keys": "RocksDB, zstd: URL and time → id",
         "rocksdb-lines": "RocksDB, zstd: URL and time → CDX fields",
         "cdx": "sorted CDX file, bisection", "zipnum": "ZipNum: CDXJ, 3000 lines a gzip member",
         "berkeley": "Berkeley DB, B+-tree: URL and time → CDX fields",
         "sqlite": "SQLite: by URL and time, index by time",
         "nothing": "making the captures, by itself"}
KINDS = {"nearest": "(url, t): the nearest capture",
         "nearest-line": "the same, with all CDX fields",
         "nearest-often": "the nearest, of the URL with the most captures",
         "span": "(url, 700 days)", "span-often": "(url with the most captures, a day)",
         "prefix": "all captures of a host", "alive-host": "state of a host at a moment",
         "acquired-in": "all captures acquired in six hours",
         "alive-at": "state of everything at a moment",
         "alive-during": "all that was alive during a day"}
BYTES_MAX = 60
INDEX_RATIO_MAX = 2
OFTEN_MAX_S = 0.001
OFTEN_CAPTURES = 500_000
STATE_RATIO_MIN = 5
FLAT_MAX = 1.5  # a history ten times as long may cost so much more
INSERTS_MIN = 300_000
MEMORY_CAPTURES = 100_000_000
MEMORY_MAX_MB = 500  # "a few hundred"
MEMORY_SIZE_MIN = 1_000_000  # smaller catalogs only show how logs and caches are filled
# What is behind a goal that is missed.
WHY = {
    "bytes": "A SHA-1 digest is 20 bytes that nobody can compress, the digest of a page's text 8.",
    "pisa": "PISA segments are a second copy of keys, times and ids in another order, which no "
            "other contender has, and each carries the live captures of the one before.",
    "key_index": "Entries have the time in milliseconds and the id of a capture; see the sizes.",
    "nearest": "A question reads and unpacks a page of 16 KB where it is not in the cache.",
    "often": "The page of the moment is found by bisection in memory; the rest is one page.",
    "state": "What is read of PISA segments is the answer; see the table of histories.",
    "flat": "Segments are rolled at three captures for each live key; a short history has less.",
    "inserts": "Rows are written to a log and synced ten thousand at a time; logs become files and "
               "files are merged beside it, on the same cores.",
    "memory": "New rows are held in memory until their logs are files, and so are the parts of "
              "PISA segments that are being made; the page index of each file grows with the "
              "catalog."}


def each(answer):
    return answer["seconds"] / answer["count"]


def duration(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def millions(captures):
    return f"{int(captures) / 1e6:g} M"


# -- Goals --

def goal(kind, what, aim, measured, reached):
    return {"kind": kind, "what": what, "goal": aim, "measured": measured, "reached": reached}


def size_goals(results):
    rows = []
    for size, table in results["fill"].items():
        if "stele" not in table:
            continue
        ours = table["stele"]
        whole = ours["bytes"] / ours["rows"]
        without = (ours["bytes"] - ours["pisa_bytes"]) / ours["rows"]
        rows.append(goal("bytes", f"rows and key index, {millions(size)}",
                         f"≤ {BYTES_MAX} B a capture", f"{without:.1f} B", without <= BYTES_MAX))
        rows.append(goal("pisa", f"whole catalog, with PISA segments, {millions(size)}",
                         f"≤ {BYTES_MAX} B a capture", f"{whole:.1f} B", whole <= BYTES_MAX))
        if "rocksdb-keys" in table:
            ratio = ours["key_index_bytes"] / table["rocksdb-keys"]["bytes"]
            rows.append(goal("key_index", f"key index, {millions(size)}",
                             f"≤ {INDEX_RATIO_MAX}× RocksDB's", f"{ratio:.2f}×",
                             ratio <= INDEX_RATIO_MAX))
        rate = ours["rows"] / ours["add_s"]
        rows.append(goal("inserts", f"durable inserts, {millions(size)}", f"≥ {INSERTS_MIN:,}/s",
                         f"{rate:,.0f}/s", rate >= INSERTS_MIN))
    return rows


def nearest_goals(results):
    rows = []
    for state in ("warm", "cold"):
        for size, table in results[state].items():
            ours = table.get("stele", {})
            theirs = table.get("rocksdb-keys", {})
            if "nearest" in ours and "nearest" in theirs:
                ratio = each(ours["nearest"]) / each(theirs["nearest"])
                rows.append(goal("nearest", f"(url, t), {state}, {millions(size)}",
                                 "≤ 1× RocksDB's time", f"{ratio:.2f}×", ratio <= 1))
            if "nearest-often" in ours and int(size) >= 10 * OFTEN_CAPTURES:
                seconds = each(ours["nearest-often"])
                rows.append(goal("often", f"nearest of 500,000 captures, {state}, {millions(size)}",
                                 "< 1 ms", duration(seconds), seconds < OFTEN_MAX_S))
    return rows


def state_goals(results):
    history = results["history"]
    rows = []
    longest = max(history, key=int, default=None)
    if longest and {"stele", "stele-scan"} <= history[longest].keys():
        ratio = each(history[longest]["stele-scan"]["alive-at"]) / each(
            history[longest]["stele"]["alive-at"])
        rows.append(goal("state", f"state of everything, {longest} captures of each URL",
                         f"≥ {STATE_RATIO_MIN}× as fast as reading a sorted run", f"{ratio:.1f}×",
                         ratio >= STATE_RATIO_MIN))
        shorter = sorted(history, key=int)[-2:][0]
        if shorter != longest and "stele" in history[shorter]:
            growth = each(history[longest]["stele"]["alive-at"]) / each(
                history[shorter]["stele"]["alive-at"])
            rows.append(goal("flat", f"state of everything, {longest} captures of each URL "
                             f"instead of {shorter}", f"≤ {FLAT_MAX}× the time", f"{growth:.2f}×",
                             growth <= FLAT_MAX))
    return rows


def memory_of(results, size):
    """MB of the writer without what made the captures, and of a reader."""
    table = results["fill"][size]
    writer = (table["stele"]["peak_bytes"] - table["nothing"]["peak_bytes"]) / 1e6
    reader = max(answer["peak_bytes"] for answer in results["warm"][size]["stele"].values()) / 1e6
    return writer, reader


def memory_goals(results):
    sizes = [size for size, table in results["fill"].items()
             if {"stele", "nothing"} <= table.keys()]
    if len(sizes) < 2 or int(sizes[-2]) < MEMORY_SIZE_MIN:
        return []
    small, large = sizes[-2], sizes[-1]
    rows = []
    for who, before, after in zip(("writer", "reader"), memory_of(results, small),
                                  memory_of(results, large)):
        slope = (after - before) / (int(large) - int(small))
        far = after + max(slope, 0) * (MEMORY_CAPTURES - int(large))
        rows.append(goal("memory", f"memory of a {who} at 100 M captures, from the last two sizes",
                         f"≤ {MEMORY_MAX_MB} MB", f"{far:.0f} MB", far <= MEMORY_MAX_MB))
    return rows


def goals(results):
    return (size_goals(results) + nearest_goals(results) + state_goals(results)
            + memory_goals(results))


# -- The page --

def fill_section(results):
    text = []
    for size, table in results["fill"].items():
        rows = []
        for name, filled in table.items():
            if name == "nothing":
                continue
            total = filled["add_s"] + filled["finish_s"]
            parts = ", ".join(f"{part} {filled[f'{part}_bytes'] / filled['rows']:.1f}" for part in
                              ("rows", "key_index", "pisa") if f"{part}_bytes" in filled)
            adding = ("–" if name in ("cdx", "zipnum")
                      else f"{filled['rows'] / max(filled['add_s'], 1e-9):,.0f}")
            longest = "–" if adding == "–" else duration(filled["longest_s"])
            rows.append([NAMES[name], adding, longest, f"{filled['rows'] / total:,.0f}",
                         f"{filled['bytes'] / filled['rows']:.1f}" + (f" ({parts})" if parts
                                                                      else ""),
                         f"{filled['peak_bytes'] / 1e6:.0f}"])
        text.append(f"### {millions(size)} captures\n")
        text.append(report.table(["contender", "durable inserts/s", "longest wait for ten thousand",
                                  "captures/s until at rest", "bytes a capture", "peak MB"], rows))
    return text


def ask_section(results, table):
    text = []
    for size, rows in results[table].items():
        names = list(rows)
        lines = []
        for kind, title in KINDS.items():
            if any(kind in rows[name] for name in names):
                lines.append([title, *(duration(each(rows[name][kind])) if kind in rows[name]
                                       else "–" for name in names)])
        text.append(f"### {millions(size)} captures\n")
        text.append(report.table(["question", *(NAMES[name] for name in names)], lines))
    return text


def history_section(results):
    rows = []
    for times, table in results["history"].items():
        for name, answers in table.items():
            rows.append([times, NAMES[name], answers["alive-at"]["found"],
                         duration(each(answers["alive-at"])),
                         duration(each(answers["alive-during"]))])
    return report.table(["captures of each URL", "contender", "URLs in the answer",
                         KINDS["alive-at"], KINDS["alive-during"]], rows)


def memory_section(results):
    rows = []
    for size, table in results["fill"].items():
        if {"stele", "nothing"} <= table.keys():
            writer, reader = memory_of(results, size)
            rows.append([millions(size), f"{writer:.0f}", f"{reader:.0f}"])
    return report.table(["captures", "writer, MB", "reader, MB"], rows)


def head(results):
    here = results["machine"]
    text = [f"# The catalog beside others, measured on {results['date']}, commit "
            f"{results['commit']}\n",
            f"{here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['kernel']}; load "
            f"{here['load_at_start']} at the start. "
            + ", ".join(f"{name} {version}" for name, version in results["versions"].items())
            + ".\n"]
    if here["load_at_start"] > 0.5:
        text.append("**The machine was busy with something else: ratios are rough.**\n")
    if results["quick"]:
        text.append("**A quick run on little data: not for comparison.**\n")
    for what, reason in results["skipped"].items():
        text.append(f"**Left out, {NAMES.get(what, what)}: {reason}.**\n")
    text.append("bench/README.md says what is measured and how. All contenders gave the same "
                "answers.\n")
    return text


def page(results):
    text = head(results)
    text += ["## Goals\n", report.table(
        ["what", "goal", "measured", "reached"],
        [[row["what"], row["goal"], row["measured"], report.verdict(row["reached"])]
         for row in results["goals"]])]
    missed = dict.fromkeys(row["kind"] for row in results["goals"] if row["reached"] is False)
    if missed:
        text.append("Missed, and why:\n")
        text += [f"- {kind.replace('_', ' ')}: {WHY[kind]}" for kind in missed]
        text.append("")
    text += ["## Filling\n", *fill_section(results)]
    if results["both_digests"]:
        both = results["both_digests"]
        text.append("With SHA-256 beside SHA-1 for each new content: "
                    f"{both['bytes'] / both['rows']:.1f} bytes a capture "
                    f"({millions(both['rows'])}).\n")
    text += ["## Questions, warm\n", *ask_section(results, "warm")]
    if results["cold"]:
        text += ["## Questions, cold\n", *ask_section(results, "cold")]
    if results["history"]:
        text += [f"## The state of everything, {results['history_urls']:,} URLs\n",
                 history_section(results)]
    if "stele" in next(iter(results["fill"].values())):
        text += ["## Memory\n",
                 "The most that a process ever had, a page cache of 64 MB included; of the writer "
                 "without what makes the captures.\n", memory_section(results)]
    return "\n".join(text)


def write(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{results['date'][:10]}-{results['commit']}-catalog"
    (folder / f"{name}.md").write_text(page(results))
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    return folder / f"{name}.md"
