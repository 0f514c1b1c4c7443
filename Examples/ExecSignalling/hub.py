#!/usr/bin/env python3
"""A room server for adapter.py, as small as possible: lines of JSON over TCP.

hub.py PORT
"""
import asyncio
import json
import sys
import uuid

rooms = {}  # a room's name: the names and writers of the members, by their ids


def send(writer, **message):
    writer.write(json.dumps(message).encode() + b"\n")


async def serve(reader, writer):
    own, members = str(uuid.uuid4()), {}
    try:
        first = json.loads(await reader.readline())
        members = rooms.setdefault(str(first["room"]), {})
        send(writer, kind="welcome", you=own, members=[{"id": id, "name": name} for id, (name, _) in members.items()])
        for _, other in members.values():
            send(other, kind="arrived", id=own, name=str(first["name"]))
        members[own] = (str(first["name"]), writer)
        while line := await reader.readline():
            message = json.loads(line)
            if message["to"] in members:
                send(members[message["to"]][1], kind="relayed", sender=own, message=message["message"])
    except (ValueError, KeyError, TypeError, ConnectionError) as error:
        print(f"{own}: {error!r}", file=sys.stderr)
    finally:
        if members.pop(own, None):
            for _, other in members.values():
                send(other, kind="left", id=own)
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), limit=1 << 20)
    await server.serve_forever()


asyncio.run(main())
