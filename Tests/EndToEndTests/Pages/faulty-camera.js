// Runs before the page's own scripts and after faulty-camera-pattern.js, and provides a camera and a microphone without
// a fault or with the one that `window.cameraFault` names:
//
//   none         the test pattern with its audio
//   black        black frames
//   silent       silent audio
//   slow         5 frames a second
//   freeze       no frame for 2 s
//   late-sound   the audio is 300 ms later than the video
//   leaving      the page leaves the room
//
// The frame rate is `window.cameraRate`, by default 20: more than the default rules of a check require. Single events
// happen 3 s after the devices were opened. `faultyCamera.report()` returns their times in milliseconds since 1970.
(() => {
  if (!navigator.mediaDevices || window.faultyCamera) return;
  const nativeGetUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);

  const fault = window.cameraFault ?? 'none';
  const [width, height] = window.cameraSize ?? [320, 240];
  const distance = fault === 'slow' ? 200 : 1000 / (window.cameraRate ?? 20);
  const [happensAfter, frozenFor, audioDelay] = [3000, 2000, 300];

  const now = () => performance.timeOrigin + performance.now();
  const sleepUntil = (time) => new Promise((resolve) => setTimeout(resolve, time - now()));
  const report = { fault, pictures: 0 };

  // Converts to ITU-R BT.601 with limited range, as in VP8. Chromium's own conversion of a canvas uses another matrix.
  const i420 = ({ data }) => {
    const planes = new Uint8Array((width * height * 3) / 2);
    const [blue, red] = [width * height, (width * height * 5) / 4];
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      const [r, g, b] = [data[4 * pixel], data[4 * pixel + 1], data[4 * pixel + 2]];
      planes[pixel] = 16.5 + (65.74 * r + 129.06 * g + 25.06 * b) / 256;
      const [column, row] = [pixel % width, Math.floor(pixel / width)];
      if (column % 2 || row % 2) continue;
      const place = (row / 2) * (width / 2) + column / 2;
      planes[blue + place] = 128.5 + (-37.95 * r - 74.49 * g + 112.44 * b) / 256;
      planes[red + place] = 128.5 + (112.44 * r - 94.15 * g - 18.29 * b) / 256;
    }
    return planes;
  };

  // If available, a track that receives each frame at the moment it is painted.
  const videoTrack = (canvas, context) => {
    if ('MediaStreamTrackGenerator' in window) {
      const track = new MediaStreamTrackGenerator({ kind: 'video' });
      const writer = track.writable.getWriter();
      const show = () => {
        const planes = i420(context.getImageData(0, 0, width, height));
        const timestamp = Math.round(1000 * performance.now());
        const size = { codedWidth: width, codedHeight: height };
        writer.write(new VideoFrame(planes, { format: 'I420', ...size, timestamp })).catch(() => {});
      };
      return { track, show };
    }
    return { track: canvas.captureStream().getVideoTracks()[0], show() {} };
  };

  const picture = () => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.fillRect(0, 0, width, height);
    const { track, show } = videoTrack(canvas, context);
    const play = async () => {
      const begun = now();
      let due = begun;
      while (track.readyState === 'live') {
        const time = now();
        if (fault !== 'black') paintPatternPicture(context, { stream: 9, frame: report.pictures, time: Math.round(time) });
        show();
        report.pictures += 1;
        due += distance;
        if (fault === 'freeze' && !report.frozenFrom && time - begun >= happensAfter) {
          report.frozenFrom = time;
          due = time + frozenFor;
          await sleepUntil(due);
          report.frozenTo = now();
          continue;
        }
        // A page that was not scheduled does not catch up.
        due = Math.max(due, now() - distance);
        await sleepUntil(due);
      }
    };
    play();
    return track;
  };

  // The audio of the pattern, or null where audio cannot be generated.
  const sound = async () => {
    const audio = new AudioContext({ sampleRate: 48_000 });
    await Promise.race([audio.resume(), new Promise((done) => setTimeout(done, 1000))]);
    if (audio.state !== 'running') return null;
    report.baseLatency = audio.baseLatency;
    const output = audio.createMediaStreamDestination();
    const late = audio.createDelay(1);
    late.delayTime.value = fault === 'late-sound' ? audioDelay / 1000 : 0;
    late.connect(output);
    if (fault !== 'silent') {
      hum(audio, late);
      mark(audio, late);
    }
    return output.stream.getAudioTracks()[0];
  };

  const hum = (audio, output) => {
    const volume = audio.createGain();
    volume.gain.value = 0.01;
    volume.connect(output);
    for (const frequency of [220, 330]) {
      const tone = new OscillatorNode(audio, { frequency });
      tone.connect(volume);
      tone.start();
    }
  };

  // Each mark starts in the sample that is played when the second begins.
  const mark = async (audio, output) => {
    // The time when the context's first sample was played. Samples are played in blocks, between which the context's
    // time stands still, so the difference varies. At its maximum no sample is played later than in its second.
    let zero = now() - 1000 * audio.currentTime;
    let next = Math.ceil(now() / 1000) + 1;
    while (audio.state === 'running') {
      const difference = now() - 1000 * audio.currentTime;
      zero += (difference > zero ? 0.2 : 0.01) * (difference - zero);
      if (1000 * next - now() < 300) {
        const samples = patternSoundMark(next);
        const buffer = new AudioBuffer({ length: samples.length, sampleRate: 48_000 });
        buffer.copyToChannel(samples, 0);
        const source = new AudioBufferSourceNode(audio, { buffer });
        source.connect(output);
        source.start((1000 * next - zero) / 1000);
        next += 1;
      }
      await sleepUntil(now() + 5);
    }
  };

  const leave = async () => {
    await sleepUntil(now() + happensAfter);
    report.leftAt = now();
    window.call.leave();
  };

  navigator.mediaDevices.getUserMedia = async (wanted = {}) => {
    // A page that was given the real devices reveals real addresses to the other side.
    const own = await nativeGetUserMedia(wanted);
    const tracks = [];
    if (wanted.audio) tracks.push((await sound()) ?? own.getAudioTracks()[0]);
    if (wanted.video) tracks.push(picture());
    for (const track of own.getTracks()) if (!tracks.includes(track)) track.stop();
    if (fault === 'leaving') leave();
    return new MediaStream(tracks);
  };

  window.faultyCamera = { report: () => report };
})();
