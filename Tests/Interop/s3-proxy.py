"""A proxy that fails, delays and cuts requests of HTTP, until its input ends.

Usage: s3-proxy.py SERVER SEED       SERVER is HOST:PORT

Writes {"port": N}. A line of input sets which part of requests is disturbed, from 0 to 1, and how: `0.5 503 delay cutRequest cutAnswer
refuse error200`. Each disturbance is one of the named ones:

503: the answer is 503, and the server is not asked; delay: up to 0.3 s pass before the request is passed on; cutRequest: the connection
ends after some bytes of the request; cutAnswer: the connection ends after some bytes of the answer to a request that was carried out;
refuse: the connection ends at once; error200: the end of an upload is passed on or not, and answered by 200 with an error.
"""
import asyncio
import json
import random
import sys

sys.dont_write_bytecode = True  # Nothing is written into the folder of the tests.
from http_relay import Relay

pick = random.Random(int(sys.argv[2]))
rate, kinds = 0.0, []
counts = {}
ERROR = b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"


def whole(status, body):
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body


async def serve(request, writer):
    kind = pick.choice(kinds) if kinds and pick.random() < rate else None
    if kind == "error200" and not (request.method == "POST" and "uploadId=" in request.target):
        kind = None
    counts[kind] = counts.get(kind, 0) + 1
    if kind == "refuse":
        return
    if kind == "delay":
        await asyncio.sleep(pick.random() * 0.3)
    rest = pick.randrange(request.length + 1) if kind == "cutRequest" else request.length
    passes_on = kind != "503" and not (kind == "error200" and pick.random() < 0.5)
    if passes_on:
        await request.pass_on()
    while rest > 0:
        piece = await request.reader.read(min(rest, 262144))
        if not piece:
            return
        rest -= len(piece)
        if passes_on:
            request.server.write(piece)
            await request.server.drain()
    if kind == "cutRequest":
        return
    if kind == "503":
        answer = whole(b"503 Slow Down", b"<Error><Code>SlowDown</Code></Error>")
    else:
        answer = await request.answer() if passes_on else b""
    if kind == "error200":
        answer = whole(b"200 OK", ERROR)
    if kind == "cutAnswer":
        answer = answer[:pick.randrange(len(answer))] if answer else answer
    writer.write(answer)
    await writer.drain()


async def commands():
    global rate, kinds
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            print(json.dumps({str(kind): count for kind, count in counts.items()}), flush=True)
            return
        words = line.split()
        rate, kinds = float(words[0]), words[1:]
        print(json.dumps({"rate": rate}), flush=True)


async def main():
    print(json.dumps({"port": await Relay(sys.argv[1], serve).listen()}), flush=True)
    await commands()


asyncio.run(main())
