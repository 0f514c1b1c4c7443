"""Paints the cells of the test pattern, as docs/pattern.md describes it: a frame's number and its time can be read after any codec.

Usage: pattern.py WIDTH HEIGHT RATE FRAMES      writes so many frames of I420 to standard output
"""

import functools
import sys
import time
import zlib

BLACK, WHITE = 24, 224
REFERENCE = 0xB2D4


@functools.lru_cache(maxsize=64)
def chroma(width, height, shade):
    return bytes([shade]) * ((width // 2) * (height // 2) * 2)


def paint(number, when, width, height, stream=7):
    """Returns a frame of I420 with even sides. `when` is in seconds since 1970."""
    code = stream.to_bytes(2, "big") + number.to_bytes(4, "big") + int(1000 * when).to_bytes(6, "big")
    code += zlib.crc32(code).to_bytes(4, "big")
    bits = int.from_bytes(code, "big")
    # What is around the cells changes from frame to frame.
    around = bytes([64 + number * 5 % 64])
    left, right = 3 * width // 40, 37 * width // 40
    dark = around * left + bytes([BLACK]) * (right - left) + around * (width - right)

    def row(values):
        cells = b"".join(
            bytes([WHITE if values >> 15 - i & 1 else BLACK]) * ((3 + i) * width // 20 - (2 + i) * width // 20)
            for i in range(16)
        )
        start = 2 * width // 20
        return dark[:start] + cells + dark[start + len(cells) :]

    rows = {4: dark, 23: dark, 5: row(REFERENCE), 6: row(REFERENCE)}
    for line in range(8):
        rows[7 + 2 * line] = rows[8 + 2 * line] = row(bits >> 16 * (7 - line) & 0xFFFF)
    plain = around * width
    luma = b"".join(
        rows.get(r, plain) * ((r + 1) * height // 30 - r * height // 30) for r in range(30)
    )
    return luma + chroma(width, height, 96 + number % 64)


if __name__ == "__main__":
    width, height, rate, frames = (int(argument) for argument in sys.argv[1:5])
    begun = time.time()
    for number in range(frames):
        sys.stdout.buffer.write(paint(number, begun + number / rate, width, height))
