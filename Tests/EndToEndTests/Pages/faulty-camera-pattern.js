// Paints the test pattern and creates the marks of its audio, as docs/pattern.md describes them, but without the grain.
// It depends only on its arguments.
(() => {
  const [COLUMNS, ROWS] = [20, 30];
  const REFERENCE = 0b1011_0010_1101_0100;
  // A luma of 24 and 224, and the 104 that the grain would vary.
  const [BLACK, WHITE, GREY] = ['rgb(9 9 9)', 'rgb(242 242 242)', 'rgb(102 102 102)'];
  // The colour bars of ITU-R BT.601 at 75 %.
  const BARS = [
    'rgb(191 191 191)', 'rgb(191 191 0)', 'rgb(0 191 191)', 'rgb(0 191 0)', 'rgb(191 0 191)', 'rgb(191 0 0)',
    'rgb(0 0 191)', 'rgb(0 0 0)',
  ];
  const LAMP_FOR = 120;

  const crc32 = (bytes) => {
    let sum = 0xffffffff;
    for (const byte of bytes) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    }
    return ~sum >>> 0;
  };

  const codeBytes = ({ stream, frame, time }) => {
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, stream);
    view.setUint32(2, frame);
    view.setUint16(6, Math.floor(time / 2 ** 32));
    view.setUint32(8, time % 2 ** 32);
    view.setUint32(12, crc32(bytes.subarray(0, 12)));
    return bytes;
  };

  /// Paints one frame over a whole canvas; `time` is in whole milliseconds since 1970.
  const paintPatternPicture = (context, { stream = 0, frame, time }) => {
    const { width, height } = context.canvas;
    // Columns and rows may be fractions; edges are rounded down as for whole ones.
    const fill = (style, fromColumn, toColumn, fromRow, toRow) => {
      const [left, right] = [fromColumn, toColumn].map((column) => Math.floor((column * width) / COLUMNS));
      const [top, bottom] = [fromRow, toRow].map((row) => Math.floor((row * height) / ROWS));
      context.fillStyle = style;
      context.fillRect(left, top, right - left, bottom - top);
    };
    const cell = (column, row, isWhite) => fill(isWhite ? WHITE : BLACK, column, column + 1, row, row + 2);
    // A square block that moves down and up.
    const lift = (style, fromColumn, toColumn, fromRow, toRow, period) => {
      const size = ((toColumn - fromColumn) / COLUMNS) * width * (ROWS / height);
      const swing = 1 - Math.abs(1 - (2 * (time % period)) / period);
      const row = fromRow + (toRow - fromRow - size) * swing;
      fill(style, fromColumn, toColumn, row, row + size);
    };
    BARS.forEach((bar, index) => fill(bar, index * 2.5, index * 2.5 + 2.5, 0, 4));
    fill(BLACK, 0, COLUMNS, 4, ROWS);
    fill(GREY, 0, 1.5, 4, 24);
    fill(GREY, 18.5, COLUMNS, 4, 24);
    fill(GREY, 0, COLUMNS, 24, 29);
    lift('rgb(236 130 24)', 0, 1.5, 4, 24, 4000);
    lift('rgb(67 174 184)', 18.5, COLUMNS, 7, 24, 3000);
    fill(time % 1000 < LAMP_FOR ? 'white' : 'rgb(28 28 28)', 18.5, COLUMNS, 4, 7);
    for (let index = 0; index < 16; index += 1) cell(2 + index, 5, (REFERENCE >> (15 - index)) & 1);
    codeBytes({ stream, frame, time }).forEach((byte, place) => {
      for (let bit = 0; bit < 8; bit += 1) {
        cell(2 + 8 * (place % 2) + bit, 7 + 2 * Math.floor(place / 2), byte & (0x80 >> bit));
      }
    });
    fill(BLACK, 3, 17, 24.5, 28.5);
    context.fillStyle = WHITE;
    context.font = `bold ${Math.round((3.5 * height) / ROWS)}px monospace`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(new Date(time).toISOString().slice(11, 21), width / 2, (26.6 * height) / ROWS);
    for (let column = 1; column < COLUMNS; column += 2) fill(WHITE, column, column + 1, 29, ROWS);
  };

  const RATE = 48_000;
  const [CHIRP, TONE, SWELL] = [1440, 960, 96];
  const AMPLITUDE = 0.15;

  const symbols = (second) => {
    let product = second & 15;
    return Array.from({ length: 8 }, () => {
      const symbol = ((second >> 4) & 15) ^ product;
      product = (product << 1) ^ (product & 8 ? 0b10011 : 0);
      return symbol;
    });
  };

  // A sine wave with the given phase in turns at each time, with fades at both ends.
  const wave = (count, turns) => Array.from({ length: count }, (_, index) => {
    const fromEnd = Math.min(index, count - 1 - index) + 0.5;
    const swell = fromEnd < SWELL ? 0.5 - 0.5 * Math.cos((Math.PI * fromEnd) / SWELL) : 1;
    return AMPLITUDE * swell * Math.sin(2 * Math.PI * turns(index / RATE));
  });
  const sweep = (from, to) => (time) => (from + (((to - from) / (CHIRP / RATE)) * time) / 2) * time;

  /// Returns the mark of a full second since 1970: 220 ms of 48 kHz.
  const patternSoundMark = (second) => Float32Array.from([
    ...wave(CHIRP, sweep(800, 2800)),
    ...symbols(second % 256).flatMap((symbol) => wave(TONE, (time) => (800 + 125 * symbol) * time)),
    ...wave(CHIRP, sweep(2800, 800)),
  ]);

  Object.assign(globalThis, { paintPatternPicture, patternSoundMark });
})();
