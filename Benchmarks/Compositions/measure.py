"""Runs a command to its end, with all its descendants, also those that outlive their parents.

Usage: measure.py [--first-part FOLDER] COMMAND...

It prints the exit code, the seconds that passed, the seconds of CPU time of all, the greatest memory of all in MiB (each shared page
counted in parts), the greatest niceness of all and the least one, and with --first-part the seconds until FOLDER first held a finished
part; "-" if it never did.
"""
import ctypes
import os
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def tree(process):
    """The process and its descendants."""
    found = [process]
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as children:
                for child in children.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def memory(process):
    try:
        with open(f"/proc/{process}/smaps_rollup") as rollup:
            return next((int(line.split()[1]) for line in rollup if line.startswith("Pss:")), 0) / 1024
    except OSError:
        return 0


def niceness(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[16])
    except (OSError, IndexError):
        return None


def finished(folder):
    """Whether there is a part that has its final name."""
    try:
        return any("part" in name and not name.endswith((".new", ".tmp", ".partial")) for name in os.listdir(folder))
    except OSError:
        return False


def main():
    arguments = sys.argv[1:]
    folder = None
    if arguments[0] == "--first-part":
        folder, arguments = arguments[1], arguments[2:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    begun = time.monotonic()
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    most, first, values, count = 0, None, set(), 0
    while process.poll() is None:
        if count % 10 == 0:
            everybody = tree(process.pid)
            most = max(most, sum(memory(one) for one in everybody))
            # A process that was just started still has the niceness of its parent.
            if count >= 20:
                values |= {niceness(one) for one in everybody} - {None}
        if folder and first is None and finished(folder):
            first = time.monotonic() - begun
        count += 1
        time.sleep(0.05)
    passed = time.monotonic() - begun
    # Orphans are our children now.
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
        except ChildProcessError:
            break
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        process.returncode, f"{passed:.3f}", f"{usage.ru_utime + usage.ru_stime:.3f}", f"{most:.0f}",
        max(values, default="-"), min(values, default="-"), f"{first:.3f}" if first is not None else "-")


main()
