#!/usr/bin/env python3
"""Reads a composed file as docs/pattern.md says: where the test pattern is in each frame, and where the sound has marks.

It knows neither layouts nor manifests: it searches each frame for the reference cells of the pattern, and ffmpeg decodes.

Usage: composition-reader.py FILE [--shift STREAM=MS]... [--speed STREAM=FACTOR]... [--base MS] [--skip SECONDS]
           [--seconds SECONDS] [--region X,Y,WIDTH,HEIGHT]... [--frames]

  --shift, --speed  how much and how fast the clock of the sender with this id of a stream is ahead of the call; of a second
                    stream, whose id is 100 more, it is the same
  --base            the beginning of the call, in milliseconds since 1970
  --skip, --seconds which part of the file is read
  --region          a rectangle of which brightness and colour in each frame are reported
  --tone            report the peak, and the amplitude of a tone of so many Hz in each 20 ms
  --frames          report each frame, not only the summary

It prints one JSON object:

  width, height, rate   of the video; rate is a fraction such as "30/1"
  frames                how many were read
  irregular             how many have another time than their number says
  streams               by id: first and last (frame numbers), count, places (where it is from which to which frame), back (steps
                        back in its time), gone (frames between first and last without it), dim (the first frame of each span of
                        frames with less than 0.7 of the usual contrast, and the one after its end), ages: the least and the
                        greatest of "the frame's time less that of the pattern in it", in ms, and lamp: how often the lamp was not
                        what the time says
  spread                the greatest difference between the times of two patterns in a frame, in ms, and the frame; wide: in how
                        many frames it is more than 36 ms
  marks                 by id of a stream: count, ages as above, most and least, in ms
  strange               marks that belong to no stream
  peak, tones           of the sound with --tone: the greatest absolute value, and the amplitudes of each tone
  regions               of each --region a list with luma, its deviation, blue and red of each frame
"""
import argparse
import json
import subprocess
import sys
import zlib

import numpy as np

REFERENCE = [0xB2D4 >> 15 - i & 1 for i in range(16)]
# The lengths of the runs of the reference cells, in cells, up to the last white one.
RUNS = np.array([1, 1, 2, 2, 1, 1, 2, 1, 1, 1, 1])
# Where in the middle half of a cell its points are.
POINTS = np.linspace(0, 1, 6)
ASPECTS = [3 / 4, 9 / 16, 4 / 3, 16 / 9, 144 / 176, 1]


