"""Makes of bench/store_run's samples a page with tables, goals and plots."""

import json
import statistics

import report
import store_plots

# The paper's own figures: its Webstore beside NFS (papers: "Managing duplicates in a web archive",
# 2006, and the technical report behind it, 2004).
PAPER = {"new": "2× (50 % less time, 5 to 20 clients)", "duplicate": "5.6× (82 % less)",
         "retrieve": "3.1× (68 % less)", "delete block": "2.5× (60 % less)",
         "delete reference": "3.0× (67 % less)"}
GOALS = {"new": 5, "duplicate": 10, "retrieve": 3, "delete block": 3, "delete reference": 3}
MANY_CLIENTS = 15
# NFS knows neither duplicates nor references: it writes and removes files.
NFS_COUNTERPART = {"duplicate": "new", "delete reference": "delete block"}
VOLUME_COST_MAX = 0.01


def rates(row, measure):
    return [result["per_second"] for result in row.get(measure, [])]


def middle(results, field="per_second"):
    return statistics.median(result[field] for result in results)


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f}–{max(values):.0f})"


# -- Goals --

def ratios(samples, nfs, ours, measure, wanted):
    """[(clients, ours / NFS)] where both were measured."""
    found = []
    table = samples.get("clients", {})
    for clients, row in table.get(ours, {}).items():
        theirs = rates(table.get(nfs, {}).get(clients, {}), NFS_COUNTERPART.get(measure, measure))
        mine = rates(row, measure)
        if wanted(int(clients)) and theirs and mine:
            found.append((int(clients), statistics.median(mine) / statistics.median(theirs)))
    return found


def ratio_goals(samples, nfs, ours):
    rows = []
    for measure, factor in GOALS.items():
        found = ratios(samples, nfs, ours, measure, lambda n: n >= MANY_CLIENTS)
        worst = min(found, key=lambda pair: pair[1]) if found else None
        rows.append({"what": f"{measure}, {MANY_CLIENTS} clients or more", "measure": measure,
                     "goal": f"≥ {factor}× NFS", "paper": PAPER[measure],
                     "measured": f"{worst[1]:.2f}× at {worst[0]}" if worst else "no NFS",
                     "reached": worst[1] >= factor if worst else None})
    for measure in GOALS:
        one = ratios(samples, nfs, ours, measure, lambda n: n == 1)
        rows.append({"what": f"{measure}, one client", "measure": measure, "paper": "",
                     "goal": "≥ 1× NFS", "measured": f"{one[0][1]:.2f}×" if one else "no NFS",
                     "reached": one[0][1] >= 1 if one else None})
    return rows


def mode_goal(samples):
    modes = {name: rates(row.get("0", {}), "store")
             for name, row in samples.get("modes", {}).items() if name != "NFS"}
    modes = {name: values for name, values in modes.items() if values}
    goal = {"what": "modes at 0 % duplication", "measure": "new", "paper": "equal",
            "goal": "each median within the spread of the others", "measured": "",
            "reached": None}
    if modes:
        goal["measured"] = ", ".join(f"{name} {spread(values)}/s" for name, values in modes.items())
        goal["reached"] = all(min(other) <= statistics.median(values) <= max(other)
                              for values in modes.values() for other in modes.values())
    return goal


