"""Publishes video of a turned camera in a room of Janus with aiortc: see README.md for its input and output."""

import argparse
import asyncio
import json
import secrets
import sys

import aiohttp
import turned_camera
from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription

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
turned_camera.install([int(value) for value in options.orientations.split(",")], options.frames)

def write(line):
    print(json.dumps(line), flush=True)


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
    transceiver = connection.addTransceiver(turned_camera.Camera(), direction="sendonly")
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
            identifiers = [line for line in answer["jsep"]["sdp"].split("\r\n") if line.endswith(turned_camera.ORIENTATION)]
            write({"published": True, "extension": int(identifiers[0].split(":")[1].split()[0]) if identifiers else None})
            # Until standard input ends.
            await asyncio.get_event_loop().run_in_executor(None, sys.stdin.read)
            await janus.ask({"request": "leave"})
            await connection.close()
            reading.cancel()


asyncio.run(main())
