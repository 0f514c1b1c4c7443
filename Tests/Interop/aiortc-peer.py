"""One call with aiortc: see README.md for its input and output."""

import asyncio
import fractions
import json
import sys

import numpy
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack
from aiortc.sdp import candidate_from_sdp
from av import VideoFrame

counts = {"received": {"video": 0, "audio": 0}, "sent": {"video": 0, "audio": 0}}


def write(line):
    print(json.dumps(line), flush=True)


class MovingBar(MediaStreamTrack):
    """A moving bar in 320x240 at 15 frames a second."""

    kind = "video"

    def __init__(self):
        super().__init__()
        self.number = 0
        self.begun = None

    async def recv(self):
        loop = asyncio.get_event_loop()
        self.begun = self.begun or loop.time()
        await asyncio.sleep(max(0, self.begun + self.number / 15 - loop.time()))
        pixels = numpy.full((240, 320, 3), 60, numpy.uint8)
        left = self.number * 8 % 300
        pixels[:, left : left + 20] = 200
        frame = VideoFrame.from_ndarray(pixels, format="rgb24")
        frame.pts = self.number * 6000
        frame.time_base = fractions.Fraction(1, 90000)
        self.number += 1
        counts["sent"]["video"] += 1
        return frame


class Silence(AudioStreamTrack):
    async def recv(self):
        counts["sent"]["audio"] += 1
        return await super().recv()


async def count(track):
    while True:
        try:
            await track.recv()
        except MediaStreamError:
            return
        counts["received"][track.kind] += 1


async def main():
    connection = RTCPeerConnection()
    tasks = []

    @connection.on("track")
    def on_track(track):
        tasks.append(asyncio.ensure_future(count(track)))

    @connection.on("connectionstatechange")
    def on_state():
        write({"state": connection.connectionState})

    async def report():
        while True:
            await asyncio.sleep(0.1)
            write(counts)

    def add_tracks():
        if not connection.getSenders() or all(sender.track is None for sender in connection.getSenders()):
            connection.addTrack(Silence())
            connection.addTrack(MovingBar())

    tasks.append(asyncio.ensure_future(report()))
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_event_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for text in reader:
        line = json.loads(text)
        if line.get("call"):
            add_tracks()
            await connection.setLocalDescription(await connection.createOffer())
            write({"type": "offer", "sdp": connection.localDescription.sdp})
        elif line.get("type") == "offer":
            await connection.setRemoteDescription(RTCSessionDescription(line["sdp"], "offer"))
            add_tracks()
            await connection.setLocalDescription(await connection.createAnswer())
            write({"type": "answer", "sdp": connection.localDescription.sdp})
        elif line.get("type") == "answer":
            await connection.setRemoteDescription(RTCSessionDescription(line["sdp"], "answer"))
        elif line.get("candidate"):
            candidate = candidate_from_sdp(line["candidate"].split(":", 1)[1])
            candidate.sdpMid = line.get("mid")
            candidate.sdpMLineIndex = line.get("index")
            await connection.addIceCandidate(candidate)
    await connection.close()
    for task in tasks:
        task.cancel()


asyncio.run(main())
