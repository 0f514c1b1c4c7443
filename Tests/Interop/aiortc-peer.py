"""One call with aiortc: see README.md for its input and output."""

import argparse
import asyncio
import json
import random
import sys

from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError
from aiortc.sdp import candidate_from_sdp

from paced_camera import PacedCamera

parser = argparse.ArgumentParser()
parser.add_argument("videos", nargs="?", type=int, default=1, help="how many videos are sent")
parser.add_argument("--video", help="the only codec of video, for example H264")
parser.add_argument("--audio", help="the only codec of audio, for example G722")
options = parser.parse_args()

counts = {"received": {"video": 0, "audio": 0}, "sent": {"video": 0, "audio": 0}}


def write(line):
    print(json.dumps(line), flush=True)


class MovingBar(PacedCamera):
    """A moving bar."""

    def paint(self, frame):
        left = self.number * 8 % 300
        for index, plane in enumerate(frame.planes):
            row = bytearray([128 if index else 60]) * plane.line_size
            if not index:
                row[left : left + 20] = bytes([200]) * 20
            plane.update(bytes(row) * plane.height)
        counts["sent"]["video"] += 1


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


class Exchange:
    """Sends messages of mixed sizes and kinds on a data channel and compares what the other side sends back."""

    def __init__(self, channel, count, largest):
        self.channel = channel
        generator = random.Random(1)
        edges = [1, 2, 3, 1199, 1200, 1201, 16384, largest - 1, largest]
        self.sizes = [
            edges[number // 10 % len(edges)] if number % 10 == 0 else max(1, int(largest ** generator.random()))
            for number in range(count)
        ]
        self.returned = 0
        self.error = None
        self.is_done = asyncio.Event()

    def content(self, number):
        size = self.sizes[number]
        return chr(97 + number % 26) * size if number % 3 == 1 else bytes([number % 256]) * size

    def received(self, message):
        if self.returned >= len(self.sizes):
            self.error = "more messages came back than were sent"
        elif message != self.content(self.returned):
            self.error = f"message {self.returned} came back as another, of {len(message)} bytes"
        self.returned += 1
        if self.error or self.returned == len(self.sizes):
            self.is_done.set()

    async def run(self):
        begun = asyncio.get_event_loop().time()
        for number in range(len(self.sizes)):
            while self.channel.bufferedAmount > 1 << 20:
                await asyncio.sleep(0.01)
            self.channel.send(self.content(number))
        await self.is_done.wait()
        # The time in which a message would come back twice.
        seconds = asyncio.get_event_loop().time() - begun
        await asyncio.sleep(0.3)
        result = {"returned": self.returned, "bytes": sum(self.sizes), "seconds": seconds, "error": self.error}
        write({"exchange": result, "label": self.channel.label})


async def main():
    connection = RTCPeerConnection()
    tasks = []
    data = None

    def use(channel):
        write({"channel": channel.label})
        if data.get("messages"):
            exchange = Exchange(channel, data["messages"], data["largest"])
            channel.on("message", exchange.received)
            tasks.append(asyncio.ensure_future(exchange.run()))
        else:

            @channel.on("message")
            def on_message(message):
                write({"message": message})
                if data.get("reply"):
                    channel.send(data["reply"])

    def open_channel():
        if data and data.get("label"):
            channel = connection.createDataChannel(data["label"])
            channel.on("open", lambda: use(channel))

    @connection.on("datachannel")
    def on_datachannel(channel):
        if data and not data.get("label"):
            use(channel)

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
            for _ in range(options.videos):
                connection.addTrack(MovingBar())
        for transceiver in connection.getTransceivers():
            name = options.video if transceiver.kind == "video" else options.audio
            if name:
                known = RTCRtpSender.getCapabilities(transceiver.kind).codecs
                wanted = (f"{transceiver.kind}/{name}".lower(), f"{transceiver.kind}/rtx")
                transceiver.setCodecPreferences([codec for codec in known if codec.mimeType.lower() in wanted])

    tasks.append(asyncio.ensure_future(report()))
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_event_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for text in reader:
        line = json.loads(text)
        if line.get("data"):
            data = line["data"]
        elif line.get("call"):
            add_tracks()
            open_channel()
            await connection.setLocalDescription(await connection.createOffer())
            write({"type": "offer", "sdp": connection.localDescription.sdp})
        elif line.get("type") == "offer":
            if options.video or options.audio:
                # What it prefers must be known when it reads the offer.
                add_tracks()
            await connection.setRemoteDescription(RTCSessionDescription(line["sdp"], "offer"))
            add_tracks()
            open_channel()
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
