// Runs before the page's own scripts and after pattern-reader.js: reads the test pattern in everything that the page
// receives. All times are in milliseconds since 1970.
(() => {
  if (window.patternWatch) return;

  const now = () => performance.timeOrigin + performance.now();
  const watches = [];
  const readsAllFrames = 'MediaStreamTrackProcessor' in window;

  const NativeConnection = window.RTCPeerConnection;

  window.RTCPeerConnection = class RTCPeerConnection extends NativeConnection {
    constructor(...options) {
      super(...options);
      const watch = { connection: this, pictures: [], unreadable: {}, marks: [], presented: 0, requests: 0 };
      watches.push(watch);
      this.addEventListener('track', ({ track, receiver }) => {
        if (track.kind === 'audio') hear(track, watch);
        else see(track, watch);
        if (track.kind === 'video' && window.keyframeRequestsEvery) requestKeyframes(receiver, watch);
      });
    }
  };

  const read = (picture, width, height, watch, presented) => {
    const seenAt = now();
    // A quarter of the pixels is enough to read the code, and leaves the page time for the next frame.
    watch.canvas ??= Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
    watch.context ??= watch.canvas.getContext('2d', { willReadFrequently: true });
    watch.context.drawImage(picture, 0, 0, watch.canvas.width, watch.canvas.height);
    const image = watch.context.getImageData(0, 0, watch.canvas.width, watch.canvas.height);
    const result = readPatternPicture(image);
    if (result.error) watch.unreadable[result.error] = (watch.unreadable[result.error] ?? 0) + 1;
    else watch.pictures.push([result.frame, result.time, seenAt, presented, width, height]);
  };

  // Chromium provides every frame; other browsers only those that are shown, whose number is counted.
  const see = async (track, watch) => {
    if (readsAllFrames) {
      const reader = new MediaStreamTrackProcessor({ track: track.clone(), maxBufferSize: 30 }).readable.getReader();
      while (true) {
        const { done, value: picture } = await reader.read();
        if (done) return;
        watch.presented += 1;
        read(picture, picture.displayWidth, picture.displayHeight, watch, watch.presented);
        picture.close();
      }
    }
    const video = document.createElement('video');
    Object.assign(video, { muted: true, autoplay: true, playsInline: true, srcObject: new MediaStream([track]) });
    watch.video = video;
    video.play().catch(() => {});
    const shown = (_, { presentedFrames }) => {
      watch.presented = presentedFrames;
      read(video, video.videoWidth, video.videoHeight, watch, presentedFrames);
      video.requestVideoFrameCallback(shown);
    };
    video.requestVideoFrameCallback(shown);
  };

  // Only in browsers that provide the samples.
  const hear = async (track, watch) => {
    if (!readsAllFrames) return;
    const reader = new MediaStreamTrackProcessor({ track: track.clone(), maxBufferSize: 100 }).readable.getReader();
    const marks = new PatternSoundReader();
    let samples = 0;
    // The time when sample 0 was heard, by the piece with the smallest delay.
    let zero = Infinity;
    while (true) {
      const { done, value: sound } = await reader.read();
      if (done) return;
      const piece = new Float32Array(sound.numberOfFrames);
      sound.copyTo(piece, { planeIndex: 0, format: 'f32-planar' });
      watch.rate = sound.sampleRate;
      sound.close();
      samples += piece.length;
      zero = Math.min(zero, now() - samples / 48);
      for (const { sample, second, symbols } of marks.read(piece)) watch.marks.push({ sample, second, symbols });
      watch.zero = zero;
    }
  };

  // Sends keyframe requests at a fixed rate, like many newcomers.
  const requestKeyframes = (receiver, watch) => {
    const source = `
      onrtctransform = ({ transformer }) => {
        transformer.readable.pipeTo(transformer.writable);
        setInterval(() => {
          transformer.sendKeyFrameRequest().then(() => postMessage('asked'), (error) => postMessage(String(error)));
        }, ${window.keyframeRequestsEvery});
      };
      postMessage('ready');`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => {
      if (data === 'asked') watch.requests += 1;
      else if (data !== 'ready') watch.problem = data;
    };
    worker.onerror = ({ message }) => { watch.problem = message; };
    watch.worker = worker;
    receiver.transform = new RTCRtpScriptTransform(worker, {});
  };

  const decoded = async ({ connection }) => {
    for (const entry of (await connection.getStats()).values()) {
      if (entry.type === 'inbound-rtp' && entry.kind === 'video') return entry;
    }
    return {};
  };

  window.patternWatch = {
    /// Returns one entry for each call, oldest first: the frames as [number, made at, seen at, count, width, height],
    /// the unreadable frames, the marks of the audio as { second, at } with the second modulo 256, and the numbers of
    /// frames and keyframes that the browser has decoded.
    report: () => Promise.all(watches.map(async (watch) => {
      const pictures = [...watch.pictures];
      // The data of `getStats` is up to 50 ms old.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { framesDecoded, keyFramesDecoded } = await decoded(watch);
      const { unreadable, marks, presented, requests, problem, zero } = watch;
      return {
        framesDecoded, keyFramesDecoded, unreadable, presented, requests, problem, pictures,
        marks: marks.map(({ sample, second, symbols }) => ({ second, symbols, at: zero + sample / 48 })),
      };
    })),
  };
})();
