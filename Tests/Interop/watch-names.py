"""Prints the names that files get below a folder, in the order in which the kernel (inotify) reports them.

Usage: watch-names.py FOLDER     prints "watching", then a path relative to FOLDER for each name; ends when it is killed
"""

import ctypes
import os
import struct
import sys

IN_MOVED_TO, IN_CREATE, IN_ISDIR = 0x80, 0x100, 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
root = sys.argv[1]
watches = {}
inotify = libc.inotify_init()
if inotify < 0:
    sys.exit("inotify is not available: " + os.strerror(ctypes.get_errno()))


def watch(folder, reports):
    """Watches a folder and all below; `reports` whether the names of files that are there already are printed."""
    number = libc.inotify_add_watch(inotify, os.fsencode(folder), IN_MOVED_TO | IN_CREATE)
    if number < 0:
        return
    watches[number] = folder
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.stat().st_ctime_ns):
        if entry.is_dir():
            watch(entry.path, reports)
        elif reports:
            report(entry.path)


seen = set()


def report(path):
    # Files that are still written have names of their own.
    if path in seen or path.endswith(".part"):
        return
    seen.add(path)
    print(os.path.relpath(path, root), flush=True)


watch(root, False)
print("watching", flush=True)
while True:
    data = os.read(inotify, 65536)
    at = 0
    while at < len(data):
        number, mask, _, length = struct.unpack_from("iIII", data, at)
        name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode(errors="surrogateescape")
        at += 16 + length
        path = os.path.join(watches[number], name)
        if mask & IN_ISDIR:
            watch(path, True)
        else:
            report(path)
