// Runs before the page's own scripts and observes the page from outside: the server's messages about the room, every
// RTCPeerConnection, what it sends, and what can be seen and heard of what it receives. All times are in milliseconds
// since 1970.
(() => {
  if (window.observer) return;

  const now = () => performance.timeOrigin + performance.now();
  const calls = [];
  const rooms = [];

  const NativeSocket = window.WebSocket;
  window.WebSocket = class WebSocket extends NativeSocket {
    constructor(...options) {
      super(...options);
      const room = { socket: this };
      rooms.push(room);
      this.addEventListener('message', ({ data }) => {
        const { eventName, data: { you, connections } = {} } = JSON.parse(data);
        if (eventName === '_peers') Object.assign(room, { you, others: connections, joinedAt: now() });
      });
    }
  };

  const NativeConnection = window.RTCPeerConnection;

  window.RTCPeerConnection = class RTCPeerConnection extends NativeConnection {
    constructor(...options) {
      super(...options);
      const call = { connection: this, begunAt: now(), states: [], tracks: [], bitrates: [] };
      calls.push(call);
      this.addEventListener('connectionstatechange', () => {
        call.states.push({ state: this.connectionState, at: now() });
        if (this.connectionState === 'connected') call.connectedAt ??= now();
      });
      this.addEventListener('track', ({ track, streams }) => {
        call.tracks.push(Object.assign(watch(track), { id: track.id, stream: streams[0]?.id }));
      });
    }

    async setLocalDescription(...description) {
      const call = calls.find((call) => call.connection === this);
      const at = now();
      await super.setLocalDescription(...description);
      if (call && this.localDescription) call[this.localDescription.type === 'offer' ? 'offeredAt' : 'answeredAt'] ??= at;
    }
  };

  // Observes a track: the shown frames and their brightness, or the audio level.
  const watch = (track) => {
    const seen = { kind: track.kind, since: now() };
    if (track.kind === 'video') look(track, seen);
    else listen(track, seen);
    return seen;
  };

  const look = (track, seen) => {
    Object.assign(seen, { shown: 0, flashes: [], sizes: [] });
    const video = document.createElement('video');
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 8;
    const context = canvas.getContext('2d', { willReadFrequently: true });
    video.muted = true;
    video.autoplay = true;
    video.playsInline = true;
    video.srcObject = new MediaStream([track]);
    video.play().catch(() => {});
    seen.element = video;
    let wasBright = false;
    const measure = (picture, width, height) => {
      // The position of the sample's lamp. The flashing camera is bright everywhere.
      context.drawImage(picture, width * 0.3, height * 0.7, width * 0.4, height * 0.1, 0, 0, 8, 8);
      const pixels = context.getImageData(0, 0, 8, 8).data;
      let sum = 0;
      for (let i = 0; i < pixels.length; i += 4) sum += pixels[i] + pixels[i + 1] + pixels[i + 2];
      seen.brightness = sum / (pixels.length / 4) / 3;
      const isBright = seen.brightness > 200;
      if (isBright && !wasBright) seen.flashes.push(now());
      wasBright = isBright;
    };
    // Chromium provides every frame; other browsers only the frames that are shown.
    const readsAllFrames = 'MediaStreamTrackProcessor' in window;
    if (readsAllFrames) readAllFrames(track.clone(), measure);
    const shown = (_, { presentedFrames }) => {
      const at = now();
      // Includes frames without a callback, because the page was busy.
      seen.shown = presentedFrames;
      seen.firstShownAt ??= at;
      seen.lastShownAt = at;
      const size = `${video.videoWidth}x${video.videoHeight}`;
      if (seen.sizes.at(-1) !== size) seen.sizes.push(size);
      if (!readsAllFrames) measure(video, video.videoWidth, video.videoHeight);
      video.requestVideoFrameCallback(shown);
    };
    video.requestVideoFrameCallback(shown);
  };

  const readAllFrames = async (track, measure) => {
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 10 }).readable.getReader();
    while (true) {
      const { done, value: picture } = await reader.read();
      if (done) return;
      measure(picture, picture.displayWidth, picture.displayHeight);
      picture.close();
    }
  };

  // Firefox needs a sound card for this; without one the level stays 0.
  const listen = (track, seen) => {
    Object.assign(seen, { beeps: [], level: 0, loudest: 0 });
    // Chromium passes remote audio to Web Audio only while an element plays it too.
    const element = document.createElement('audio');
    element.muted = true;
    element.srcObject = new MediaStream([track]);
    element.play().catch(() => {});
    const audio = new AudioContext();
    const analyser = audio.createAnalyser();
    analyser.fftSize = 512;
    audio.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    audio.resume();
    seen.element = element;
    seen.audio = audio;
    const samples = new Float32Array(analyser.fftSize);
    let wasLoud = false;
    setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      seen.level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
      seen.loudest = Math.max(seen.loudest, seen.level);
      const isLoud = seen.level > 0.03;
      if (isLoud && !wasLoud) seen.beeps.push(now());
      wasLoud = isLoud;
    }, 10);
  };

  setInterval(async () => {
    for (const call of calls) {
      const last = call.statistics?.sent.video;
      const video = (await statistics(call)).sent.video;
      if (call.connection.connectionState !== 'connected' || !last || !video) continue;
      const bits = 8 * (video.bytesSent - last.bytesSent);
      call.bitrates.push({ at: now(), bitsPerSecond: 1000 * bits / (video.timestamp - last.timestamp) });
    }
  }, 1000);

  // A summary of `getStats`: the first video and audio, and in `all` those of every section in their order. For a closed
  // connection the last one is kept, because it reports nothing more and Firefox may not even answer.
  const statistics = async (call) => {
    const result = { sent: {}, received: {}, all: { sent: [], received: [] } };
    const add = (direction, entry) => {
      result.all[direction].push(entry);
      const first = result[direction][entry.kind];
      if (!first || order(call.connection, entry) <= order(call.connection, first)) result[direction][entry.kind] = entry;
    };
    if (call.connection.connectionState === 'closed') return call.statistics ?? result;
    const silence = new Promise((resolve) => setTimeout(resolve, 2000));
    const entries = await Promise.race([call.connection.getStats(), silence]);
    if (!entries) return call.statistics ?? result;
    for (const entry of entries.values()) {
      if (entry.type === 'outbound-rtp') add('sent', entry);
      if (entry.type === 'inbound-rtp') add('received', entry);
      if (entry.type === 'remote-inbound-rtp') result[`${entry.kind}AtThem`] = entry;
      if (entry.type === 'candidate-pair' && entry.nominated && entry.state === 'succeeded') result.pair = entry;
    }
    for (const list of Object.values(result.all)) {
      list.sort((one, other) => order(call.connection, one) - order(call.connection, other));
    }
    if (Object.keys(result.sent).length + Object.keys(result.received).length > 0) call.statistics = result;
    return result;
  };

  // The position of the section of a report; the same one for all reports that do not name theirs.
  const order = (connection, { mid }) => connection.getTransceivers().findIndex((one) => one.mid === mid);

  window.observer = {
    now,
    /// Returns one entry for each time the page joined a room, oldest first.
    rooms: () => rooms.filter((room) => room.you).map(({ socket, ...room }) => ({ ...room, open: socket.readyState === 1 })),
    /// Returns one entry for each call, oldest first: times, states, a summary of `getStats`, and what was seen and heard.
    async report() {
      return Promise.all(calls.map(async (call) => ({
        ...await statistics(call),
        begunAt: call.begunAt,
        offeredAt: call.offeredAt,
        answeredAt: call.answeredAt,
        connectedAt: call.connectedAt,
        state: call.connection.connectionState,
        signalling: call.connection.signalingState,
        states: call.states,
        bitrates: call.bitrates,
        reportedAt: now(),
        tracks: call.tracks.map(({ element, audio, ...seen }) => seen),
      })));
    },
    /// Leaves through the page's own function, and returns the report from just before, with the time of the leave.
    async leave() {
      const report = await observer.report();
      window.call.leave();
      const leftAt = now();
      return report.map((call) => ({ ...call, leftAt }));
    },
    /// Returns the page's loading progress, for failed tests.
    progress: () => ({
      state: document.readyState, hidden: document.hidden,
      loaded: performance.getEntriesByType('resource').map(({ name, responseEnd }) => [name, Math.round(responseEnd)]),
    }),
    /// Returns the descriptions of the calls, for failed tests.
    descriptions: () => calls.map(({ connection }) => ({
      local: connection.localDescription?.sdp, remote: connection.remoteDescription?.sdp,
    })),
  };
})();
