"""A camera for aiortc that has a frame each fifteenth of a second: for the programs of this folder."""

import asyncio
import fractions

from aiortc.mediastreams import MediaStreamTrack
from av import VideoFrame


class PacedCamera(MediaStreamTrack):
    """Frames of `size` at 15 a second, which `paint` fills."""

    kind = "video"
    size = (320, 240)

    def __init__(self):
        super().__init__()
        self.number = 0
        self.begun = None

    def paint(self, frame):
        """Fills the planes of the frame with `number`."""
        raise NotImplementedError

    async def recv(self):
        loop = asyncio.get_event_loop()
        self.begun = self.begun or loop.time()
        await asyncio.sleep(max(0, self.begun + self.number / 15 - loop.time()))
        frame = VideoFrame(*self.size, "yuv420p")
        self.paint(frame)
        frame.pts = self.number * 6000
        frame.time_base = fractions.Fraction(1, 90000)
        self.number += 1
        return frame
