"""One call with GStreamer's webrtcbin: see README.md for its input and output."""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

import pattern  # noqa: E402

Gst.init(None)
loop = GLib.MainLoop()
counts = {"received": {"video": 0, "audio": 0}, "sent": {"video": 0, "audio": 0}}

# For each encoder: the format's name, clock rate and payload type in our offers, the encoder, the payloader.
VIDEO = {
    "vp8enc": (
        "VP8", 90000, 96, "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=60 target-bitrate=300000",
        "rtpvp8pay picture-id-mode=15-bit",
    ),
    "openh264enc": (
        "H264", 90000, 102, "openh264enc complexity=low gop-size=60 bitrate=300000",
        "rtph264pay aggregate-mode=zero-latency config-interval=-1",
    ),
    "x264enc": (
        "H264", 90000, 102,
        "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=60 bitrate=300 ! video/x-h264,profile=main",
        "rtph264pay aggregate-mode=none config-interval=-1",
    ),
    # Two frames of three refer to a later one, and are sent after it.
    "x264enc-reordering": (
        "H264", 90000, 102,
        "x264enc speed-preset=ultrafast threads=1 bframes=2 b-adapt=false rc-lookahead=4 sync-lookahead=0 key-int-max=45"
        " bitrate=600 ! video/x-h264,profile=main",
        "rtph264pay aggregate-mode=zero-latency config-interval=-1",
    ),
    "x265enc": (
        "H265", 90000, 104,
        "x265enc speed-preset=ultrafast key-int-max=45 bitrate=600 log-level=none"
        " option-string=bframes=2:b-adapt=0:rc-lookahead=5:frame-threads=1:pools=1",
        "rtph265pay aggregate-mode=zero-latency config-interval=-1",
    ),
    # What FFmpeg's RTP muxer writes is received from a socket.
    "ffmpeg-av1": ("AV1", 90000, 98, None, None),
    "ffmpeg-hevc": ("H265", 90000, 104, None, None),
}
AUDIO = {
    "opusenc": ("OPUS", 48000, 111, "audio/x-raw,rate=48000,channels=1 ! opusenc", "rtpopuspay"),
    "mulawenc": ("PCMU", 8000, 0, "audio/x-raw,rate=8000,channels=1 ! mulawenc", "rtppcmupay max-ptime=20000000"),
    "alawenc": ("PCMA", 8000, 8, "audio/x-raw,rate=8000,channels=1 ! alawenc", "rtppcmapay max-ptime=20000000"),
}
DECODERS = {
    "VP8": "rtpvp8depay ! vp8dec",
    "H264": "rtph264depay ! h264parse ! openh264dec",
    "H265": "rtph265depay",
    "OPUS": "rtpopusdepay ! opusdec",
    "PCMU": "rtppcmudepay ! mulawdec",
    "PCMA": "rtppcmadepay ! alawdec",
}
parser = argparse.ArgumentParser()
parser.add_argument("--video", choices=VIDEO, default="vp8enc", help="the element that encodes the video")
parser.add_argument("--audio", choices=AUDIO, default="opusenc", help="the element that encodes the audio")
parser.add_argument("--red", action="store_true", help="send audio with copies of earlier packets")
parser.add_argument("--pattern", action="store_true", help="the video is the test pattern, with each frame's number")
parser.add_argument("--decoding-times", action="store_true", help="timestamps are the times of decoding, which only grow")
parser.add_argument("--ffmpeg-python", default=sys.executable, help="the interpreter whose package av sends ffmpeg-av1 or ffmpeg-hevc")
options = parser.parse_args()
# The payload type of RED in our offers.
RED = 63
WIDTH, HEIGHT, RATE = 320, 240, 15


