"""Starts programs side by side and tells how long they took and how much memory each held.

A process inherits the memory peak of the one that starts it, also through exec. So a large
program cannot measure a small one; this small one is started in between and does nothing else.

    launcher.py SPEC     {"commands": [[...]], "feed": [...]|null, "output": path, "log": path}

`feed` is a command whose output the first command reads. Prints JSON: seconds, exit_codes and
peaks_kb.
"""

import json
import os
import signal
import sys
import time


def start(command, stdin, stdout, stderr):
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1),
               (os.POSIX_SPAWN_DUP2, stderr, 2)]
    # Python ignores SIGPIPE; the programs get it back, as a shell would start them.
    return os.posix_spawnp(command[0], command, os.environ, file_actions=actions,
                           setsigdef=[signal.SIGPIPE])


def main():
    spec = json.loads(sys.argv[1])
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(spec["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    log = os.open(spec["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    begin = time.monotonic()
    first_input, feeder = nothing, None
    if spec["feed"]:
        first_input, pipe_in = os.pipe()
        feeder = start(spec["feed"], nothing, pipe_in, log)
        os.close(pipe_in)
    children = [start(command, nothing if number else first_input, out, log)
                for number, command in enumerate(spec["commands"])]
    if feeder is not None:
        os.close(first_input)
    ends = [os.wait4(child, 0) for child in children]
    seconds = time.monotonic() - begin
    if feeder is not None:
        os.waitpid(feeder, 0)
    print(json.dumps({"seconds": seconds,
                      "exit_codes": [os.waitstatus_to_exitcode(status) for _, status, _ in ends],
                      "peaks_kb": [usage.ru_maxrss for _, _, usage in ends]}))


if __name__ == "__main__":
    main()
