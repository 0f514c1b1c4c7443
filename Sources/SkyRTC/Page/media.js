// Our own microphone and camera.

const wanted = {
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  video: { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 30 } },
};

export class Media extends EventTarget {
  /** The stream that we send: at most one audio and one video track. */
  stream = new MediaStream();
  /** Why a device is missing, as a sentence; empty if none is. */
  problem = '';

  #placeholder = null;
  #isCameraOn = false;

  get hasMicrophone() { return this.stream.getAudioTracks().length > 0; }
  get hasCamera() { return this.stream.getVideoTracks().length > 0; }
  get isMicrophoneOn() { return this.stream.getAudioTracks().some((track) => track.enabled); }
  get isCameraOn() { return this.#isCameraOn; }

  /** Requests both devices, then each alone; explains missing ones in `problem`. */
  async open() {
    if (!navigator.mediaDevices?.getUserMedia) {
      this.problem = window.isSecureContext
        ? 'This browser has no access to cameras and microphones. You can watch and listen.'
        : 'Browsers allow camera and microphone only on pages loaded over HTTPS or from localhost. You can watch and listen.';
      return;
    }
    let error = null;
    for (const constraints of [wanted, { audio: wanted.audio }, { video: wanted.video }]) {
      try {
        const stream = await navigator.mediaDevices.getUserMedia(constraints);
        for (const track of stream.getTracks()) this.#useTrack(track);
        break;
      } catch (reason) {
        error ??= reason;
      }
    }
    this.problem = error ? explain(error, this) : '';
  }

  close() {
    for (const track of this.stream.getTracks()) {
      track.stop();
      this.stream.removeTrack(track);
    }
    this.#placeholder?.stop();
    this.#placeholder = null;
    this.#isCameraOn = false;
  }

  /** Turns the microphone on or off. While it is off, silence is sent. Returns a problem, or nothing. */
  async toggleMicrophone() {
    const [track] = this.stream.getAudioTracks();
    if (!track) return this.#add({ audio: wanted.audio });
    track.enabled = !track.enabled;
    this.dispatchEvent(new Event('change'));
  }

  /** Turns the camera on or off. While off, the device is released and a still image is sent. Returns a problem, or nothing. */
  async toggleCamera() {
    if (!this.#isCameraOn) return this.#add({ video: wanted.video });
    const [track] = this.stream.getVideoTracks();
    this.#placeholder = new PlaceholderTrack(track.getSettings());
    this.#isCameraOn = false;
    this.#replace(this.#placeholder.track);
  }

  async #add(constraints) {
    if (!navigator.mediaDevices?.getUserMedia) return this.problem;
    try {
      const stream = await navigator.mediaDevices.getUserMedia(constraints);
      for (const track of stream.getTracks()) this.#useTrack(track);
    } catch (error) {
      return explain(error, this);
    }
  }

  #useTrack(track) {
    if (track.kind === 'video') {
      this.#isCameraOn = true;
      this.#placeholder?.stop();
      this.#placeholder = null;
    }
    track.onended = () => {
      // The device was unplugged, or the permission revoked.
      if (track.kind === 'video' && this.#isCameraOn) this.toggleCamera();
      else this.dispatchEvent(new Event('change'));
    };
    this.#replace(track);
  }

  #replace(track) {
    for (const old of this.stream.getTracks().filter((other) => other.kind === track.kind)) {
      old.onended = null;
      old.stop();
      this.stream.removeTrack(old);
    }
    this.stream.addTrack(track);
    if (this.hasMicrophone && this.hasCamera) this.problem = '';
    this.dispatchEvent(new CustomEvent('track', { detail: track }));
    this.dispatchEvent(new Event('change'));
  }
}

/** A video track with the text "Camera off", drawn twice a second so that newcomers receive it too. */
class PlaceholderTrack {
  constructor({ width = 640, height = 480 }) {
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const paint = canvas.getContext('2d');
    const draw = () => {
      paint.fillStyle = '#20242e';
      paint.fillRect(0, 0, width, height);
      paint.fillStyle = '#9aa4b8';
      paint.font = `${Math.round(height / 14)}px system-ui, sans-serif`;
      paint.textAlign = 'center';
      paint.textBaseline = 'middle';
      paint.fillText('Camera off', width / 2, height / 2);
    };
    draw();
    this.track = canvas.captureStream(2).getVideoTracks()[0];
    this.timer = setInterval(draw, 500);
  }

  stop() {
    clearInterval(this.timer);
    this.track.stop();
  }
}

function explain(error, media) {
  const missing = [!media.hasMicrophone && 'microphone', !media.hasCamera && 'camera'].filter(Boolean);
  const what = missing.join(' and ') || 'device';
  switch (error.name) {
    case 'NotAllowedError':
      return `The browser blocks the ${what} on this page. You can watch and listen, or allow it in the address bar.`;
    case 'NotFoundError':
    case 'OverconstrainedError':
      return `No ${missing.join(' or ') || 'device'} was found. You can join without it.`;
    case 'NotReadableError':
    case 'AbortError':
      return `The ${what} cannot be opened; another program may be using it. You can join without it.`;
    default:
      return `The ${what} cannot be opened: ${error.message || error.name}. You can join without it.`;
  }
}