def description(types):
    """The pipeline with these payload types."""
    name, clock, _, encoder, payloader = VIDEO[options.video]
    parameters = ",packetization-mode=(string)1" if name == "H264" else ""
    format = f"application/x-rtp,media=video,encoding-name={name},clock-rate={clock}"
    format += f",payload={types['video']}{parameters}"
    raw = f"video/x-raw,width={WIDTH},height={HEIGHT},framerate={RATE}/1,format=I420"
    counted = "identity name=video signal-handoffs=true"
    if not encoder:
        format += f",ssrc=(uint){types['ssrc']}"
        video = f'udpsrc name=packets address=127.0.0.1 port=0 buffer-size=1000000 caps="{format}" ! {counted} ! peer.'
    else:
        source = "appsrc name=painter is-live=true format=time" if options.pattern else "videotestsrc is-live=true pattern=ball"
        video = f"{source} ! {raw} ! {encoder} ! {counted} ! {payloader} ! {format} ! peer."
    name, clock, _, encoder, payloader = AUDIO[options.audio]
    format = f"application/x-rtp,media=audio,clock-rate={clock}"
    audio = f"audiotestsrc is-live=true wave=ticks ! audioconvert ! audioresample ! {encoder}"
    audio += f" ! {payloader} ! identity name=audio signal-handoffs=true"
    audio += f" ! {format},encoding-name={name},payload={types['audio']}"
    if options.red:
        audio += f" ! rtpredenc pt={types['red']} distance=1 allow-no-red-blocks=true"
        audio += f" ! capssetter caps={format},encoding-name={name},payload={types['red']}"
    return f"webrtcbin name=peer bundle-policy=max-bundle latency=50 {video} {audio} ! peer."


output = threading.Lock()


