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

host, _, port = sys.argv[1].rpartition(":")
pick = random.Random(int(sys.argv[2]))
rate, kinds = 0.0, []
counts = {}
ERROR = b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"


async def read_head(reader):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    return head


def field(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


def whole(status, body):
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body


async def serve(reader, writer):
    server = None
    try:
        head = await read_head(reader)
        if head is None:
            return
        kind = pick.choice(kinds) if kinds and pick.random() < rate else None
        if kind == "error200" and not (head.startswith(b"POST") and b"uploadId=" in head.split(b"\r\n")[0]):
            kind = None
        counts[kind] = counts.get(kind, 0) + 1
        length = int(field(head, b"content-length") or 0)
        if kind == "refuse":
            return
        if kind == "delay":
            await asyncio.sleep(pick.random() * 0.3)
        limit = pick.randrange(length + 1) if kind == "cutRequest" else length
        passes_on = kind != "503" and not (kind == "error200" and pick.random() < 0.5)
        if passes_on:
            answers, server = await asyncio.open_connection(host, int(port))
            server.write(head[:-2] + b"Connection: close\r\n\r\n")
        rest = limit
        while rest > 0:
            piece = await reader.read(min(rest, 262144))
            if not piece:
                return
            rest -= len(piece)
            if passes_on:
                server.write(piece)
                await server.drain()
        if kind == "cutRequest":
            return
        if not passes_on:
            writer.write(whole(b"503 Slow Down", b"<Error><Code>SlowDown</Code></Error>") if kind == "503"
                         else whole(b"200 OK", ERROR))
            await writer.drain()
            return
        await server.drain()
        answer = b""
        while True:
            piece = await answers.read(262144)
            if not piece:
                break
            answer += piece
        if kind == "error200":
            answer = whole(b"200 OK", ERROR)
        if kind == "cutAnswer":
            answer = answer[:pick.randrange(len(answer))] if answer else answer
        writer.write(answer)
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        for end in [writer, server]:
            if end is not None:
                end.close()


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
    listening = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    print(json.dumps({"port": listening.sockets[0].getsockname()[1]}), flush=True)
    await commands()


asyncio.run(main())
