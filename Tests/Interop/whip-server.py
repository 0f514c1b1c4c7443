"""A WHIP and WHEP server with aiortc and aiohttp, for the tests of WHIPTests.

It listens on 127.0.0.1, prints {"port": N} and then one line of JSON for each event:
{"request": "POST /whip/a", "status": 201}, {"state": "connected"}, {"received": {"video": 3, "audio": 10}}.
It ends when its standard input does. With --orientations 1,0 players see a turned camera, whose frames state their orientation; each lasts
60 frames, and the last one stays.

The last word of an endpoint's path selects what the server does:
  plain      201 with a relative Location, an ETag and a Link
  redirect   307 to plain
  overload   503 with Retry-After: 1 once, then like plain
  counter    WHEP only: 406 with an offer of its own
  token      401 without the bearer token "s3cret"
  notrickle  like plain, but candidates are refused with 405
  gone       like plain, but the session does not exist for the first PATCH
"""

import argparse
import asyncio
import json
import secrets
import sys

from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, VideoStreamTrack
from aiortc.sdp import candidate_from_sdp

LINK = '<stun:127.0.0.1:9>; rel="ice-server", <turn:127.0.0.1:9?transport=udp>; rel="ice-server"; ' \
    'username="user, \\"u\\""; credential="c"; credential-type="password"'


parser = argparse.ArgumentParser()
parser.add_argument("--orientations")
arguments = parser.parse_args()
if arguments.orientations:
    import turned_camera

    turned_camera.install([int(value) for value in arguments.orientations.split(",")], 60)


def write(line):
    print(json.dumps(line), flush=True)


class Session:
    def __init__(self, kind):
        self.id = secrets.token_hex(8)
        self.kind = kind
        self.etag = '"' + secrets.token_hex(4) + '"'
        self.pc = RTCPeerConnection()
        self.received = {"video": 0, "audio": 0}
        self.candidates = 0
        self.pc.on("connectionstatechange", lambda: write({"state": self.pc.connectionState}))
        self.pc.on("track", self.consume)

    def consume(self, track):
        async def read():
            try:
                while True:
                    await track.recv()
                    self.received[track.kind] += 1
                    write({"received": self.received})
            except MediaStreamError:
                pass

        asyncio.ensure_future(read())

    def add_media(self):
        self.pc.addTrack(AudioStreamTrack())
        self.pc.addTrack(turned_camera.Camera() if arguments.orientations else VideoStreamTrack())


sessions = {}
overloaded = set()


async def post(request):
    role, kind = request.path.strip("/").split("/")[:2]
    if kind == "redirect":
        return web.Response(status=307, headers={"Location": f"/{role}/plain"})
    if kind == "overload" and role not in overloaded:
        overloaded.add(role)
        return web.Response(status=503, headers={"Retry-After": "1"})
    if kind == "token" and request.headers.get("Authorization") != "Bearer s3cret":
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    if request.content_type != "application/sdp":
        return web.Response(status=415)
    session = Session(kind)
    offer = await request.text()
    if kind == "counter":
        session.add_media()
        await session.pc.setLocalDescription(await session.pc.createOffer())
        status = 406
    else:
        await session.pc.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        if role == "whep":
            session.add_media()
        await session.pc.setLocalDescription(await session.pc.createAnswer())
        status = 201
    sessions[session.id] = session
    return web.Response(
        status=status, text=session.pc.localDescription.sdp,
        headers={"Content-Type": "application/sdp", "Location": f"sessions/{session.id}", "ETag": session.etag,
                 "Link": LINK})


async def patch(request):
    session = sessions.get(request.match_info["id"])
    if session is None or session.kind == "gone":
        return web.Response(status=404)
    body = await request.text()
    if request.content_type == "application/sdp":
        await session.pc.setRemoteDescription(RTCSessionDescription(sdp=body, type="answer"))
        return web.Response(status=204)
    if session.kind == "notrickle":
        return web.Response(status=405)
    if request.headers.get("If-Match") == "*":
        return web.Response(status=501)
    if request.headers.get("If-Match") != session.etag:
        return web.Response(status=412)
    mid = None
    for line in body.splitlines():
        if line.startswith("a=mid:"):
            mid = line[6:]
        elif line.startswith("a=candidate:"):
            candidate = candidate_from_sdp(line[12:])
            candidate.sdpMid = mid
            await session.pc.addIceCandidate(candidate)
            session.candidates += 1
            write({"candidates": session.candidates})
    return web.Response(status=204)


async def delete(request):
    session = sessions.pop(request.match_info["id"], None)
    if session is None:
        return web.Response(status=404)
    await session.pc.close()
    return web.Response(status=200)


async def options(request):
    return web.Response(status=200, headers={"Accept-Post": "application/sdp", "Link": LINK})


@web.middleware
async def report(request, handler):
    response = await handler(request)
    write({"request": f"{request.method} {request.path}", "status": response.status})
    return response


async def main():
    app = web.Application(middlewares=[report])
    for role in ("whip", "whep"):
        app.router.add_post(f"/{role}/{{kind}}", post)
        app.router.add_route("OPTIONS", f"/{role}/{{kind}}", options)
        app.router.add_patch(f"/{role}/sessions/{{id}}", patch)
        app.router.add_delete(f"/{role}/sessions/{{id}}", delete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    write({"port": site._server.sockets[0].getsockname()[1]})
    await asyncio.get_event_loop().run_in_executor(None, sys.stdin.read)
    for session in list(sessions.values()):
        await session.pc.close()
    await runner.cleanup()


asyncio.run(main())
