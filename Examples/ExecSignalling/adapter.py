#!/usr/bin/env python3
"""Connects chatbot to the rooms of hub.py: exec:'python3 adapter.py tcp://HOST:PORT'.

Lines of JSON on standard input and output are chatbot's, those of the TCP connection the server's.
"""
import asyncio
import json
import sys
from urllib.parse import urlsplit

LIMIT = 1 << 20  # the largest line


def tell(type, **fields):
    print(json.dumps({"type": type, **fields}), flush=True)


def write(server, **message):
    server.write(json.dumps(message).encode() + b"\n")


async def from_server(reader):
    """What the server says becomes messages for chatbot; returns a sentence when the connection ends."""
    while line := await reader.readline():
        message = json.loads(line)
        match message["kind"]:
            case "welcome":
                # Newcomers offer, so chatbot offers to those who are there, and waits for those who come.
                tell("joined", id=message["you"], participants=message["members"])
            case "arrived":
                tell("participantJoined", id=message["id"], name=message["name"])
            case "left":
                tell("participantLeft", id=message["id"])
            case "relayed":
                tell(**{**message["message"], "from": message["sender"]})
    return "The server has closed the connection."


async def from_chatbot(lines, server):
    """What chatbot says goes to the server; returns when we shall leave."""
    hello = {}
    while line := await lines.readline():
        message = json.loads(line)
        match message["type"]:
            case "hello":
                hello = message
                tell("hello", version=1, capabilities={"announcesLostParticipants": True})
            case "join":
                write(server, room=hello.get("room", "lobby"), name=hello.get("user", "chatbot"))
            case "offer" | "answer" | "candidate":
                write(server, to=message.pop("to"), message=message)
            case "leave":
                return


async def main():
    address = urlsplit(sys.argv[1])
    try:
        reader, server = await asyncio.open_connection(address.hostname, address.port, limit=LIMIT)
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be reached: {error}")
    lines = asyncio.StreamReader(limit=LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tasks = [asyncio.create_task(from_server(reader)), asyncio.create_task(from_chatbot(lines, server))]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    # A sentence becomes the last line of standard error, with which chatbot says why it starts us again.
    sys.exit(done.pop().result())


asyncio.run(main())
