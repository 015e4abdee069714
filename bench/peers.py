"""Other people's tools to measure against, in a place of their own."""

import pathlib
import subprocess
import sys

WANTED = ["warcio", "cdxj-indexer", "fastwarc", "pywb", "wacz"]


def base_python():
    """Debian's own Python where there is one: peers are measured with what users have."""
    debian = pathlib.Path("/usr/bin/python3")
    return str(debian) if debian.exists() else sys.executable


def prepare(folder, log):
    """Installs what is missing into `folder`; returns {name: version} of what is there."""
    python = folder / "bin/python"
    if not python.exists():
        done = subprocess.run([base_python(), "-m", "venv", str(folder)], capture_output=True,
                              text=True)
        if done.returncode != 0:
            log(f"SKIPPED, ALL PEERS: no virtual environment: {done.stderr.strip()[-300:]}")
            return {}
    found = versions(python)
    for name in WANTED:
        if name in found:
            continue
        log(f"installing {name}")
        done = subprocess.run([str(python), "-m", "pip", "install", "--quiet", name],
                              capture_output=True, text=True)
        if done.returncode != 0:
            reason = done.stderr.strip().splitlines()[-1:] or ["no message"]
            log(f"SKIPPED, PEER MISSING: {name}: {reason[0]}")
    return versions(python)


def versions(python):
    code = ("import importlib.metadata as m\n"
            f"for name in {WANTED!r}:\n"
            "    try: print(name, m.version(name))\n"
            "    except m.PackageNotFoundError: pass\n")
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    return dict(line.split() for line in done.stdout.splitlines())
