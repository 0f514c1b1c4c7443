"""A Socket.IO server that relays calls between users, as README.md says. Works with python-socketio 4 and 5."""

import argparse
import asyncio
import json
import sys

import socketio
from aiohttp import web

# python-socketio 4 passes coroutines to asyncio.wait, which Python 3.11 and later refuse.
_wait = asyncio.wait


def wait_for_coroutines(awaitables, **arguments):
    return _wait([asyncio.ensure_future(awaitable) for awaitable in awaitables], **arguments)


asyncio.wait = wait_for_coroutines

parser = argparse.ArgumentParser()
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--refuse", default="", help="a user whose login is refused")
parser.add_argument("--polling-only", action="store_true", help="refuse WebSockets")
parser.add_argument("--ice-servers", default="", help="a list of RTCIceServer in JSON, for the reply to a login")
parser.add_argument("--ping-interval", type=int, default=25)
parser.add_argument("--ping-timeout", type=int, default=60)
options = parser.parse_args()

server = socketio.AsyncServer(
    async_mode="aiohttp",
    cors_allowed_origins="*",
    # A hang-up must be relayed before the end of the connection is handled.
    async_handlers=False,
    ping_interval=options.ping_interval,
    ping_timeout=options.ping_timeout,
    allow_upgrades=not options.polling_only,
)
names = {}  # connection -> user
connections = {}  # user -> connection


def write(line):
    print(json.dumps(line), flush=True)


def read(argument):
    """Clients send one string that holds JSON."""
    try:
        return json.loads(argument) if isinstance(argument, str) else argument
    except ValueError:
        return {}


async def send(event, user, fields):
    await server.emit(event, json.dumps(fields), room=connections[user])


@server.on("connect")
async def on_connect(connection, environ):
    write({"connected": environ.get("QUERY_STRING", "")})


@server.on("disconnect")
async def on_disconnect(connection, *reason):
    user = names.pop(connection, None)
    if user is not None and connections.get(user) == connection:
        del connections[user]
        write({"left": user})


@server.on("login")
async def on_login(connection, argument):
    user = str(read(argument).get("username", ""))
    accepted = user != "" and user != options.refuse
    if accepted:
        names[connection] = user
        connections[user] = connection
    write({"login": user, "success": accepted})
    # The reply is an object, all other messages are strings.
    reply = {"success": accepted}
    if accepted and options.ice_servers:
        reply["iceServers"] = json.loads(options.ice_servers)
    await server.emit("login", reply, room=connection)


@server.on("call_request")
async def on_call_request(connection, argument):
    fields = read(argument)
    ids = fields.get("ids", []) if isinstance(fields, dict) else fields
    for user in map(str, ids):
        write({"event": "call_request", "from": names.get(connection), "to": user})
        if user in connections:
            await send("call_request", user, {"from": names.get(connection)})
        else:
            await server.emit("call_response", json.dumps({"from": user, "response": 0}), room=connection)


def relay(event):
    async def on_event(connection, argument):
        fields = read(argument)
        user = str(fields.pop("to", ""))
        fields["from"] = names.get(connection)
        write({"event": event, "from": fields["from"], "to": user, "response": fields.get("response")})
        if event == "call_response":
            fields["response"] = 1 if str(fields.get("response")).lower() in ("true", "1") else 0
        if user in connections:
            await send(event, user, fields)

    server.on(event, on_event)


for event in ("call_response", "offer", "answer", "ice", "disconnectpeer"):
    relay(event)


@web.middleware
async def refuse_web_sockets(request, handler):
    if options.polling_only and request.headers.get("Upgrade", "").lower() == "websocket":
        return web.Response(status=400, text='{"code":3,"message":"Bad request"}')
    return await handler(request)


async def main():
    application = web.Application(middlewares=[refuse_web_sockets])
    server.attach(application)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, options.host, options.port, reuse_address=True)
    await site.start()
    write({"listening": site._server.sockets[0].getsockname()[1]})
    # The server ends with the test that started it.
    await asyncio.get_event_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
