// Runs before the page's own scripts and provides a camera and a microphone in sync: in each second a white flash of
// 100 ms and a beep of the same length, which starts with it.
(() => {
  if (!navigator.mediaDevices || window.flashing) return;
  window.flashing = true;
  // When each flash began, and the longest time between two frames, in seconds of the page's clock. `cameraPainted`, if a
  // script sets it, is called with each frame that was painted, and is passed whether it is white.
  window.flashTimes = [];
  window.longestPaintingPause = 0;

  const nativeGetUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  const [width, height] = window.cameraSize ?? [320, 240];
  const framesPerSecond = window.cameraRate ?? 15;
  // The number of random spots in each frame, which an encoder cannot predict.
  const spots = window.cameraNoise ?? 0;
  // Whether each painted frame is taken at once. Otherwise the browser takes frames by a clock of its own, up to the time
  // of a frame later.
  const isTaken = window.cameraTaken ?? false;

  const picture = (flashed) => {
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext('2d');
    // A timer may fire a few milliseconds before its time.
    const early = 5;
    let lastDrawn;
    let count = 0, lastSecond = Math.floor((performance.now() + early) / 1000);
    let flashStart = -Infinity, whiteFrames = 0;
    const draw = () => {
      const time = performance.now();
      window.longestPaintingPause = Math.max(window.longestPaintingPause, (time - (lastDrawn ?? time)) / 1000);
      lastDrawn = time;
      const second = Math.floor((time + early) / 1000);
      if (second !== lastSecond) {
        lastSecond = second;
        flashStart = time;
        whiteFrames = 0;
        window.flashTimes.push(time / 1000);
        flashed();
      }
      // A flash has two frames at least: browsers do not send every frame of a canvas.
      const isWhite = time - flashStart < 100 - early || whiteFrames < 2;
      if (isWhite) whiteFrames += 1;
      context.fillStyle = isWhite ? 'white' : '#202840';
      context.fillRect(0, 0, width, height);
      context.fillStyle = `hsl(${count % 360} 70% 40%)`;
      context.fillRect((count * width / 160) % width, height / 8, height / 6, height / 6);
      for (let spot = 0; spot < spots && !isWhite; spot += 1) {
        context.fillStyle = `hsl(${360 * Math.random()} 60% 30%)`;
        context.fillRect(width * Math.random(), height * Math.random(), width / 40, height / 40);
      }
      context.font = `${height / 8}px monospace`;
      context.fillText(`${(time / 1000).toFixed(2)}  ${count}`, width / 16, height / 2);
      count += 1;
      // Firefox has it at the stream.
      if (isTaken) (track.requestFrame ? track : stream).requestFrame();
      window.cameraPainted?.(isWhite);
    };
    // One frame of each second is drawn at its start, so that the flash is not late.
    const distance = 1000 / framesPerSecond;
    const stream = canvas.captureStream(isTaken ? 0 : framesPerSecond);
    const track = stream.getVideoTracks()[0];
    let timer;
    const play = () => {
      draw();
      const time = performance.now();
      timer = setTimeout(play, (Math.floor(time / distance + 0.01) + 1) * distance - time);
    };
    timer = setTimeout(play, 0);
    const stop = track.stop.bind(track);
    track.stop = () => { clearTimeout(timer); stop(); };
    return track;
  };

  // A microphone with a beep at each flash.
  const sound = async () => {
    const audio = new AudioContext({ sampleRate: 48000 });
    // Chromium always runs it in the end.
    const patience = 'MediaStreamTrackProcessor' in window ? 5000 : 300;
    await Promise.race([audio.resume(), new Promise((done) => setTimeout(done, patience))]);
    if (audio.state !== 'running') return gatedMicrophone();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const output = audio.createMediaStreamDestination();
    tone.frequency.value = 1000;
    volume.gain.value = 0;
    tone.connect(volume).connect(output);
    tone.start();
    const beep = () => {
      volume.gain.setValueAtTime(0.5, audio.currentTime);
      volume.gain.setValueAtTime(0, audio.currentTime + 0.1);
    };
    return { track: output.stream.getAudioTracks()[0], beep };
  };

  // Firefox runs no AudioContext on a machine without a sound card, but its fake microphone always hums.
  const gatedMicrophone = async () => {
    const raw = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    const track = (await nativeGetUserMedia({ audio: raw })).getAudioTracks()[0];
    track.enabled = false;
    const beep = () => {
      track.enabled = true;
      setTimeout(() => { track.enabled = false; }, 100);
    };
    return { track, beep };
  };

  navigator.mediaDevices.getUserMedia = async (wanted = {}) => {
    // A page that was given the real devices reveals real addresses to the other side.
    (await nativeGetUserMedia(wanted)).getTracks().forEach((track) => track.stop());
    const microphone = await sound();
    const tracks = [];
    if (wanted.video) tracks.push(picture(microphone.beep));
    if (wanted.audio) tracks.push(microphone.track);
    return new MediaStream(tracks);
  };
})();
