"""A turned camera for aiortc, which does not know video-orientation (3GPP TS 26.114, 7.4.5): for the programs of this folder."""

import struct

from aiortc import rtp
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters

from paced_camera import PacedCamera

ORIENTATION = "urn:3gpp:video-orientation"
# Limited range: red, green, blue and yellow.
COLOURS = [(81, 90, 240), (145, 54, 34), (41, 240, 110), (210, 16, 146)]


class Orientations:
    """The byte of video-orientation of each frame."""

    values = [0]
    frames = 60

    @classmethod
    def of(cls, frame):
        return cls.values[min(frame // cls.frames, len(cls.values) - 1)]


class Extension:
    """Which frame a timestamp belongs to."""

    origin = None

    @classmethod
    def byte(cls, packet):
        cls.origin = packet.timestamp if cls.origin is None else cls.origin
        frame = ((packet.timestamp - cls.origin) & 0xFFFFFFFF) // 6000
        return Orientations.of(frame)


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


def install(orientations, frames):
    """Has the extension negotiated, and written into the last packet of each frame.

    Each of the orientations lasts so many frames; the last one stays.
    """
    Orientations.values, Orientations.frames = orientations, frames
    HEADER_EXTENSIONS["video"].append(RTCRtpHeaderExtensionParameters(id=13, uri=ORIENTATION))
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


class Camera(PacedCamera):
    """Four colours, as a turned camera sees them."""

    def paint(self, frame):
        quarters = corners(Orientations.of(self.number))
        for index, plane in enumerate(frame.planes):
            half = plane.width // 2
            rows = []
            for left, right in (quarters[:2], quarters[2:]):
                row = bytes([left[index]]) * half + bytes([right[index]]) * (plane.line_size - half)
                rows += [row] * (plane.height // 2)
            plane.update(b"".join(rows))
