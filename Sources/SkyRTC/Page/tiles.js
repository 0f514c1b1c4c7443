// The video tiles of a call: one for each participant, which shows the camera, and one for each further stream, such as a
// screen. Further streams of others are large, with the small tiles beside or below them. Without any, all tiles are as
// large as the window allows.

import { fit, stage } from './layout.js';

const labels = {
  waiting: 'waiting to connect', connecting: 'connecting', connected: '', reconnecting: 'reconnecting',
  failed: 'no connection',
};

export class Tiles {
  #box;
  #template = document.getElementById('tile');
  #tiles = new Map();
  #blocked;

  /** `blocked()` is called when the browser does not play a stream with audio before a click. */
  constructor(box, blocked) {
    this.#box = box;
    this.#blocked = blocked;
    new ResizeObserver(() => this.#arrange()).observe(box);
  }

  /** Adds the tile of a participant, or of their further stream with a `number` from 2. */
  add(id, { number = 1, isScreen = false, hasVideo = true, isYou = id === 'you' } = {}) {
    if (this.#get(id, number)) return;
    const tile = this.#template.content.firstElementChild.cloneNode(true);
    const name = isYou ? 'you' : id.slice(0, 6);
    const what = isScreen ? 'screen' : `${hasVideo ? 'video' : 'audio'} ${number}`;
    tile.dataset.peer = id;
    tile.dataset.stream = number;
    tile.style.setProperty('--hue', isYou ? 226 : hue(id));
    tile.setAttribute('aria-label', number === 1
      ? isYou ? 'You' : `Participant ${name}`
      : isYou ? `Your ${what}` : `${what[0].toUpperCase()}${what.slice(1)} of ${name}`);
    tile.querySelector('.name span').textContent = number === 1 ? name : `${name} – ${what}`;
    tile.querySelector('.avatar b').textContent = isYou ? 'You' : name.slice(0, 2);
    const video = tile.querySelector('video');
    video.muted = isYou;
    tile.classList.toggle('you', isYou && number === 1);
    tile.classList.toggle('screen', isScreen);
    tile.classList.toggle('large', number > 1 && hasVideo && !isYou);
    video.onresize = video.onloadedmetadata = () => {
      look(tile);
      this.#arrange();
    };
    look(tile);
    this.#tiles.set(key(id, number), tile);
    const first = this.#get(id, 1);
    if (number > 1 && first) {
      tile.dataset.state = first.dataset.state;
      first.after(tile);
    } else {
      this.#box.append(tile);
    }
    this.#arrange();
  }

  /** Removes all tiles of a participant. */
  remove(id) { for (const number of this.#numbers(id)) this.#remove(id, number); }

  clear() {
    for (const tile of [...this.#tiles.values()]) this.#remove(tile.dataset.peer, Number(tile.dataset.stream));
  }

  setName(id, name) {
    const tile = this.#get(id);
    if (tile) tile.querySelector('.name span').textContent = name;
  }

  setState(id, state) {
    for (const number of this.#numbers(id)) this.#get(id, number).dataset.state = state;
    const tile = this.#get(id);
    if (tile) tile.querySelector('.state').textContent = labels[state];
  }

  /**
   * Shows the streams of a participant, `{ number, isScreen, stream }`, and removes the tiles of those that have ended;
   * returns the streams that got a tile. The tile of the first stream stays, without a picture.
   */
  setStreams(id, streams) {
    if (!this.#get(id)) return [];
    const known = this.#numbers(id);
    for (const number of known) {
      if (number > 1 && !isShownBy(this.#get(id, number), streams)) this.#remove(id, number);
    }
    if (!streams.some(({ number }) => number === 1)) {
      this.#get(id).querySelector('video').srcObject = null;
      look(this.#get(id));
    }
    for (const { number, isScreen, stream } of streams) {
      if (number > 1) this.add(id, { number, isScreen, hasVideo: stream.getVideoTracks().length > 0 });
      const tile = this.#get(id, number);
      const video = tile.querySelector('video');
      if (video.srcObject !== stream) video.srcObject = stream;
      look(tile);
      this.#play(video);
    }
    return streams.filter(({ number }) => !known.includes(number));
  }

  setNumbers(id, number, text) {
    const tile = this.#get(id, number);
    if (tile) tile.querySelector('.numbers').textContent = text;
  }

  /** `path` is `direct`, `relayed` or ''. */
  setPath(id, path) {
    const tile = this.#get(id);
    if (!tile) return;
    tile.dataset.path = path;
    tile.querySelector('.path').textContent = path;
  }

  setSpeaking(id, isSpeaking, number = 1) { this.#get(id, number)?.classList.toggle('speaking', isSpeaking); }

  setCamera(id, isOn) { this.#get(id)?.classList.toggle('camera-off', !isOn); }

  /** Tries again to play all streams with audio; must be called from a click. */
  hear() {
    for (const tile of this.#tiles.values()) {
      const video = tile.querySelector('video');
      if (tile.dataset.peer !== 'you') video.muted = false;
      this.#play(video);
    }
  }

  #get(id, number = 1) { return this.#tiles.get(key(id, number)); }

  /** The numbers of the streams of a participant that have a tile. */
  #numbers(id) {
    return [...this.#tiles.values()].filter((tile) => tile.dataset.peer === id).map((tile) => Number(tile.dataset.stream));
  }

  #remove(id, number) {
    const tile = this.#get(id, number);
    tile.querySelector('video').srcObject = null;
    tile.remove();
    this.#tiles.delete(key(id, number));
    this.#arrange();
  }

  async #play(video) {
    try {
      await video.play();
    } catch (error) {
      if (error.name !== 'NotAllowedError' || video.muted) return;
      video.muted = true;
      this.#blocked();
      video.play().catch(() => {});
    }
  }

  #arrange() {
    const tiles = [...this.#box.children];
    const isLarge = (tile) => tile.classList.contains('large');
    const large = tiles.filter(isLarge);
    this.#box.classList.toggle('staged', large.length > 0);
    const { clientWidth: width, clientHeight: height } = this.#box;
    if (!tiles.length || !width || !height) return;
    if (large.length > 0) {
      const small = tiles.filter((tile) => !isLarge(tile));
      const places = stage(large.map(ratio), small.length, width, height);
      large.forEach((tile, index) => place(tile, places.large[index]));
      small.forEach((tile, index) => place(tile, places.small[index]));
      return;
    }
    const { side, columns } = fit(tiles.length, width, height);
    this.#box.style.setProperty('--side', `${Math.floor(Math.max(side, 120))}px`);
    this.#box.style.setProperty('--columns', columns);
  }
}

function place(tile, rect) {
  for (const [name, value] of Object.entries(rect)) tile.style.setProperty(`--${name}`, `${Math.floor(value)}px`);
}

/** The ratio of width to height of what a tile shows. */
function ratio(tile) {
  const { videoWidth, videoHeight } = tile.querySelector('video');
  return videoWidth && videoHeight ? Math.min(Math.max(videoWidth / videoHeight, 0.5), 3) : 16 / 9;
}

/** Updates whether a tile shows a picture, and its shape. */
function look(tile) {
  const video = tile.querySelector('video');
  const hasVideo = video.videoWidth > 0 && video.srcObject?.getVideoTracks().length > 0;
  tile.dataset.picture = hasVideo ? 'on' : 'off';
  tile.classList.toggle('upright', video.videoHeight > video.videoWidth);
}

/** Whether a tile is the right one for a stream of that number. */
function isShownBy(tile, streams) {
  const { isScreen, stream } = streams.find(({ number }) => number === Number(tile.dataset.stream)) ?? {};
  if (!stream || tile.classList.contains('screen') !== isScreen) return false;
  return tile.dataset.peer === 'you' || tile.classList.contains('large') === stream.getVideoTracks().length > 0;
}

function key(id, number) { return `${number} ${id}`; }

/** Returns a hue for each participant. */
export function hue(id) {
  let sum = 7;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
