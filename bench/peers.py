"""Other people's tools to measure against, and to judge what is written, in a place of their own.

As a program: installs into build/peers what can be had, and says what cannot."""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import zipfile

WANTED = ["warcio", "cdxj-indexer", "fastwarc", "pywb", "wacz"]
HERITRIX = "3.13.0"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
HERITRIX_SHA256 = "3376c6ecec719e79df4d97d4c3fd1d55b4300747b9a14355fd635bebc794ac0a"


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


def prepare_heritrix(folder, log):
    """The folder with its jars, which Maven fetches where it is missing. Raises OSError."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise OSError(f"there is no {program} here")
    home = folder / f"heritrix-{HERITRIX}"
    if home.exists():
        return home / "lib"
    log(f"fetching Heritrix {HERITRIX}")
    fetched = folder / "heritrix.new"
    shutil.rmtree(fetched, ignore_errors=True)
    done = subprocess.run(
        ["mvn", "-q", "-B", f"{MAVEN_COPY}:copy", f"-DoutputDirectory={fetched}",
         f"-Dartifact=org.archive.heritrix:heritrix:{HERITRIX}:zip:dist"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"Maven cannot fetch it: {done.stdout[-300:].strip()}")
    packed = fetched / f"{home.name}-dist.zip"
    if hashlib.sha256(packed.read_bytes()).hexdigest() != HERITRIX_SHA256:
        raise OSError(f"{packed} is not the file that it was")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(fetched)
    (fetched / home.name).rename(home)
    shutil.rmtree(fetched)
    return home / "lib"


if __name__ == "__main__":
    prepare(pathlib.Path(__file__).resolve().parent.parent / "build/peers", print)