def write(line):
    with output:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Peer:
    def __init__(self):
        self.pipeline = None
        self.waiting = []
        self.sender = None
        self.first = None

    def begin(self, offer=None):
        """Creates the pipeline. An answer must use the payload types of the offer."""
        video, audio = VIDEO[options.video], AUDIO[options.audio]
        types = {"video": video[2], "audio": audio[2], "red": RED, "ssrc": random.getrandbits(31)}
        for kind, name in (("video", video[0]), ("audio", audio[0]), ("red", "red")):
            found = re.search(rf"a=rtpmap:(\d+) {name}/", offer or "", re.IGNORECASE)
            if found:
                types[kind] = int(found.group(1))
        self.types = types
        self.pipeline = Gst.parse_launch(description(types))
        self.peer = self.pipeline.get_by_name("peer")
        self.pipeline.get_by_name("audio").connect("handoff", lambda *_: self.count("sent", "audio"))
        self.pipeline.get_by_name("video").connect("handoff", self.on_video)
        self.peer.connect("on-ice-candidate", self.on_candidate)
        self.peer.connect("pad-added", self.on_pad)
        self.peer.connect("notify::connection-state", self.on_state)
        self.pipeline.get_bus().add_signal_watch()
        self.pipeline.get_bus().connect("message::latency", lambda *_: self.pipeline.recalculate_latency())
        self.pipeline.set_state(Gst.State.PLAYING)

    def paint(self):
        """Paints a frame each fifteenth of a second, at the time that its buffer states."""
        painter = self.pipeline.get_by_name("painter")
        first = self.pipeline.get_clock().get_time() - self.pipeline.get_base_time()
        begun, number = time.time(), 0
        while True:
            when = begun + number / RATE
            time.sleep(max(0, when - time.time()))
            buffer = Gst.Buffer.new_wrapped(pattern.paint(number, when, WIDTH, HEIGHT))
            buffer.pts = first + number * Gst.SECOND // RATE
            buffer.duration = Gst.SECOND // RATE
            if painter.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return
            number += 1

    def send(self):
        """Starts FFmpeg, whose packets are received from a socket."""
        codec = options.video.split("-")[1]
        port = self.pipeline.get_by_name("packets").get_property("port")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ffmpeg-rtp.py")
        arguments = ["--payload-type", self.types["video"], "--ssrc", self.types["ssrc"], "--size", WIDTH, HEIGHT, "--rate", RATE]
        command = [options.ffmpeg_python, script, f"rtp://127.0.0.1:{port}", codec, *arguments]
        return subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def on_video(self, _, buffer):
        if VIDEO[options.video][3]:
            self.count("sent", "video")
        else:
            header = buffer.extract_dup(0, 8)
            # The last packet of a frame has the marker.
            if header[1] & 0x80:
                self.count("sent", "video")
            # Sender reports take the time of a buffer for that of its timestamp. Frames are not sent when they are shown.
            timestamp = int.from_bytes(header[4:], "big")
            if self.first is None:
                self.first = (timestamp, buffer.pts)
            later = (timestamp - self.first[0] + (1 << 31)) % (1 << 32) - (1 << 31)
            buffer.pts = max(0, self.first[1] + later * Gst.SECOND // 90000)
        # The payloader takes the time of presentation. That of decoding is up to two frames before it.
        if options.decoding_times:
            buffer.pts = buffer.dts + 2 * Gst.SECOND // RATE

    @staticmethod
    def count(way, kind):
        counts[way][kind] += 1

    @staticmethod
    def on_candidate(_, index, candidate):
        write({"candidate": candidate, "index": index})

    def on_state(self, peer, _):
        state = peer.get_property("connection-state").value_nick
        write({"state": state})
        # A session that does not know the latency of its senders reports timestamps that run too fast.
        self.pipeline.recalculate_latency()
        # So that the first sender reports come while a recorder still waits for them.
        session = self.peer.get_by_name("rtpbin").emit("get-internal-session", 0)
        if session:
            session.set_property("rtcp-min-interval", Gst.SECOND // 4)
            session.set_property("bandwidth", 10_000_000.0)
        if state != "connected" or self.sender:
            return
        if not VIDEO[options.video][3]:
            self.sender = self.send()
        elif options.pattern:
            self.sender = threading.Thread(target=self.paint, daemon=True)
            self.sender.start()

    def on_pad(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        caps = pad.get_current_caps().get_structure(0)
        kind = caps.get_string("media")
        decoder = DECODERS.get(caps.get_string("encoding-name"), "identity")
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
        write({"type": kind, "sdp": self.with_copies(text) if options.red else text})
        return False

    # What webrtcbin sends as RED it puts into RED of its own. So it takes the packets for those of the codec, and only
    # the other side knows that they have copies (RFC 2198, 5).

    def with_copies(self, sdp):
        name, clock = AUDIO[options.audio][:2]
        red, block = self.types["red"], self.types["audio"]
        channels = "/2" if name == "OPUS" else ""
        sdp = sdp.replace(f"a=fmtp:{red} ", f"a=fmtp:{block} ")
        lines = [f"a=rtpmap:{red} red/{clock}{channels}", f"a=fmtp:{red} {block}/{block}"]
        lines.append(f"a=rtpmap:{block} {name}/{clock}{channels}")
        sdp = re.sub(rf"(m=audio \d+ \S+ {red})", rf"\1 {block}", sdp)
        return re.sub(rf"a=rtpmap:{red} {name}/[\d/]+", "\r\n".join(lines), sdp, flags=re.IGNORECASE)

    def without_copies(self, sdp):
        name, clock = AUDIO[options.audio][:2]
        red, block = self.types["red"], self.types["audio"]
        channels = "/2" if name == "OPUS" else ""
        sdp = re.sub(rf"(m=audio [^\r\n]*) {block}\b", r"\1", sdp)
        sdp = re.sub(rf"a=(?:rtpmap:{block}|rtcp-fb:{block}|fmtp:{block}|fmtp:{red}) [^\r\n]*\r?\n", "", sdp)
        line = f"a=rtpmap:{red} {name}/{clock}{channels}"
        return re.sub(rf"a=rtpmap:{red} red/[\d/]+", line, sdp, flags=re.IGNORECASE)

    def set_remote(self, kind, sdp):
        _, message = GstSdp.SDPMessage.new()
        if options.red:
            sdp = self.without_copies(sdp)
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
if isinstance(peer.sender, subprocess.Popen):
    peer.sender.kill()
if peer.pipeline:
    peer.pipeline.set_state(Gst.State.NULL)
