"""One call with GStreamer's webrtcbin: see README.md for its input and output."""

import json
import re
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

Gst.init(None)
loop = GLib.MainLoop()
counts = {"received": {"video": 0, "audio": 0}, "sent": {"video": 0, "audio": 0}}
DESCRIPTION = """
webrtcbin name=peer bundle-policy=max-bundle latency=50
videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=240,framerate=15/1
  ! vp8enc deadline=1 cpu-used=8 keyframe-max-dist=60 target-bitrate=300000 ! identity name=video signal-handoffs=true
  ! rtpvp8pay picture-id-mode=15-bit ! application/x-rtp,media=video,encoding-name=VP8,payload={video} ! peer.
audiotestsrc is-live=true wave=ticks ! audio/x-raw,rate=48000,channels=1 ! opusenc ! identity name=audio signal-handoffs=true
  ! rtpopuspay ! application/x-rtp,media=audio,encoding-name=OPUS,payload={audio} ! peer.
"""


output = threading.Lock()


def write(line):
    with output:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Peer:
    def __init__(self):
        self.pipeline = None
        self.waiting = []

    def begin(self, offer=None):
        """Creates the pipeline. An answer must use the payload types of the offer."""
        types = {"video": 96, "audio": 111}
        for kind, name in (("video", "VP8"), ("audio", "opus")):
            found = re.search(rf"a=rtpmap:(\d+) {name}/", offer or "", re.IGNORECASE)
            if found:
                types[kind] = int(found.group(1))
        self.pipeline = Gst.parse_launch(DESCRIPTION.format(**types))
        self.peer = self.pipeline.get_by_name("peer")
        for kind in ("video", "audio"):
            self.pipeline.get_by_name(kind).connect("handoff", lambda *_, kind=kind: self.count("sent", kind))
        self.peer.connect("on-ice-candidate", self.on_candidate)
        self.peer.connect("pad-added", self.on_pad)
        self.peer.connect("notify::connection-state", self.on_state)
        self.pipeline.set_state(Gst.State.PLAYING)

    @staticmethod
    def count(way, kind):
        counts[way][kind] += 1

    @staticmethod
    def on_candidate(_, index, candidate):
        write({"candidate": candidate, "index": index})

    def on_state(self, peer, _):
        write({"state": peer.get_property("connection-state").value_nick})

    def on_pad(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        decoder = "rtpvp8depay ! vp8dec" if kind == "video" else "rtpopusdepay ! opusdec"
        bin = Gst.parse_bin_from_description(f"queue ! {decoder} ! fakesink name=sink signal-handoffs=true", True)
        bin.get_by_name("sink").connect("handoff", lambda *_: self.count("received", kind))
        self.pipeline.add(bin)
        bin.sync_state_with_parent()
        pad.link(bin.sinks[0] if hasattr(bin, "sinks") else bin.get_static_pad("sink"))

    def create(self, kind):
        promise = Gst.Promise.new()
        self.peer.emit(f"create-{kind}", None, promise)
        promise.wait()
        # The description belongs to the reply and lives as long as it.
        reply = promise.get_reply()
        if not reply.has_field(kind):
            raise RuntimeError(reply.to_string())
        description = reply.get_value(kind)
        text = description.sdp.as_text()
        done = Gst.Promise.new()
        self.peer.emit("set-local-description", description, done)
        done.wait()
        write({"type": kind, "sdp": text})
        return False

    def set_remote(self, kind, sdp):
        _, message = GstSdp.SDPMessage.new()
        GstSdp.sdp_message_parse_buffer(sdp.encode(), message)
        types = {"offer": GstWebRTC.WebRTCSDPType.OFFER, "answer": GstWebRTC.WebRTCSDPType.ANSWER}
        description = GstWebRTC.WebRTCSessionDescription.new(types[kind], message)
        done = Gst.Promise.new()
        self.peer.emit("set-remote-description", description, done)
        done.wait()

    def take(self, line):
        if line.get("call"):
            self.begin()
            # The pads of the sources get their caps a little later.
            GLib.timeout_add(200, lambda: self.create("offer"))
        elif line.get("type") == "offer":
            self.begin(line["sdp"])
            GLib.timeout_add(200, lambda: self.answer(line["sdp"]))
        elif line.get("type") == "answer":
            self.set_remote("answer", line["sdp"])
        elif line.get("candidate"):
            self.waiting.append(line)
            GLib.timeout_add(300, self.flush)

    def answer(self, offer):
        self.set_remote("offer", offer)
        return self.create("answer")

    def flush(self):
        for line in self.waiting:
            self.peer.emit("add-ice-candidate", line.get("index") or 0, line["candidate"])
        self.waiting = []
        return False


def read(peer):
    for text in sys.stdin:
        line = json.loads(text)
        GLib.idle_add(lambda line=line: peer.take(line) and False)
    GLib.idle_add(loop.quit)


def report():
    write(counts)
    return True


peer = Peer()
GLib.timeout_add(100, report)
threading.Thread(target=read, args=(peer,), daemon=True).start()
loop.run()
if peer.pipeline:
    peer.pipeline.set_state(Gst.State.NULL)
