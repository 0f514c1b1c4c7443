// Runs before the page's own scripts and after pattern-reader.js: the page sends back whatever it receives, and reads
// the frames of the test pattern in it. All times are in milliseconds since 1970.
//
// If `window.echoPictures` is set, the page passes on single frames, whose numbers are erased in the first 1.5 s of a
// connection. `{ after }` delays each frame and the audio by that many milliseconds. `{ leavesOut: n }` drops every
// n-th frame. Otherwise the tracks are sent back unchanged.
(() => {
  if (window.echo) return;
  const isByPicture = 'echoPictures' in window;
  const { after = 0, leavesOut = 0 } = window.echoPictures ?? {};
  const notBefore = 1500;
  const shortestDistance = 10;

  const now = () => performance.timeOrigin + performance.now();
  const sleepUntil = (time) => new Promise((resolve) => setTimeout(resolve, time - now()));
  const echoes = [];

  // Reads every frame of a track: [number, painted at, seen at].
  const reader = () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
    const context = canvas.getContext('2d', { willReadFrequently: true });
    return (picture) => {
      context.drawImage(picture, 0, 0, canvas.width, canvas.height);
      return readPatternPicture(context.getImageData(0, 0, canvas.width, canvas.height));
    };
  };

  // Copies a frame into a new one with the current time: the metadata of a received frame makes a sender drop frames.
  // Can erase the frame's number.
  const copy = async (picture, isWiped) => {
    const { format, codedWidth, codedHeight, colorSpace } = picture;
    const bytes = new Uint8Array(picture.allocationSize());
    const layout = await picture.copyTo(bytes);
    const [{ offset, stride }] = layout;
    const row = (number) => offset + stride * Math.floor((number * codedHeight) / 30);
    if (isWiped) bytes.fill(128, row(5), row(7));
    const timestamp = Math.round(1000 * performance.now());
    picture.close();
    return new VideoFrame(bytes, { format, layout, codedWidth, codedHeight, colorSpace, timestamp });
  };

  // Without a writer the frames are only counted, because the track itself is sent back.
  const passOn = async (track, echo, writer) => {
    const read = reader();
    const pictures = new MediaStreamTrackProcessor({ track, maxBufferSize: 60 }).readable.getReader();
    let last = Promise.resolve();
    let lastAt = 0;
    while (true) {
      const { done, value: picture } = await pictures.read();
      if (done) return;
      const seenAt = now();
      const { error, frame, time } = read(picture);
      if (error) echo.unreadable += 1;
      // While an encoder starts and estimates the bandwidth, frames are lost and late.
      const isEarly = seenAt < echo.connectedAt + notBefore;
      const isKept = error || (!isEarly && leavesOut > 0 && frame % leavesOut === leavesOut - 1);
      const entry = [frame, time, seenAt, writer ? null : seenAt];
      if (!error) echo.pictures.push(entry);
      if (!writer || isKept) {
        picture.close();
        continue;
      }
      last = last.then(async () => {
        await sleepUntil(Math.max(seenAt + after, lastAt + shortestDistance));
        lastAt = now();
        if (!isEarly) entry[3] = lastAt;
        await writer.write(await copy(picture, isEarly));
      }).catch((error) => console.error(`Number ${frame} was not sent back: ${error}`));
    }
  };

  const delayedAudio = (track) => {
    // Chromium passes remote audio to Web Audio only while an element plays it too; the observer's element does.
    const audio = new AudioContext({ sampleRate: 48_000 });
    audio.resume();
    const output = audio.createMediaStreamDestination();
    const later = new DelayNode(audio, { delayTime: after / 1000, maxDelayTime: 2 });
    audio.createMediaStreamSource(new MediaStream([track])).connect(later).connect(output);
    return output.stream.getAudioTracks()[0];
  };

  const sendBack = (connection, track, echo) => {
    if (track.kind === 'audio') return connection.addTrack(after > 0 ? delayedAudio(track) : track);
    if (!isByPicture) {
      passOn(track.clone(), echo, null);
      return connection.addTrack(track);
    }
    const generator = new MediaStreamTrackGenerator({ kind: 'video' });
    passOn(track.clone(), echo, generator.writable.getWriter());
    return connection.addTrack(generator);
  };

  const NativeConnection = window.RTCPeerConnection;
  window.RTCPeerConnection = class RTCPeerConnection extends NativeConnection {
    constructor(...options) {
      super(...options);
      const echo = { connection: this, connectedAt: Infinity, pictures: [], unreadable: 0, statistics: {} };
      echoes.push(echo);
      this.addEventListener('connectionstatechange', () => {
        if (this.connectionState === 'connected') echo.connectedAt = Math.min(echo.connectedAt, now());
      });
      this.addEventListener('track', ({ track }) => sendBack(this, track, echo));
    }
  };

  // A closed connection reports no statistics, so they are polled while it exists.
  setInterval(() => {
    for (const echo of echoes) {
      if (echo.connection.connectionState !== 'connected') continue;
      echo.connection.getStats().then((entries) => {
        for (const entry of entries.values()) {
          if (entry.kind === 'video' && entry.type === 'inbound-rtp') echo.statistics.received = entry;
          if (entry.kind === 'video' && entry.type === 'outbound-rtp') echo.statistics.sent = entry;
          if (entry.kind === 'video' && entry.type === 'media-source') echo.statistics.source = entry;
        }
      }, () => {});
    }
  }, 100);

  window.echo = {
    /// Returns one entry for each call, oldest first: the frames as [number, painted at, seen at, sent back at or
    /// null], the number of unreadable frames, and the last `getStats`.
    report: () => echoes.map(({ connection, connectedAt, ...told }) => told),
  };
})();
