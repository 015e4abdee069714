"""Starts what is put under load: volume servers of ours, an NFS server, and the load generator."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

NFS_ADDRESS = "10.77.0.1"
NFS_PORT, MOUNT_PORT = 22049, 22050


class Trouble(Exception):
    """Something that cannot be started here, with the reason."""


# -- A network of our own --

def enter_namespace(arguments):
    """Starts this program again with a private network and a private /run, and returns its exit
    code; or a text that says why that cannot be done."""
    command = ["unshare", "--net", "--mount", "--"]
    try:
        probe = subprocess.run([*command, "true"], capture_output=True, text=True)
    except OSError as error:
        return f"no unshare: {error}"
    if probe.returncode != 0:
        return f"no private network: {probe.stderr.strip()}"
    return subprocess.run([*command, sys.executable, *arguments]).returncode


def set_up_namespace():
    """rpcbind listens on all addresses and writes to /run, so both are private. nfs-ganesha finds
    its address only where there is an interface besides the loopback: one end of a pair is enough.
    Everything between clients and servers goes through the loopback all the same."""
    for words in (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "none", "/run"],
                  ["mkdir", "/run/rpcbind"], ["ip", "link", "set", "lo", "up"],
                  ["ip", "link", "add", "nfs0", "type", "veth", "peer", "name", "nfs1"],
                  ["ip", "addr", "add", f"{NFS_ADDRESS}/24", "dev", "nfs0"],
                  ["ip", "link", "set", "nfs0", "up"], ["ip", "link", "set", "nfs1", "up"]):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            return f"{' '.join(words)}: {done.stderr.strip()}"
    return None


def stop(process):
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# -- Volume servers --

class SteleServers:
    """`volumes` volumes in a fresh store, served by one process or by one each."""

    def __init__(self, program, folder, kind, signature, volumes=1, processes=1):
        self.folder = folder
        self.processes = []
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = [f"v{number + 1}" for number in range(volumes)]
        store = folder / "store"
        for name in names:
            self.call(program, "store", "add-volume", "--store", store, "--kind", kind,
                      "--signature", signature, name)
        shares = [[]] if processes == 1 else [["--volume", name] for name in names]
        lines = []
        for share in shares:
            with (folder / "errors.log").open("a") as errors:
                process = subprocess.Popen(
                    [program, "store", "serve", "--store", store, "--listen", "127.0.0.1:0",
                     *share], stdout=subprocess.PIPE, stderr=errors, text=True)
            self.processes.append(process)
            line = process.stdout.readline()
            if not line:
                raise Trouble("stele store serve: " + (folder / "errors.log").read_text().strip())
            lines.append(line.split())
        ports = {name: line[0].rsplit(":", 1)[1] for line in lines for name in line[1:]}
        self.connector = folder / "connector.xml"
        rows = [f'  <volume name="{name}" state="writable" depth="3" host="127.0.0.1" '
                f'port="{ports[name]}"/>\n' for name in names]
        self.connector.write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<connector version="1" epoch="1" signature="{signature}" placement="modulo">\n'
            + "".join(rows) + "</connector>\n")
        self.target = ["--connector", str(self.connector)]
        self.pids = [process.pid for process in self.processes]

    @staticmethod
    def call(*words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Trouble(f"{' '.join(map(str, words[1:3]))}: {done.stderr.strip()}")

    def close(self):
        for process in self.processes:
            stop(process)
            process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


# -- NFS --

GANESHA = """
NFS_CORE_PARAM {{
  Bind_addr = {address}; NFS_Port = {port}; MNT_Port = {mount_port}; Protocols = 3;
  Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = False;
}}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = {folder}/recovery; }}
EXPORT_DEFAULTS {{ Access_Type = RW; Squash = No_Root_Squash; SecType = sys; }}
EXPORT {{
  Export_Id = 1; Path = {folder}/export; Pseudo = /export; Protocols = 3; Transports = TCP;
  PrivilegedPort = false; FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


class NfsServer:
    """nfs-ganesha with its VFS back end on a fresh directory. With `sync_unlink`, a library that is
    loaded into it, a removed name is durable when the client hears of it; without, it is not."""

    def __init__(self, folder, sync_unlink):
        self.folder = folder
        self.rpcbind = self.ganesha = None
        for program in ("rpcbind", "ganesha.nfsd"):
            if shutil.which(program) is None:
                raise Trouble(f"{program} is not installed (tools/packages-bench-store.txt)")
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("export", "recovery"):
            (folder / name).mkdir(parents=True)
        # Directories below it go to block groups of their own.
        subprocess.run(["chattr", "+T", folder / "export"], capture_output=True)
        self.directories = 0
        config = folder / "ganesha.conf"
        config.write_text(GANESHA.format(address=NFS_ADDRESS, port=NFS_PORT,
                                         mount_port=MOUNT_PORT, folder=folder))
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                 "stderr": subprocess.DEVNULL}
        self.rpcbind = subprocess.Popen(["rpcbind", "-f"], **quiet)
        time.sleep(0.3)
        environment = dict(os.environ)
        if sync_unlink:
            environment["LD_PRELOAD"] = str(sync_unlink)
        log = folder / "ganesha.log"
        self.ganesha = subprocess.Popen(
            ["ganesha.nfsd", "-F", "-f", config, "-L", log, "-p", folder / "ganesha.pid"],
            env=environment, **quiet)
        try:
            self.await_port(log)
        except Trouble:
            self.close()
            raise
        self.pids = [self.ganesha.pid]
        self.target = ["--nfs", self.fresh_directory()]

    def fresh_directory(self):
        """The URL of a new directory. ext4 without a journal does not reuse inodes for a minute,
        and looks at each anew for each file that is made: a directory where files were removed
        would make NFS slow for a reason that is not its own."""
        self.directories += 1
        path = self.folder / "export" / str(self.directories)
        path.mkdir()
        return (f"nfs://{NFS_ADDRESS}{path}?version=3&nfsport={NFS_PORT}"
                f"&mountport={MOUNT_PORT}")

    def await_port(self, log):
        for _ in range(200):
            if self.ganesha.poll() is not None:
                break
            listening = subprocess.run(["ss", "-ltn"], capture_output=True, text=True).stdout
            if f":{NFS_PORT} " in listening and f":{MOUNT_PORT} " in listening:
                return
            time.sleep(0.05)
        tail = log.read_text().splitlines()[-3:] if log.exists() else ["no log"]
        raise Trouble("nfs-ganesha does not start: " + " / ".join(tail))

    def close(self):
        stop(self.ganesha)
        stop(self.rpcbind)
        shutil.rmtree(self.folder, ignore_errors=True)


# -- The load generator --

class Load:
    """Clients of one contender. Its servers end with it."""

    def __init__(self, program, servers, pages, clients, seed):
        self.servers = servers
        words = [str(program), *servers.target, "--pages", str(pages), "--clients", str(clients),
                 "--seed", str(seed)]
        for pid in servers.pids:
            words += ["--server-pid", str(pid)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Trouble(self.process.stderr.read().strip() or "the load generator ended")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        self.servers.close()


def is_traced(pid):
    statuses = pathlib.Path(f"/proc/{pid}/task").glob("*/status")
    return all("TracerPid:\t0\n" not in status.read_text() for status in statuses)


def count_syncs(pids, work):
    """Calls of fsync and its like by these processes while `work` runs, by strace; None without."""
    if shutil.which("strace") is None:
        return None
    output = pathlib.Path(f"/tmp/store-syncs-{os.getpid()}")
    words = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs",
             "-o", str(output)]
    for pid in pids:
        words += ["-p", str(pid)]
    tracer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while tracer.poll() is None and not all(map(is_traced, pids)):
        time.sleep(0.01)
    if tracer.poll() is not None:
        return None
    work()
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    text = output.read_text()
    output.unlink()
    return sum(1 for line in text.splitlines() if "sync" in line and "resumed" not in line)
