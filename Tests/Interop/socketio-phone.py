"""A phone that calls or is called through a Socket.IO server: see README.md for its input and output."""

import argparse
import asyncio
import json
import os
import sys

import socketio
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError
from aiortc.sdp import candidate_from_sdp

from paced_camera import PacedCamera

# python-socketio 4 passes coroutines to asyncio.wait, which Python 3.11 and later refuse.
_wait = asyncio.wait


def wait_for_coroutines(awaitables, **arguments):
    return _wait([asyncio.ensure_future(awaitable) for awaitable in awaitables], **arguments)


asyncio.wait = wait_for_coroutines

parser = argparse.ArgumentParser()
parser.add_argument("server", help="for example http://127.0.0.1:9012")
parser.add_argument("name", help="the name of this user")
parser.add_argument("--call", default="", help="a user to call; without one, the phone waits")
parser.add_argument("--video", action="store_true", help="send video too")
parser.add_argument("--busy", type=int, default=0, help="the number of calls to refuse before one is accepted")
parser.add_argument("--silent", action="store_true", help="do not answer calls")
parser.add_argument("--cancel", action="store_true", help="hang up instead of sending the offer")
options = parser.parse_args()

client = socketio.AsyncClient(reconnection=True, reconnection_delay=1, reconnection_delay_max=2)
calls = {}  # user -> Call
counts = {"received": {"video": 0, "audio": 0}}
refusals = options.busy


def write(line):
    print(json.dumps(line), flush=True)


async def send(event, fields):
    await client.emit(event, json.dumps(fields))


class MovingBar(PacedCamera):
    """A moving bar."""

    def paint(self, frame):
        left = self.number * 8 % 300
        row = bytearray([60] * frame.planes[0].line_size)
        row[left : left + 20] = [200] * 20
        frame.planes[0].update(bytes(row) * 240)
        for plane in frame.planes[1:]:
            plane.update(bytes([128]) * plane.buffer_size)


class Call:
    """A peer connection, a new one for each call."""

    def __init__(self, user):
        self.user = user
        self.connection = RTCPeerConnection()
        self.tasks = []

        @self.connection.on("track")
        def on_track(track):
            self.tasks.append(asyncio.ensure_future(self.count(track)))

        @self.connection.on("connectionstatechange")
        def on_state():
            write({"call": user, "state": self.connection.connectionState})

    async def count(self, track):
        while True:
            try:
                await track.recv()
            except MediaStreamError:
                return
            counts["received"][track.kind] += 1

    def add_tracks(self):
        # An answer has only what the offer has.
        offered = {transceiver.kind for transceiver in self.connection.getTransceivers()}
        if all(sender.track is None for sender in self.connection.getSenders()):
            self.connection.addTrack(AudioStreamTrack())
            if options.video and (not offered or "video" in offered):
                self.connection.addTrack(MovingBar())

    async def offer(self):
        self.add_tracks()
        await self.connection.setLocalDescription(await self.connection.createOffer())
        await send("offer", {"to": self.user, "type": "offer", "sdp": self.connection.localDescription.sdp})

    async def answer(self, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        self.add_tracks()
        # The answer is sent when all candidates are gathered, and contains them.
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        await send("answer", {"to": self.user, "type": "answer", "sdp": self.connection.localDescription.sdp})

    async def close(self):
        await self.connection.close()
        for task in self.tasks:
            task.cancel()


async def end(user):
    call = calls.pop(user, None)
    if call is not None:
        await call.close()


@client.on("connect")
async def on_connect():
    await send("login", {"username": options.name})


@client.on("login")
async def on_login(reply):
    write({"login": reply["success"]})
    if reply["success"] and options.call and options.call not in calls:
        await send("call_request", {"ids": [options.call]})


@client.on("call_request")
async def on_call_request(argument):
    global refusals
    user = json.loads(argument)["from"]
    write({"event": "call_request", "from": user})
    if options.silent:
        return
    if refusals > 0:
        refusals -= 1
        await send("call_response", {"to": user, "response": "false"})
        return
    await end(user)
    calls[user] = Call(user)
    await send("call_response", {"to": user, "response": "true"})


@client.on("call_response")
async def on_call_response(argument):
    fields = json.loads(argument)
    user = fields["from"]
    write({"event": "call_response", "from": user, "response": int(fields["response"])})
    if int(fields["response"]) == 0:
        return
    if options.cancel:
        await send("disconnectpeer", {"to": user})
        return
    calls[user] = Call(user)
    await calls[user].offer()


@client.on("offer")
async def on_offer(argument):
    fields = json.loads(argument)
    write({"event": "offer", "from": fields["from"]})
    if fields["from"] in calls:
        await calls[fields["from"]].answer(fields["sdp"])


@client.on("answer")
async def on_answer(argument):
    fields = json.loads(argument)
    write({"event": "answer", "from": fields["from"], "candidates": fields["sdp"].count("a=candidate")})
    if fields["from"] in calls:
        await calls[fields["from"]].connection.setRemoteDescription(RTCSessionDescription(fields["sdp"], "answer"))


@client.on("ice")
async def on_ice(argument):
    fields = json.loads(argument)
    if fields["from"] not in calls:
        return
    candidate = candidate_from_sdp(fields["candidate"].split(":", 1)[1])
    candidate.sdpMid = fields["sdpMid"]
    candidate.sdpMLineIndex = int(fields["sdpMLineIndex"])
    await calls[fields["from"]].connection.addIceCandidate(candidate)


@client.on("disconnectpeer")
async def on_disconnectpeer(argument):
    user = json.loads(argument)["from"]
    write({"event": "disconnectpeer", "from": user})
    await end(user)


async def report():
    while True:
        await asyncio.sleep(0.25)
        write(counts)


async def leave():
    for user in list(calls):
        await end(user)
        await send("disconnectpeer", {"to": user})
    # What was sent last is still queued.
    await asyncio.sleep(0.2)
    await client.disconnect()


async def main():
    await client.connect(options.server, transports=["websocket"])
    reporting = asyncio.ensure_future(report())
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_event_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # A line is a command; the phone ends with its input.
    async for text in reader:
        line = json.loads(text)
        if "call" in line:
            await send("call_request", {"ids": [line["call"]]})
        elif "hangUp" in line:
            await end(line["hangUp"])
            await send("disconnectpeer", {"to": line["hangUp"]})
    reporting.cancel()
    try:
        await asyncio.wait_for(leave(), 3)
    finally:
        # Without its server, the client would try to reconnect for ever.
        os._exit(0)


asyncio.run(main())