class Place:
    """The rectangle of a pattern, and the points in it that are looked at."""

    def __init__(self, x, y, width, height):
        self.rectangle = (x, y, width, height)
        columns, rows = [], []
        cells = [(2 + i, 5) for i in range(16)] + [(2 + i % 16, 7 + 2 * (i // 16)) for i in range(128)]
        for column, row in cells:
            left, right = x + column * width // 20, x + (column + 1) * width // 20
            top, bottom = y + row * height // 30, y + (row + 2) * height // 30
            across, down = (right - left) // 4, (bottom - top) // 4
            columns.append((left + across + POINTS * (right - left - 2 * across - 1)).astype(int))
            rows.append((top + down + POINTS * (bottom - top - 2 * down - 1)).astype(int))
        self.columns, self.rows = np.array(columns), np.array(rows)
        left, right = x + int(18.5 * width / 20) + 1, x + width - 1
        top, bottom = y + 4 * height // 30, y + 7 * height // 30
        across, down = (right - left) // 4, (bottom - top) // 4
        self.lamp = (slice(top + down, bottom - down), slice(left + across, right - across))

    def overlaps(self, other):
        x, y, width, height = self.rectangle
        left, top, across, down = other.rectangle
        return x < left + across and left < x + width and y < top + down and top < y + height

    def fits(self, luma):
        x, y, width, height = self.rectangle
        return x >= 0 and y >= 0 and x + width <= luma.shape[1] and y + height <= luma.shape[0]

    def read(self, luma):
        if not self.fits(luma):
            return None
        values = luma[self.rows[:, :, None], self.columns[:, None, :]].mean(axis=(1, 2))
        white = [values[i] for i in range(16) if REFERENCE[i]]
        black = [values[i] for i in range(16) if not REFERENCE[i]]
        contrast, middle = (sum(white) - sum(black)) / 8, (sum(white) + sum(black)) / 16
        if contrast < 32 or min(white) < middle + contrast / 4 or max(black) > middle - contrast / 4:
            return None
        cells = values[16:]
        if (np.abs(cells - middle) < 0.15 * contrast).any():
            return None
        code = np.packbits(cells > middle).tobytes()
        if zlib.crc32(code[:12]) != int.from_bytes(code[12:], "big"):
            return None
        return {
            "stream": int.from_bytes(code[0:2], "big"),
            "frame": int.from_bytes(code[2:6], "big"),
            "time": int.from_bytes(code[6:12], "big"),
            "contrast": contrast,
            "lit": bool(luma[self.lamp].mean() > middle),
        }


class Finder:
    def __init__(self):
        self.known = []

    def read(self, luma):
        """Returns (place, reading) for each pattern in a frame."""
        found, rest = [], luma.copy()
        for place in self.known:
            reading = place.read(luma)
            if reading:
                found.append((place, reading))
                x, y, width, height = place.rectangle
                rest[y : y + height, x : x + width] = 16
        for place in self.search(rest):
            reading = place.read(luma)
            if reading and not any(place.overlaps(other) for other, _ in found):
                found.append((place, reading))
        if len(found) > len(self.known) or any(place not in self.known for place, _ in found):
            self.known = [place for place, _ in found]
        return found

    @staticmethod
    def search(luma):
        places, step = [], 2
        for threshold in (124, 62):
            rows = luma[::step] > threshold
            edges = np.flatnonzero(rows[:, 1:] != rows[:, :-1])
            if len(edges) < 13:
                continue
            row, column = edges // (luma.shape[1] - 1), edges % (luma.shape[1] - 1) + 1
            count = len(RUNS)
            lengths = np.diff(column)
            windows = np.lib.stride_tricks.sliding_window_view(lengths, count)
            same = row[: len(windows)] == row[count : count + len(windows)]
            rising = rows[row[: len(windows)], column[: len(windows)]]
            width = windows.sum(axis=1) / RUNS.sum()
            bound = np.maximum(0.35 * width, 1.2)[:, None]
            hits = np.flatnonzero(
                same & rising & (width >= 3) & (np.abs(windows - RUNS * width[:, None]) <= bound).all(axis=1))
            seen = []
            for hit in hits:
                left, y, cell = column[hit], row[hit] * step, width[hit]
                if any(abs(left - other[0]) < 3 and y - other[1] < 3 * cell for other in seen):
                    continue
                seen.append((left, y))
                # The first row of the reference cells: above it is black.
                top, middle = y, int(left + cell / 2)
                while top > 0 and luma[top - 1, middle] > threshold:
                    top -= 1
                place = Finder.fit(luma, left, top, cell)
                if place:
                    places.append(place)
        return places

    @staticmethod
    def fit(luma, left, top, cell):
        for aspect in ASPECTS:
            for across in (0, -1, 1, -2, 2):
                width = round(20 * cell) + across
                for height in {round(width * aspect), round(width * aspect / 2) * 2, round(width * aspect / 2) * 2 + 2}:
                    for down in (0, -1, 1, 2):
                        place = Place(round(left - width / 10), round(top - height / 6) + down, width, height)
                        if width > 40 and place.read(luma):
                            return place
        return None


def probe(file):
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-show_streams", "-of", "json", file], capture_output=True, check=True, text=True)
    return json.loads(result.stdout)["streams"]


def frames(file, stream, skip, seconds):
    """Yields luma, blue and red of each frame."""
    width, height = int(stream["width"]), int(stream["height"])
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1"]
    if skip:
        command += ["-ss", str(skip)]
    command += ["-i", file, "-map", "0:v:0", "-fps_mode", "passthrough"]
    if seconds:
        command += ["-t", str(seconds)]
    command += ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        colours = (width // 2) * (height // 2)
        while True:
            bytes_ = process.stdout.read(width * height + 2 * colours)
            if len(bytes_) < width * height + 2 * colours:
                break
            planes = np.frombuffer(bytes_, np.uint8)
            yield (
                planes[: width * height].reshape(height, width),
                planes[width * height : width * height + colours].reshape(height // 2, width // 2),
                planes[width * height + colours :].reshape(height // 2, width // 2))
        if process.wait() != 0:
            sys.exit("composition-reader: ffmpeg failed")


def irregular(file, stream, top, bottom):
    """How many frames have another time than their number says, by a tick of the container."""
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts", "-of", "csv=p=0", file],
        capture_output=True, check=True, text=True)
    tick, base = (int(part) for part in stream["time_base"].split("/"))
    times = sorted(int(line.strip(",")) for line in result.stdout.split())
    return sum(
        abs(time * tick / base - number * bottom / top) > 1.01 * tick / base for number, time in enumerate(times))


RATE = 8_000


def chirp(rises):
    count = RATE * 30 // 1000
    time = np.arange(count) / RATE
    begin, end = (800, 2800) if rises else (2800, 800)
    phase = 2 * np.pi * (begin * time + (end - begin) * time**2 / (2 * 0.030))
    return phase


def explained(samples, phase):
    """Which part of the energy a wave explains, at each position."""
    count = len(phase)
    size = 1 << (len(samples) + count).bit_length()
    spectrum = np.fft.rfft(samples, size)
    total = np.zeros(len(samples) - count + 1)
    for wave in (np.sin(phase), np.cos(phase)):
        correlation = np.fft.irfft(spectrum * np.conj(np.fft.rfft(wave, size)), size)[: len(total)]
        total += correlation**2
    energy = np.concatenate([[0], np.cumsum(samples.astype(np.float64) ** 2)])
    energy = energy[count:] - energy[:-count]
    return np.where(energy > 1e-7, total / (np.maximum(energy, 1e-7) * count / 2), 0)


def code_word(number):
    high, product, symbols = number >> 4, number & 15, []
    for _ in range(8):
        symbols.append(high ^ product)
        product <<= 1
        if product >= 16:
            product ^= 19
    return symbols


WORDS = np.array([code_word(number) for number in range(256)])


def band(samples):
    """570 to 3,030 Hz."""
    size = 1 << len(samples).bit_length()
    spectrum = np.fft.rfft(samples, size)
    frequency = np.fft.rfftfreq(size, 1 / RATE)
    gain = np.clip((frequency - 500) / 100, 0, 1) * np.clip((3100 - frequency) / 100, 0, 1)
    return np.fft.irfft(spectrum * gain, size)[: len(samples)]


def marks_of(samples):
    """Yields (position in samples, number of the second) of the marks."""
    samples = band(samples)
    if len(samples) < RATE // 2:
        return
    first, last, gap = explained(samples, chirp(True)), explained(samples, chirp(False)), RATE * 190 // 1000
    both = first[: len(first) - gap] + last[gap:]
    time = np.arange(RATE * 20 // 1000) / RATE
    position = 0
    candidates = np.flatnonzero(both > 0.9)
    while len(candidates):
        begin = candidates[0]
        best = begin + int(np.argmax(both[begin : begin + RATE * 30 // 1000]))
        # Between samples.
        shift = 0.0
        if 0 < best < len(both) - 1:
            left, middle, right = both[best - 1], both[best], both[best + 1]
            if left + right < 2 * middle:
                shift = (left - right) / 2 / (left - 2 * middle + right)
        votes = np.zeros(256)
        for index in range(8):
            start = best + RATE * 30 // 1000 + index * RATE * 20 // 1000
            window = samples[start : start + len(time)]
            if len(window) < len(time):
                break
            energy = (window**2).sum() * len(time) / 2
            parts = [
                ((window @ np.sin(2 * np.pi * f * time)) ** 2 + (window @ np.cos(2 * np.pi * f * time)) ** 2)
                / max(energy, 1e-9) for f in (800 + 125 * symbol for symbol in range(16))]
            if max(parts) > 0.3:
                votes += WORDS[:, index] == int(np.argmax(parts))
        if votes.max() >= 5:
            yield best + shift, int(np.argmax(votes))
        position = best + RATE * 200 // 1000
        candidates = candidates[candidates > position]


def marks(file, stream, skip, seconds):
    """Yields (position in seconds, number of the second)."""
    command = ["ffmpeg", "-v", "error", "-nostdin"]
    if skip:
        command += ["-ss", str(skip)]
    command += ["-i", file, "-map", "0:a:0"]
    if seconds:
        command += ["-t", str(seconds)]
    command += ["-ac", "1", "-ar", str(RATE), "-f", "f32le", "-"]
    start = 0 if skip else float(stream.get("start_time", 0))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        rest, done, chunk = np.zeros(0, np.float32), 0, 60 * RATE
        while True:
            data = np.frombuffer(process.stdout.read(4 * chunk), np.float32)
            samples = np.concatenate([rest, data])
            is_last = len(data) < chunk
            # A mark that is cut is read with the next part.
            limit = len(samples) if is_last else len(samples) - RATE
            for position, second in marks_of(samples):
                if position < limit:
                    yield start + (done + position) / RATE, second
            if is_last:
                break
            rest, done = samples[limit - RATE // 4 :], done + limit - RATE // 4
        process.wait()


def tones(file, frequencies, channels):
    """The peak of all channels, and the amplitude of each tone in the first channel in each 20 ms."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", file, "-map", "0:a:0", "-ar", "48000", "-f", "f32le", "-"]
    samples = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32)
    samples = samples.reshape(-1, channels)
    count = len(samples) // 960
    windows = samples[: count * 960, 0].reshape(count, 960)
    time = np.arange(960) / 48000
    shape = np.hanning(960)
    amplitudes = []
    for frequency in frequencies:
        wave = np.exp(-2j * np.pi * frequency * time) * shape
        amplitudes.append([round(float(value), 5) for value in np.abs(windows @ wave) * 2 / shape.sum()])
    return float(np.abs(samples).max()), amplitudes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--shift", action="append", default=[])
    parser.add_argument("--speed", action="append", default=[])
    parser.add_argument("--base", type=float, default=1_772_357_400_000)
    parser.add_argument("--skip", type=float, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--region", action="append", default=[])
    parser.add_argument("--tone", action="append", type=float, default=[])
    parser.add_argument("--frames", action="store_true")
    options = parser.parse_args()
    shifts = {int(key): float(value) for key, value in (pair.split("=") for pair in options.shift)}
    speeds = {int(key): float(value) for key, value in (pair.split("=") for pair in options.speed)}
    regions = [tuple(int(value) for value in region.split(",")) for region in options.region]

    def moment(stream, time):
        """The time of the call at a reading of a sender's clock, in ms."""
        return (time - options.base - shifts.get(stream % 100, 0)) / speeds.get(stream % 100, 1)

    found_streams = probe(options.file)
    video = next((s for s in found_streams if s["codec_type"] == "video"), None)
    audio = next((s for s in found_streams if s["codec_type"] == "audio"), None)
    report = {"frames": 0, "streams": {}, "marks": {}, "strange": 0, "regions": [[] for _ in regions]}
    if video:
        read_video(options, video, report, regions, moment)
    if audio:
        read_audio(options, audio, report, shifts, speeds)
    for stream in list(report["streams"].values()):
        stream.pop("now", None)
        stream["lowest"], stream["highest"] = round(stream["lowest"], 3), round(stream["highest"], 3)
    print(json.dumps(report))


def read_video(options, video, report, regions, moment):
    top, bottom = (int(part) for part in video["r_frame_rate"].split("/"))
    report.update(width=video["width"], height=video["height"], rate=video["r_frame_rate"], codec=video["codec_name"])
    report["spread"] = {"most": 0, "frame": None, "wide": 0}
    if not options.skip:
        report["irregular"] = irregular(options.file, video, top, bottom)
    finder, listed, streams = Finder(), [], report["streams"]
    for number, (luma, blue, red) in enumerate(frames(options.file, video, options.skip, options.seconds)):
        report["frames"] += 1
        now = (number * bottom / top + options.skip) * 1000
        for index, (x, y, width, height) in enumerate(regions):
            part = luma[y : y + height, x : x + width]
            half = (slice(y // 2, (y + height) // 2), slice(x // 2, (x + width) // 2))
            report["regions"][index].append(
                [round(float(value), 1) for value in (part.mean(), part.std(), blue[half].mean(), red[half].mean())])
        moments, shown = [], []
        for place, reading in finder.read(luma):
            name = str(reading["stream"])
            time = moment(reading["stream"], reading["time"])
            entry = streams.setdefault(name, {
                "first": number, "last": number, "count": 0, "places": [], "back": 0, "gone": 0, "dim": [], "lamp": 0,
                "lowest": 1e12, "highest": -1e12, "now": None})
            before = entry["now"]
            moments.append(time)
            if before is not None and before[0] == number:
                entry["twice"] = entry.get("twice", 0) + 1
                continue
            if before is not None:
                entry["gone"] += number - before[0] - 1
                entry["back"] += time < before[1]
            entry["last"], entry["count"] = number, entry["count"] + 1
            if not entry["places"] or entry["places"][-1]["at"] != list(place.rectangle):
                entry["places"].append({"from": number, "at": list(map(int, place.rectangle))})
            is_dim = reading["contrast"] < 140
            if is_dim != (len(entry["dim"]) % 2 == 1):
                entry["dim"].append(number)
            is_new = before is None or before[1] != time
            if is_new:
                entry["lamp"] += reading["lit"] != (reading["time"] % 1000 < 120)
            age = now - time
            entry["lowest"], entry["highest"] = min(entry["lowest"], age), max(entry["highest"], age)
            entry["now"] = (number, time)
            shown.append([reading["stream"], reading["time"], *map(int, place.rectangle), round(reading["contrast"])])
        if moments:
            spread = max(moments) - min(moments)
            report["spread"]["wide"] += spread > 36
            if spread > report["spread"]["most"]:
                report["spread"].update(most=round(spread, 3), frame=number)
        listed.append(shown)
    if options.frames:
        report["list"] = listed


def read_audio(options, audio, report, shifts, speeds):
    report["sound"] = audio["codec_name"]
    report["channels"], report["sampleRate"] = audio["channels"], int(audio["sample_rate"])
    if options.tone:
        report["peak"], report["tones"] = tones(options.file, options.tone, audio["channels"])
    for position, second in marks(options.file, audio, options.skip, options.seconds):
        position += options.skip
        best = None
        for stream in {*shifts, *speeds} or {0}:
            shift, speed = shifts.get(stream, 0), speeds.get(stream, 1)
            reading = position * 1000 * speed + options.base + shift
            whole = round((reading / 1000 - second) / 256) * 256 + second
            age = position * 1000 - (whole * 1000 - options.base - shift) / speed
            if best is None or abs(age) < abs(best[1]):
                best = (stream, age)
        stream, age = best
        if abs(age) > 100:
            report["strange"] += 1
            continue
        entry = report["marks"].setdefault(
            str(stream), {"count": 0, "lowest": 1e9, "highest": -1e9, "first": round(position, 3)})
        entry["count"] += 1
        entry["last"] = round(position, 3)
        entry["lowest"], entry["highest"] = round(min(entry["lowest"], age), 3), round(max(entry["highest"], age), 3)


if __name__ == "__main__":
    main()