def slope(points):
    """Of the least-squares line through (x, y), as a share of its height at the first x."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    x_mean, y_mean = statistics.mean(xs), statistics.mean(ys)
    rise = (sum((x - x_mean) * (y - y_mean) for x, y in points)
            / sum((x - x_mean) ** 2 for x in xs))
    return rise / (y_mean + rise * (xs[0] - x_mean))


def volume_goals(samples):
    rows = []
    for name, by_count in samples.get("volumes", {}).items():
        if "chooses" in name or len(by_count) < 2:
            continue
        for measure in ("new", "duplicate"):
            per_store = [(int(count), 1e6 / middle(row[measure]))
                         for count, row in by_count.items() if measure in row]
            cpu = [(int(count), middle(row[measure], "client_cpu_us")
                    + middle(row[measure], "server_cpu_us")) for count, row in by_count.items()]
            cost = slope(per_store)
            rows.append({"what": f"{measure}, time per added volume, {name}", "measure": "volumes",
                         "goal": "≤ +1 %", "paper": "+15 %",
                         "measured": f"{cost:+.1%} (CPU {slope(cpu):+.1%})",
                         "reached": cost <= VOLUME_COST_MAX})
    return rows


def goals(samples, nfs, ours):
    rows = ratio_goals(samples, nfs, ours) if "clients" in samples else []
    if "modes" in samples:
        rows.append(mode_goal(samples))
    return rows + volume_goals(samples)


def missed(rows):
    """What to profile: the measures whose goals were not reached."""
    names = [row["measure"].replace("delete reference", "delete block") for row in rows
             if row["reached"] is False and row["measure"] != "volumes"]
    return list(dict.fromkeys(names))


# -- The page --

def sweep_section(title, table, measures):
    text = [f"### {title}\n"]
    for measure, nfs_measure in measures:
        rows = []
        clients = next(iter(table.values())).keys()
        for contender, by_clients in table.items():
            shown = nfs_measure if contender.startswith("NFS") else measure
            values = [rates(by_clients.get(number, {}), shown) for number in clients]
            if any(values):
                rows.append([contender, *(spread(cell) if cell else "–" for cell in values)])
        text.append(f"{measure}: operations per second, median (smallest–largest), by clients\n")
        text.append(report.table(["contender", *clients], rows))
    return "\n".join(text)


def cost_section(table, clients, syncs):
    rows = []
    for contender, by_clients in table.items():
        for measure, results in by_clients.get(clients, {}).items():
            calls = syncs.get(contender, {}).get(measure, {}).get(clients)
            rows.append([contender, measure, *(f"{middle(results, field):.0f}" for field in
                                               ("client_cpu_us", "server_cpu_us", "p50_us",
                                                "p99_us", "written_bytes")),
                         "–" if calls is None else f"{calls:.3f}"])
    return report.table(["contender", "operation", "client CPU µs", "server CPU µs", "p50 µs",
                         "p99 µs", "bytes written", "syncs"], rows)


def grid(table, measure, head, x_name):
    xs = next(iter(table.values())).keys()
    rows = [[name, *(spread(rates(by_x[x], measure)) if x in by_x else "–" for x in xs)]
            for name, by_x in table.items()]
    return f"{head}, by {x_name}\n\n" + report.table(["", *xs], rows)


def balance_table(table):
    rows = []
    for name, by_count in table.items():
        for count, row in by_count.items():
            blocks = row["new"][0]["volumes"]
            total = sum(blocks.values())
            shares = [blocks.get(f"v{number + 1}", 0) / total for number in range(int(count))]
            rows.append([name, count, spread(rates(row, "new")),
                         ", ".join(f"{share:.1%}" for share in shares)])
    return report.table(["volumes", "number", "new blocks/s, 4 clients", "share of each volume"],
                        rows)


def profile_section(profiles):
    text = ["## Where the time goes\n",
            "CPU of client and server together while 15 clients repeat an operation whose goal was "
            "missed, by process and library (perf, cpu-clock).\n"]
    for measure, profile in profiles.items():
        text.append(f"### {measure}: client {profile['client_cpu_us']:.0f} µs + server "
                    f"{profile['server_cpu_us']:.0f} µs per operation\n")
        text.append(report.table(["share", "process", "library"], profile["shares"]))
    return "\n".join(text)


def plots(samples):
    """{name: SVG}"""
    made = {}

    def line(by_x, measure):
        return [(int(x), statistics.median(rates(row, measure)), min(rates(row, measure)),
                 max(rates(row, measure))) for x, row in by_x.items() if rates(row, measure)]

    def add(name, title, x_label, lines):
        lines = [(label, points) for label, points in lines if points]
        if lines:
            made[name] = store_plots.chart(title, x_label, "operations per second", lines)

    table = samples.get("clients", {})
    for measure in ("retrieve", "new", "duplicate", "delete block", "delete reference"):
        add(measure.replace(" ", "-"), f"{measure} beside NFS", "clients",
            [(name, line(row, NFS_COUNTERPART.get(measure, measure)
                         if name.startswith("NFS") else measure))
             for name, row in table.items() if len(row) > 1 and "not durable" not in name])
    modes = samples.get("modes", {})
    add("modes", "store modes, 10 clients", "% duplicates",
        [(name, line(modes[name], "store"))
         for name in sorted(modes, key=lambda name: name != "NFS")])
    for measure in ("new", "duplicate"):
        add(f"volumes-{measure}", f"{measure}: one client, by number of volumes", "volumes",
            [(name, line(row, measure)) for name, row in samples.get("volumes", {}).items()])
    add("balance", "new blocks: four clients, by number of volumes", "volumes",
        [(name, line(row, "new")) for name, row in samples.get("balance", {}).items()])
    return made


def head(results):
    here = results["machine"]
    text = [f"# The store beside NFS, measured on {results['date']}, commit {results['commit']}\n",
            f"{here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['kernel']}; load "
            f"{here['load_at_start']} at the start. {results['rounds']} rounds. "
            + ", ".join(f"{name} {version}" for name, version in results["versions"].items())
            + ".\n"]
    if here["load_at_start"] > 0.5:
        text.append("**The machine was busy with something else: ratios are rough.**\n")
    if results["quick"]:
        text.append("**A quick run: not for comparison.**\n")
    if results["cut"]:
        text.append("**Time ran out: " + ", ".join(f"{name} has {rounds} rounds" for name, rounds
                                                   in results["cut"].items()) + ".**\n")
    if results["nfs"]:
        text.append(f"**NFS was left out: {results['nfs']}**\n")
    text.append("bench/README.md says what is measured and how. The goals are those of a container "
                "volume with SHA-256, the default; tree volumes took part in 2 rounds, with "
                "1 and 15 clients.\n")
    return text


def page(results):
    samples = results["samples"]
    text = head(results)
    text += ["## Goals\n", report.table(
        ["what", "goal", "measured", "paper's Webstore", "reached"],
        [[row["what"], row["goal"], row["measured"], row["paper"], report.verdict(row["reached"])]
         for row in results["goals"]])]
    if "clients" in samples:
        text.append("## Retrieve, delete, store (experiments 1 to 3)\n")
        text.append(sweep_section("1000 pages, 19.2 MB", samples["clients"], [
            ("retrieve", "retrieve"), ("delete block", "delete block"),
            ("delete reference", "delete block"), ("new", "new"), ("duplicate", "new")]))
        for clients in ("1", "15"):
            text.append(f"### One operation, {clients} client{'' if clients == '1' else 's'}\n")
            text.append(cost_section(samples["clients"], clients, results["syncs"]))
    if "ten times the pages" in samples:
        text.append("## Ten times the pages: 10,000, 192 MB, 15 clients\n")
        text.append(cost_table_of_ten(samples["ten times the pages"]))
    if "modes" in samples:
        text.append("## Modes and duplication, 10 clients (experiment 4)\n")
        text.append(grid(samples["modes"], "store", "operations per second", "% of duplicates"))
    if "volumes" in samples:
        text.append("## Number of volumes, one client (experiment 5)\n")
        for measure in ("new", "duplicate"):
            text.append(grid(samples["volumes"], measure, f"{measure}: operations per second",
                             "number of volumes"))
        text += ["## Load balance (experiment 6)\n", balance_table(samples["balance"])]
    if results["profiles"]:
        text.append(profile_section(results["profiles"]))
    return "\n".join(text)


def cost_table_of_ten(table):
    rows = [[contender, measure, spread(rates(row, measure))]
            for contender, by_clients in table.items() for row in by_clients.values()
            for measure in row]
    return report.table(["contender", "operation", "operations per second"], rows)


def write(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{results['date'][:10]}-{results['commit']}-store"
    text = [page(results), "## Plots\n"]
    for plot, svg in plots(results["samples"]).items():
        (folder / f"{name}-{plot}.svg").write_text(svg)
        text.append(f"![{plot}]({name}-{plot}.svg)\n")
    (folder / f"{name}.md").write_text("\n".join(text))
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    return folder / f"{name}.md"
