#!/usr/bin/env python3
"""Delays every frame between two interfaces of this network namespace by the same time, in both directions.

  link-delay.py FIRST SECOND MILLISECONDS

It does what `tc qdisc … netem delay` does, and works with kernels that lack netem. It prints "ready" once it forwards, and ends
with its process. At most 4000 frames wait in each direction; later ones are dropped.
"""

import collections
import selectors
import socket
import sys
import time

ALL_PROTOCOLS = 0x0003
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
LONGEST_QUEUE = 4000


def opened(interface):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    raw.bind((interface, ALL_PROTOCOLS))
    raw.setblocking(False)
    return raw


def main(first, second, milliseconds):
    delay = float(milliseconds) / 1000
    one, other = opened(first), opened(second)
    to = {one: other, other: one}
    # The delay is the same for all, so that the frames leave in the order of their arrival.
    waiting = collections.deque()
    selector = selectors.DefaultSelector()
    for raw in to:
        selector.register(raw, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for key, _ in selector.select(timeout):
            for _ in range(64):
                try:
                    frame = key.fileobj.recv(65536)
                except (BlockingIOError, OSError):
                    break
                if len(waiting) < 2 * LONGEST_QUEUE:
                    waiting.append((time.monotonic() + delay, to[key.fileobj], frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, target, frame = waiting.popleft()
            try:
                target.send(frame)
            except OSError:
                pass  # The interface is down, or the frame is larger than its MTU: it is lost.


main(*sys.argv[1:])
