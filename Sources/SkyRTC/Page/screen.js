// The screen that we share: a MediaStream beside the camera, with the sound of what is shown if the browser gives it.

const wanted = {
  video: { frameRate: { ideal: 15, max: 30 } },
  audio: true,
  // The sound of the whole computer contains the voices of the call, which would return to them as an echo.
  systemAudio: 'exclude',
};
const canvasSize = { width: 960, height: 540 };
const canvasFrameRate = 15;

/** Sends `change` when sharing begins or ends. */
export class Screen extends EventTarget {
  /** The same object each time, so that others see the same stream return; without tracks while nothing is shared. */
  stream = new MediaStream();

  #isAsking = false;
  #attempt = 0;

  get isShared() { return this.stream.getTracks().length > 0; }

  /** Whether this browser can share a screen, at least over HTTPS. */
  static get isKnown() { return Boolean(navigator.mediaDevices?.getDisplayMedia) || !window.isSecureContext; }

  /** Why nothing can be shared, as a sentence; empty if it can. */
  static get problem() {
    if (navigator.mediaDevices?.getDisplayMedia) return '';
    return window.isSecureContext
      ? 'This browser cannot share the screen.'
      : 'Browsers share the screen only on pages loaded over HTTPS or from localhost.';
  }

  /**
   * Shares `source`: a MediaStream, `canvas` for a generated picture with a moving pattern, or without it what the user
   * selects in the browser's dialog. A promise of a problem, or of nothing.
   */
  async start(source) {
    if (this.#isAsking || this.isShared) return;
    const mine = ++this.#attempt;
    let stream = source;
    if (source === 'canvas') stream = canvasStream();
    if (!stream) {
      if (Screen.problem) return Screen.problem;
      this.#isAsking = true;
      try {
        stream = await navigator.mediaDevices.getDisplayMedia(wanted);
      } catch (error) {
        return explain(error);
      } finally {
        this.#isAsking = false;
      }
    }
    // The user may have left the call while the dialog was open.
    if (mine !== this.#attempt) return stop(stream);
    for (const track of [stream.getVideoTracks()[0], stream.getAudioTracks()[0]].filter(Boolean)) {
      this.stream.addTrack(track);
      track.onended = () => this.#ended(track);
    }
    this.dispatchEvent(new Event('change'));
  }

  stop() {
    this.#attempt += 1;
    if (!this.isShared) return;
    stop(this.stream);
    for (const track of this.stream.getTracks()) {
      track.onended = null;
      this.stream.removeTrack(track);
    }
    this.dispatchEvent(new Event('change'));
  }

  /** The browser's own button, or the end of the shared window. */
  #ended(track) {
    if (track.kind === 'video') return this.stop();
    this.stream.removeTrack(track);
    this.dispatchEvent(new Event('change'));
  }
}

function stop(stream) { for (const track of stream.getTracks()) track.stop(); }

/** A text with a counter, and a bar that moves once across the picture in two seconds. */
function canvasStream() {
  const { width, height } = canvasSize;
  const canvas = Object.assign(document.createElement('canvas'), canvasSize);
  const paint = canvas.getContext('2d');
  const [track] = canvas.captureStream(canvasFrameRate).getVideoTracks();
  let frame = 0;
  const draw = () => {
    if (track.readyState === 'ended') return clearInterval(timer);
    paint.fillStyle = '#f4f6fb';
    paint.fillRect(0, 0, width, height);
    paint.fillStyle = `hsl(${frame % 360} 60% 50%)`;
    paint.fillRect(0, 0, width, 48);
    paint.fillRect(((frame / (2 * canvasFrameRate)) % 1) * (width + 80) - 80, height - 96, 80, 48);
    paint.fillStyle = '#171a21';
    paint.font = '600 40px system-ui, sans-serif';
    paint.fillText('Shared screen', 48, 130);
    paint.font = '28px ui-monospace, monospace';
    paint.fillText(`frame ${frame}`, 48, 190);
    frame += 1;
  };
  const timer = setInterval(draw, 1000 / canvasFrameRate);
  draw();
  return new MediaStream([track]);
}

function explain(error) {
  switch (error.name) {
    // The user has closed the dialog, or the operating system forbids it, of which only Chromium speaks.
    case 'NotAllowedError': return /system/i.test(error.message)
      ? 'The operating system does not allow this browser to record the screen.' : undefined;
    case 'AbortError': return undefined;
    case 'NotFoundError': return 'There is no screen to share.';
    default: return `The screen cannot be shared: ${error.message || error.name}.`;
  }
}
