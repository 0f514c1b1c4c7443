"""Publishes video of a turned camera in a room of Janus with aiortc: see README.md for its input and output."""

import argparse
import asyncio
import fractions
import json
import secrets
import struct
import sys

import aiohttp
from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription, rtp
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.mediastreams import MediaStreamTrack
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters
from av import VideoFrame

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("room", type=int)
parser.add_argument("name")
parser.add_argument("--codec", default="VP8")
parser.add_argument(
    "--orientations", default="1", help="the bytes of video-orientation, one after the other, for example 1,0"
)
parser.add_argument("--frames", type=int, default=60, help="how many frames each orientation lasts")
options = parser.parse_args()
orientations = [int(value) for value in options.orientations.split(",")]

ORIENTATION = "urn:3gpp:video-orientation"
SIZE = (320, 240)
# Limited range: red, green, blue and yellow.
COLOURS = [(81, 90, 240), (145, 54, 34), (41, 240, 110), (210, 16, 146)]


def write(line):
    print(json.dumps(line), flush=True)


def orientation(frame):
    return orientations[min(frame // options.frames, len(orientations) - 1)]


class Extension:
    """Which frame a timestamp belongs to."""

    origin = None

    @classmethod
    def byte(cls, packet):
        cls.origin = packet.timestamp if cls.origin is None else cls.origin
        frame = ((packet.timestamp - cls.origin) & 0xFFFFFFFF) // 6000
        return orientation(frame)


# aiortc knows no video-orientation: it is offered, and written into the last packet of each frame.
HEADER_EXTENSIONS["video"].append(RTCRtpHeaderExtensionParameters(id=13, uri=ORIENTATION))
plain_configure, plain_serialize = rtp.HeaderExtensionsMap.configure, rtp.RtpPacket.serialize


def configure(self, parameters):
    plain_configure(self, parameters)
    for extension in parameters.headerExtensions:
        if extension.uri == ORIENTATION:
            self.orientation = extension.id


def serialize(self, extensions_map=rtp.HeaderExtensionsMap()):
    data = plain_serialize(self, extensions_map)
    identifier = getattr(extensions_map, "orientation", None)
    if identifier is None or not self.marker:
        return data
    element = bytes([identifier << 4, Extension.byte(self)])
    if data[0] & 0x10:
        profile, words = struct.unpack("!HH", data[12:16])
        assert profile == 0xBEDE
        end = 16 + 4 * words
        value = data[16:end].rstrip(b"\0") + element
    else:
        end, value = 12, element
    value += bytes(-len(value) % 4)
    return bytes([data[0] | 0x10]) + data[1:12] + struct.pack("!HH", 0xBEDE, len(value) // 4) + value + data[end:]


rtp.HeaderExtensionsMap.configure, rtp.RtpPacket.serialize = configure, serialize


def corners(byte):
    """The colours of the corners of what the camera sends: top left, top right, bottom left, bottom right.

    Upright they are red, green, blue, yellow.
    """
    a, b, c, d = COLOURS
    if byte & 4:
        a, b, c, d = b, a, d, c
    for _ in range(byte & 3):
        # What a receiver turns clockwise was turned the other way round.
        a, b, c, d = b, d, a, c
    return a, b, c, d


class Camera(MediaStreamTrack):
    """Four colours in 320x240 at 15 frames a second, as a turned camera sees them."""

    kind = "video"

    def __init__(self):
        super().__init__()
        self.number = 0
        self.begun = None

    async def recv(self):
        loop = asyncio.get_event_loop()
        self.begun = self.begun or loop.time()
        await asyncio.sleep(max(0, self.begun + self.number / 15 - loop.time()))
        width, height = SIZE
        frame = VideoFrame(width, height, "yuv420p")
        quarters = corners(orientation(self.number))
        for index, plane in enumerate(frame.planes):
            half = plane.width // 2
            rows = []
            for left, right in (quarters[:2], quarters[2:]):
                row = bytes([left[index]]) * half + bytes([right[index]]) * (plane.line_size - half)
                rows += [row] * (plane.height // 2)
            plane.update(b"".join(rows))
        frame.pts = self.number * 6000
        frame.time_base = fractions.Fraction(1, 90000)
        self.number += 1
        return frame


class Janus:
    """The WebSocket API of Janus."""

    def __init__(self, socket):
        self.socket, self.ids, self.waiting = socket, {}, {}

    async def read(self):
        async for message in self.socket:
            answer = json.loads(message.data)
            if answer["janus"] != "ack" and answer.get("transaction") in self.waiting:
                self.waiting.pop(answer["transaction"]).set_result(answer)

    async def request(self, message):
        transaction = secrets.token_hex(8)
        self.waiting[transaction] = asyncio.get_event_loop().create_future()
        answer = self.waiting[transaction]
        await self.socket.send_str(json.dumps({**message, **self.ids, "transaction": transaction}))
        return await asyncio.wait_for(answer, 10)

    async def ask(self, body, jsep=None):
        message = {"janus": "message", "body": body}
        answer = await self.request({**message, "jsep": jsep} if jsep else message)
        error = answer.get("plugindata", {}).get("data", {}).get("error")
        if error:
            raise RuntimeError(error)
        return answer


async def main():
    connection = RTCPeerConnection()
    transceiver = connection.addTransceiver(Camera(), direction="sendonly")
    codecs = RTCRtpSender.getCapabilities("video").codecs
    transceiver.setCodecPreferences([codec for codec in codecs if codec.mimeType.upper() == f"VIDEO/{options.codec}"])

    @connection.on("connectionstatechange")
    def on_state():
        write({"state": connection.connectionState})

    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(options.url, protocols=("janus-protocol",)) as socket:
            janus = Janus(socket)
            reading = asyncio.ensure_future(janus.read())
            janus.ids["session_id"] = (await janus.request({"janus": "create"}))["data"]["id"]
            attached = await janus.request({"janus": "attach", "plugin": "janus.plugin.videoroom"})
            janus.ids["handle_id"] = attached["data"]["id"]
            await janus.ask(
                {"request": "join", "ptype": "publisher", "room": options.room, "display": options.name}
            )
            # With all candidates.
            await connection.setLocalDescription(await connection.createOffer())
            offer = {"type": "offer", "sdp": connection.localDescription.sdp}
            answer = await janus.ask({"request": "publish"}, offer)
            await connection.setRemoteDescription(RTCSessionDescription(answer["jsep"]["sdp"], "answer"))
            identifiers = [line for line in answer["jsep"]["sdp"].split("\r\n") if line.endswith(ORIENTATION)]
            write({"published": True, "extension": int(identifiers[0].split(":")[1].split()[0]) if identifiers else None})
            # Until standard input ends.
            await asyncio.get_event_loop().run_in_executor(None, sys.stdin.read)
            await janus.ask({"request": "leave"})
            await connection.close()
            reading.cancel()


asyncio.run(main())
