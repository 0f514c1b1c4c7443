// Runs before the page's own scripts and after pattern-reader.js, and provides a camera whose frames contain their
// number and the time when they were drawn, as docs/pattern.md describes it.
(() => {
  if (!navigator.mediaDevices || window.patternCamera) return;
  const nativeGetUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  const [width, height] = window.cameraSize ?? [320, 240];
  const framesPerSecond = window.cameraRate ?? 15;
  // Whether each painted frame is taken at once. Otherwise the browser takes frames by a clock of its own.
  const isTaken = window.cameraTaken ?? false;
  const [columns, rows] = [20, 30];

  const crc32 = (bytes) => {
    let sum = 0xffffffff;
    for (const byte of bytes) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    }
    return ~sum >>> 0;
  };

  const code = (number, time) => {
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, 7);
    view.setUint32(2, number);
    view.setUint16(6, Math.floor(time / 2 ** 32));
    view.setUint32(8, time % 2 ** 32);
    view.setUint32(12, crc32(bytes.subarray(0, 12)));
    return bytes;
  };

  const draw = (context, number) => {
    const cell = (column, row, isWhite) => {
      context.fillStyle = isWhite ? 'rgb(243 243 243)' : 'rgb(9 9 9)';
      context.fillRect((column * width) / columns, (row * height) / rows, width / columns, (2 * height) / rows);
    };
    context.fillStyle = `hsl(${number % 360} 50% 40%)`;
    context.fillRect(0, 0, width, height);
    context.fillStyle = 'rgb(9 9 9)';
    context.fillRect((1.5 * width) / columns, (4 * height) / rows, (17 * width) / columns, (20 * height) / rows);
    for (let index = 0; index < 16; index += 1) cell(2 + index, 5, (0xb2d4 >> (15 - index)) & 1);
    const bytes = code(number, Math.round(performance.timeOrigin + performance.now()));
    for (let index = 0; index < 128; index += 1) {
      cell(2 + (index % 16), 7 + 2 * Math.floor(index / 16), bytes[index >> 3] & (0x80 >> (index & 7)));
    }
  };

  navigator.mediaDevices.getUserMedia = async (wanted = {}) => {
    const stream = await nativeGetUserMedia(wanted);
    for (const track of stream.getVideoTracks()) {
      track.stop();
      stream.removeTrack(track);
    }
    if (!wanted.video) return stream;
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    let number = 0;
    window.patternCamera = { drawn: () => number };
    const painted = canvas.captureStream(isTaken ? 0 : framesPerSecond);
    const track = painted.getVideoTracks()[0];
    const paint = () => {
      draw(context, number);
      // Firefox has it at the stream.
      if (isTaken) (track.requestFrame ? track : painted).requestFrame();
    };
    paint();
    setInterval(() => { number += 1; paint(); }, 1000 / framesPerSecond);
    stream.addTrack(track);
    return stream;
  };
})();
