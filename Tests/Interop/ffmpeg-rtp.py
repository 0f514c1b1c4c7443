"""Sends the test pattern in AV1 or HEVC with FFmpeg's RTP muxer until its input ends: see README.md."""

import argparse
import fractions
import threading
import sys
import time

import av

import pattern

ENCODERS = {
    "av1": ("libsvtav1", {"preset": "12", "svtav1-params": "lp=1:rc=2:pred-struct=1"}),
    # It has frames that refer to later ones.
    "hevc": ("libx265", {"preset": "ultrafast", "x265-params": "bframes=2:b-adapt=0:rc-lookahead=5:pools=1:frame-threads=1:log-level=none"}),
}
parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("codec", choices=ENCODERS)
parser.add_argument("--payload-type", default="96")
parser.add_argument("--ssrc", default="1")
parser.add_argument("--size", nargs=2, type=int, default=[320, 240])
parser.add_argument("--rate", type=int, default=15)
options = parser.parse_args()

# FFmpeg calls its packetization of AV1 experimental.
muxer = {"payload_type": options.payload_type, "ssrc": options.ssrc, "strict": "experimental"}
output = av.open(f"{options.url}?pkt_size=1200", "w", format="rtp", options=muxer)
name, settings = ENCODERS[options.codec]
video = output.add_stream(name, rate=options.rate, options={**settings, "g": "45"})
video.width, video.height = options.size
video.pix_fmt = "yuv420p"
video.bit_rate = 1_000_000

ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
begun = time.time()
number = 0
while not ended.is_set():
    when = begun + number / options.rate
    time.sleep(max(0, when - time.time()))
    frame = av.VideoFrame(*options.size, "yuv420p")
    width, height = options.size
    painted, offset = pattern.paint(number, when, width, height), 0
    for plane, (columns, rows) in zip(frame.planes, [(width, height)] + 2 * [(width // 2, height // 2)]):
        # A line of a plane may be longer than that of the picture.
        margin = bytes(plane.line_size - columns)
        lines = (painted[offset + r * columns : offset + (r + 1) * columns] + margin for r in range(rows))
        plane.update(b"".join(lines).ljust(plane.buffer_size, b"\0"))
        offset += rows * columns
    frame.pts = number
    frame.time_base = fractions.Fraction(1, options.rate)
    for packet in video.encode(frame):
        output.mux(packet)
    number += 1
