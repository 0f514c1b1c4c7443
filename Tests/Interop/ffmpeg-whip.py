"""Publishes H.264 and Opus with FFmpeg's WHIP muxer: see README.md."""

import argparse
import fractions
import json
import time

import av

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("stream", help="the file for the encoder's own output, in Annex B")
parser.add_argument("--profile", default="main")
parser.add_argument("--frames", type=int, default=60)
parser.add_argument("--keyframe-interval", type=int, default=30)
# With this certificate FFmpeg can be the DTLS client, whose certificate GnuTLS makes on a curve that it does not offer itself.
parser.add_argument("--certificate", nargs=2, metavar=("CERTIFICATE", "KEY"))
options = parser.parse_args()

SIZE = (320, 240)
RATE = 15
SAMPLES = 960


def write(line):
    print(json.dumps(line), flush=True)


def picture(number):
    """A bar that moves over a gradient."""
    frame = av.VideoFrame(*SIZE, "yuv420p")
    width, height = SIZE
    left = number * 8 % (width - 20)
    for index, plane in enumerate(frame.planes):
        if index:
            plane.update(bytes([128]) * plane.buffer_size)
            continue
        row = bytearray(60 + x // 8 for x in range(plane.line_size))
        row[left : left + 20] = bytes([200]) * 20
        plane.update(bytes(row) * height)
    frame.pts = number
    frame.time_base = fractions.Fraction(1, RATE)
    return frame


def silence(number):
    frame = av.AudioFrame("s16", "stereo", SAMPLES)
    for plane in frame.planes:
        plane.update(bytes(plane.buffer_size))
    frame.sample_rate = 48000
    frame.pts = number * SAMPLES
    frame.time_base = fractions.Fraction(1, 48000)
    return frame


muxer = {}
if options.certificate:
    muxer = {"whip_flags": "dtls_active", "cert_file": options.certificate[0], "key_file": options.certificate[1]}
output = av.open(options.url, "w", format="whip", options=muxer)
settings = {
    "profile": options.profile,
    "preset": "ultrafast" if options.profile == "baseline" else "veryfast",
    "tune": "zerolatency",
    "bf": "0",
    "g": str(options.keyframe_interval),
}
video = output.add_stream("libx264", rate=RATE, options=settings)
video.width, video.height = SIZE
video.pix_fmt = "yuv420p"
video.bit_rate = 400_000
audio = output.add_stream("libopus", rate=48000, layout="stereo")
audio.bit_rate = 64_000

begun = None
packets = 0
with open(options.stream, "wb") as stream:
    for number in range(options.frames):
        if begun is not None:
            time.sleep(max(0, begun + number / RATE - time.time()))
        for packet in video.encode(picture(number)):
            if number == 0:
                # The parameter sets, which the muxer inserts before keyframes.
                stream.write(bytes(video.codec_context.extradata))
            stream.write(bytes(packet))
            output.mux(packet)
            if begun is None:
                # The first packet waits for the connection.
                begun = time.time()
                write({"state": "connected"})
        while packets * SAMPLES / 48000 < (number + 1) / RATE:
            for packet in audio.encode(silence(packets)):
                output.mux(packet)
            packets += 1
        write({"sent": {"video": number + 1, "audio": packets}})
output.close()
write({"state": "closed"})
