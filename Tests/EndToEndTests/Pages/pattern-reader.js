// Reads the test pattern in a page: the code in the frames and the marks in the audio. docs/pattern.md describes the
// layout. It depends only on its arguments, and runs in a page, a worker or Node.
(() => {
  const COLUMNS = 20;
  const ROWS = 30;
  const REFERENCE = 0b1011_0010_1101_0100;

  const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });

  const crc32 = (bytes) => {
    let sum = 0xffffffff;
    for (const byte of bytes) sum = (sum >>> 8) ^ crcTable[(sum ^ byte) & 0xff];
    return ~sum >>> 0;
  };

  // Returns the mean of the middle half of a cell, by its green channel: code and reference cells have no colour.
  const cellAverage = ({ data, width }, box, column, row) => {
    const middle = (from, to) => {
      const edge = Math.floor((to - from) / 4);
      return [from + edge, to - edge];
    };
    const across = (index) => box.left + Math.floor((index * box.width) / COLUMNS);
    const down = (index) => box.top + Math.floor((index * box.height) / ROWS);
    const [left, right] = middle(across(column), across(column + 1));
    const [top, bottom] = middle(down(row), down(row + 2));
    const columnStep = Math.ceil((right - left) / 8);
    const rowStep = Math.ceil((bottom - top) / 8);
    let sum = 0;
    let count = 0;
    for (let y = top; y < bottom; y += rowStep) {
      for (let x = left; x < right; x += columnStep) {
        sum += data[(y * width + x) * 4 + 1];
        count++;
      }
    }
    return sum / count;
  };

  const readBox = (image, box) => {
    if (box.width < 2 * COLUMNS || box.height < ROWS) return { error: 'too small' };
    const white = [];
    const black = [];
    for (let index = 0; index < 16; index++) {
      const value = cellAverage(image, box, 2 + index, 5);
      ((REFERENCE >> (15 - index)) & 1 ? white : black).push(value);
    }
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const contrast = mean(white) - mean(black);
    const threshold = (mean(white) + mean(black)) / 2;
    if (contrast < 32 || Math.min(...white) < threshold + contrast / 4 || Math.max(...black) > threshold - contrast / 4) {
      return { error: 'no pattern' };
    }
    const bytes = new Uint8Array(16);
    let unclear = 0;
    for (let index = 0; index < 128; index++) {
      const distance = cellAverage(image, box, 2 + (index % 16), 7 + 2 * Math.floor(index / 16)) - threshold;
      if (Math.abs(distance) < 0.15 * contrast) unclear++;
      if (distance > 0) bytes[index >> 3] |= 0x80 >> (index & 7);
    }
    if (unclear > 0) return { error: `${unclear} unclear cells` };
    const view = new DataView(bytes.buffer);
    if (crc32(bytes.subarray(0, 12)) !== view.getUint32(12)) return { error: 'wrong checksum' };
    return {
      stream: view.getUint16(0),
      frame: view.getUint32(2),
      time: view.getUint16(6) * 2 ** 32 + view.getUint32(8),
    };
  };

  // Returns the rectangle of a frame without uniform bars around it.
  const croppedBox = ({ data, width, height }) => {
    const isEven = (count, at) => {
      const step = Math.max(1, Math.floor(count / 60));
      let lowest = 255;
      let highest = 0;
      for (let place = 0; place < count; place += step) {
        const value = data[at(place) * 4 + 1];
        lowest = Math.min(lowest, value);
        highest = Math.max(highest, value);
      }
      return highest - lowest <= 28;
    };
    const evenRow = (row) => isEven(width, (place) => row * width + place);
    let top = 0;
    let bottom = height;
    while (top < bottom && evenRow(top)) top++;
    while (bottom > top && evenRow(bottom - 1)) bottom--;
    const evenColumn = (column) => isEven(bottom - top, (place) => (top + place) * width + column);
    let left = 0;
    let right = width;
    while (left < right && evenColumn(left)) left++;
    while (right > left && evenColumn(right - 1)) right--;
    return { left, top, width: right - left, height: bottom - top };
  };

  // Reads the ImageData of a whole frame.
  //
  // Returns { stream, frame, time }, with time in milliseconds since 1970 by the sender's clock, or { error }.
  const readPatternPicture = (image) => {
    const whole = { left: 0, top: 0, width: image.width, height: image.height };
    const result = readBox(image, whole);
    if (result.error !== 'no pattern') return result;
    const inner = croppedBox(image);
    const hasBars = inner.width < image.width || inner.height < image.height;
    return hasBars && inner.width >= 2 * COLUMNS && inner.height >= ROWS ? readBox(image, inner) : result;
  };

  const RATE = 8000;
  const CHIRP = 240;
  const TONE = 160;
  const MARK = 2 * CHIRP + 8 * TONE;
  // How far a part of a mark may have moved: 45 ms.
  const SHIFT = 360;

  // Returns a wave of the mark as a sine and a cosine.
  const template = (count, turns) => {
    const wave = (phase) =>
      Float32Array.from({ length: count }, (_, index) => {
        const fromEnd = Math.min(index, count - 1 - index) + 0.5;
        const swell = fromEnd < 16 ? 0.5 - 0.5 * Math.cos((Math.PI * fromEnd) / 16) : 1;
        return swell * Math.sin(2 * Math.PI * (phase + turns(index / RATE)));
      });
    const sine = wave(0);
    return { count, sine, cosine: wave(0.25), energy: sine.reduce((sum, value) => sum + value * value, 0) };
  };
  const sweep = (from, to) => (time) => (from + ((to - from) / (CHIRP / RATE)) * (time / 2)) * time;
  const rising = template(CHIRP, sweep(800, 2800));
  const falling = template(CHIRP, sweep(2800, 800));
  const tones = Array.from({ length: 16 }, (_, symbol) => template(TONE, (time) => (800 + 125 * symbol) * time));

  // Returns the share of the signal's energy that a wave explains, at any phase.
  const likeness = ({ count, sine, cosine, energy }, samples, place) => {
    let inPhase = 0;
    let acrossPhase = 0;
    let power = 0;
    for (let index = 0; index < count; index++) {
      const sample = samples[place + index];
      inPhase += sine[index] * sample;
      acrossPhase += cosine[index] * sample;
      power += sample * sample;
    }
    return power < 4e-7 * count ? 0 : (inPhase * inPhase + acrossPhase * acrossPhase) / (power * energy);
  };

  const codeWord = (number) => {
    let product = number & 15;
    return Array.from({ length: 8 }, () => {
      const symbol = (number >> 4) ^ product;
      product = (product << 1) ^ (product & 8 ? 0b10011 : 0);
      return symbol;
    });
  };
  const codeWords = Array.from({ length: 256 }, (_, number) => codeWord(number));

  const REACH = 120;
  const weights = Float32Array.from({ length: 2 * REACH + 1 }, (_, index) => {
    const place = index - REACH;
    const sinc = (value) => (value === 0 ? 1 : Math.sin(Math.PI * value) / (Math.PI * value));
    const [low, high] = [570 / 48000, 3030 / 48000];
    const band = 2 * high * sinc(2 * high * place) - 2 * low * sinc(2 * low * place);
    return band * (0.54 + 0.46 * Math.cos((Math.PI * place) / REACH));
  });

  // Finds marks in mono audio of 48 kHz that arrives in pieces without gaps.
  class PatternSoundReader {
    #raw = new Float32Array(REACH);
    #samples = new Float32Array(0);
    #start = 0;
    #next = 0;

    // Reads the next piece: a Float32Array of any length.
    //
    // Returns marks as { sample, second, symbols }: the index of the first sample, counted from the first sample of
    // all, and the full second of the sender's clock that the mark encodes, modulo 256.
    read(piece) {
      const raw = new Float32Array(this.#raw.length + piece.length);
      raw.set(this.#raw);
      raw.set(piece, this.#raw.length);
      const made = [];
      let used = 0;
      for (; used + weights.length <= raw.length; used += 6) {
        let sum = 0;
        for (let index = 0; index < weights.length; index++) sum += weights[index] * raw[used + index];
        made.push(sum);
      }
      this.#raw = raw.slice(used);
      const samples = new Float32Array(this.#samples.length + made.length);
      samples.set(this.#samples);
      samples.set(made, this.#samples.length);
      this.#samples = samples;
      return this.#search();
    }

    #search() {
      const samples = this.#samples;
      const marks = [];
      const chirps = (place) =>
        likeness(rising, samples, place) + likeness(falling, samples, place + MARK - CHIRP);
      const end = samples.length - MARK - 24 - SHIFT;
      while (this.#next < end) {
        if (chirps(this.#next) < 0.25) {
          this.#next += 2;
          continue;
        }
        let best = this.#next;
        for (let place = best; place < this.#next + 24; place++) if (chirps(place) > chirps(best)) best = place;
        const found = this.#number(best);
        if (found) {
          const { place, ...mark } = found;
          marks.push({ sample: this.#start + place * 6, ...mark });
        }
        this.#next = best + (found ? RATE / 2 : 24);
      }
      const done = Math.min(Math.max(0, this.#next - SHIFT), samples.length);
      this.#samples = samples.slice(done);
      this.#start += done * 6;
      this.#next -= done;
      return marks;
    }

    // Returns the number of a mark that begins here, how many symbols agree with it, and where the mark begins. Audio that
    // was inserted or removed moves a part of the mark, and then the symbols of one number look like those of another: if
    // only one chirp is where it should be, the other is searched nearby, and symbols may have moved with it.
    #number(place) {
      const first = likeness(rising, this.#samples, place);
      const last = likeness(falling, this.#samples, place + MARK - CHIRP);
      let [early, late] = [place, place];
      if (first >= 0.25 && last < 0.25) late = this.#place(falling, MARK - CHIRP, place);
      if (last >= 0.25 && first < 0.25) early = this.#place(rising, 0, place);
      const before = this.#symbols(early);
      const after = early === late ? before : this.#symbols(late);
      let best = { place: early, second: 0, symbols: 0 };
      let unique = true;
      codeWords.forEach((word, second) => {
        // All symbols before the change, then all after it.
        let right = word.filter((symbol, index) => symbol === after[index]).length;
        let symbols = right;
        word.forEach((symbol, index) => {
          right += (symbol === before[index]) - (symbol === after[index]);
          symbols = Math.max(symbols, right);
        });
        if (symbols === best.symbols) unique = false;
        if (symbols > best.symbols) [best, unique] = [{ place: early, second, symbols }, true];
      });
      return unique && best.symbols >= (first + last >= 0.5 ? 5 : 7) ? best : null;
    }

    // Returns where a mark near `place` begins whose chirp is `offset` samples after its beginning; `place` if the chirp is
    // not found.
    #place(chirp, offset, place) {
      let [best, largest] = [place, 0.25];
      for (let near = Math.max(0, place - SHIFT); near <= place + SHIFT; near += 2) {
        const share = likeness(chirp, this.#samples, near + offset);
        if (share >= largest) [best, largest] = [near, share];
      }
      return best;
    }

    // Returns the eight symbols of a mark that begins here; -1 for each that is not clear.
    #symbols(place) {
      return Array.from({ length: 8 }, (_, index) => {
        const shares = tones.map((tone) => likeness(tone, this.#samples, place + CHIRP + index * TONE));
        const largest = Math.max(...shares);
        return largest >= 0.3 ? shares.indexOf(largest) : -1;
      });
    }
  }

  Object.assign(globalThis, { readPatternPicture, PatternSoundReader });
})();
