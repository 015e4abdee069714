"""Writes what was measured as a page for people and as JSON for machines."""

import json
import os
import pathlib
import platform
import subprocess


def machine():
    model = platform.processor() or "unknown"
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {"cpu": model, "cores": os.cpu_count(), "memory_gb": round(memory_gb, 1),
            "kernel": f"{platform.system()} {platform.release()}",
            "load_at_start": round(os.getloadavg()[0], 2)}


def commit(root):
    """The short commit, with -dirty where files differ from it; "unknown" outside of git."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    head = git("rev-parse", "--short", "HEAD")
    if head.returncode != 0:
        return "unknown"
    changed = git("status", "--porcelain", "--", ".", ":!bench/results").stdout.strip()
    return head.stdout.strip() + ("-dirty" if changed else "")


def table(head, rows):
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def verdict(reached):
    return {True: "yes", False: "**no**", None: "not measured"}[reached]


def case_section(case):
    rows = []
    for row in case["rows"]:
        if "seconds_best" in row:
            rows.append([row["name"], f"{row['seconds_best']:.2f}", f"{row['seconds_median']:.2f}",
                         row["runs"], f"{row['mb_per_s']:.0f}", f"{row['peak_mb']:.0f}",
                         f"{row['times_stele']:.2f}×" if row.get("times_stele") else "–"])
        else:
            rows.append([row["name"], row["note"], "", "", "", "", ""])
    return f"### {case['title']}\n\n" + table(
        ["contender", "best, s", "median, s", "runs", "MB/s unpacked", "peak MB",
         "time, Stele = 1"], rows)


def goal_rows(goals):
    return [[goal["what"], goal["goal"], goal["measured"], goal.get("ceiling", ""),
             verdict(goal["reached"])] for goal in goals]


def page(results):
    here = results["machine"]
    text = [f"# Measured on {results['date']}, commit {results['commit']}\n",
            f"{here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['kernel']}; "
            f"load {here['load_at_start']} at the start.\n"]
    if here["load_at_start"] > 0.5:
        text.append("**The machine was busy with something else: ratios are rough.**\n")
    if results["quick"]:
        text.append("**A quick run on little data: not for comparison.**\n")
    text.append("Peers: " + ", ".join(f"{name} {version}" for name, version in
                                      results["peers"].items()) + ".\n")
    if results["data"]:
        data = results["data"]
        text.append(f"Data: {data['file_bytes'] / 1e6:.0f} MB of .warc.gz, "
                    f"{data['raw_bytes'] / 1e6:.0f} MB unpacked, {data['records']} records "
                    f"({data['source']}).\n")
    text.append("Ratios and goals compare the best runs. All output goes to /dev/null, the files "
                "are in the page cache.\n")
    if results["goals"]:
        text.append("## Goals\n")
        text.append("The ceiling is how far ahead bare_inflate is, which does only the inflating "
                    "(for check: and the hashing) that the job is made of.\n")
        text.append(table(["what", "goal", "measured", "ceiling", "reached"],
                          goal_rows(results["goals"])))
    if results["cases"]:
        text.append("## Times\n")
        text += [case_section(case) for case in results["cases"]]
    if results["micro"]:
        text.append("## Micro benchmarks\n")
        text.append(table(["program", "benchmark", "MB/s", "goal, MB/s", "reached"],
                          [[row["program"], row["name"], f"{row['mb_per_s']:.0f}",
                            row["goal_mb_per_s"] or "–",
                            verdict(row["reached"]) if row["goal_mb_per_s"] else ""]
                           for row in results["micro"]]))
    return "\n".join(text)


def write(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{results['date'][:10]}-{results['commit']}"
    (folder / f"{name}.md").write_text(page(results))
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    return folder / f"{name}.md"
