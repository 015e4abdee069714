"""Runs programs and says how long they took and how much memory they held."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys

LAUNCHER = pathlib.Path(__file__).resolve().parent / "launcher.py"


@dataclasses.dataclass
class Run:
    seconds: float
    peak_mb: float  # of all processes of the run together
    exit_codes: list
    errors: str


@dataclasses.dataclass
class Timing:
    """Several runs of one contender in one case."""
    runs: list

    @property
    def best(self):
        return min(run.seconds for run in self.runs)

    @property
    def median(self):
        return statistics.median(run.seconds for run in self.runs)

    @property
    def peak_mb(self):
        return max(run.peak_mb for run in self.runs)

    @property
    def failure(self):
        """What went wrong in the first bad run, or None."""
        for run in self.runs:
            if any(run.exit_codes):
                tail = run.errors.strip().splitlines()[-1:] or ["no message"]
                return f"exit codes {run.exit_codes}: {tail[0][:200]}"
        return None


def run_together(commands, folder, log, feed=None, output=os.devnull):
    """Runs the commands side by side in `folder`. `feed` is a command whose output the first one
    reads; `output` a path for what they print, which is otherwise thrown away."""
    spec = {"commands": commands, "feed": feed, "output": str(output), "log": str(log)}
    done = subprocess.run([sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(spec)],
                          cwd=folder, stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    text = pathlib.Path(log).read_bytes()[-4000:].decode("utf-8", "replace")
    return Run(told["seconds"], sum(told["peaks_kb"]) / 1024, told["exit_codes"], text)


def measure_all(contenders, rounds, budget_s, run_one, progress):
    """{name: Timing}. The contenders take turns, so that a disturbance meets all of them. One that
    has used its budget sits out the rounds that are left."""
    runs = {name: [] for name in contenders}
    for number in range(rounds):
        for name in contenders:
            used = sum(run.seconds for run in runs[name])
            if runs[name] and (used > budget_s or any(runs[name][-1].exit_codes)):
                continue
            runs[name].append(run_one(name))
            progress(name, number, runs[name][-1])
    return {name: Timing(done) for name, done in runs.items()}
