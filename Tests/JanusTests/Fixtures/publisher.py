"""Publishes a tone and a picture in a room of a Janus server, until standard input ends.

Usage: publisher.py URL ROOM NAME. It prints its feed's id when the server has the media's connection.
"""

import asyncio
import json
import sys

import aiohttp
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack


async def main(url, room, name):
    room = int(room) if room.isdigit() else room
    async with aiohttp.ClientSession() as http:
        socket = await http.ws_connect(url, protocols=("janus-protocol",))
        session = {}
        number = 0

        async def request(message):
            nonlocal number
            number += 1
            await socket.send_json({**message, **session, "transaction": str(number)})
            while True:
                answer = await asyncio.wait_for(socket.receive_json(), 10)
                if answer.get("transaction") == str(number) and answer["janus"] != "ack":
                    return answer

        session["session_id"] = (await request({"janus": "create"}))["data"]["id"]
        handle = (await request({"janus": "attach", "plugin": "janus.plugin.videoroom"}))["data"]["id"]

        async def ask(body, jsep=None):
            message = {"janus": "message", "handle_id": handle, "body": body}
            if jsep:
                message["jsep"] = jsep
            return await request(message)

        joined = await ask({"request": "join", "ptype": "publisher", "room": room, "display": name})
        peer = RTCPeerConnection()
        peer.addTrack(AudioStreamTrack())
        peer.addTrack(VideoStreamTrack())
        await peer.setLocalDescription(await peer.createOffer())
        answer = await ask({"request": "publish"}, {"type": "offer", "sdp": peer.localDescription.sdp})
        await peer.setRemoteDescription(RTCSessionDescription(answer["jsep"]["sdp"], "answer"))
        while (await asyncio.wait_for(socket.receive_json(), 20))["janus"] != "webrtcup":
            pass
        print(joined["plugindata"]["data"]["id"], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await ask({"request": "leave"})
        await peer.close()
        await socket.close()


asyncio.run(main(*sys.argv[1:]))
