// The video tiles of a call: one for each participant, which shows the camera, and one for each further stream, such as a
// screen. Further streams of others are large, with the small tiles beside or below them. Without any, all tiles are as
// large as the window allows.

import { fit, stage } from './layout.js';
import { label } from './names.js';

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
    tile.dataset.peer = id;
    tile.dataset.stream = number;
    tile.style.setProperty('--hue', isYou ? 226 : hue(id));
    if (number > 1) tile.dataset.what = isScreen ? 'screen' : `${hasVideo ? 'video' : 'audio'} ${number}`;
    const video = tile.querySelector('video');
    video.muted = isYou;
    tile.classList.toggle('you', isYou && number === 1);
    tile.classList.toggle('screen', isScreen);
    tile.classList.toggle('large', number > 1 && hasVideo && !isYou);
    video.onresize = video.onloadedmetadata = () => {
      updateShape(tile);
      this.#arrange();
    };
    updateShape(tile);
    this.#tiles.set(key(id, number), tile);
    const first = this.#get(id, 1);
    updateLabel(tile, first?.dataset.name ?? (isYou ? 'you' : ''), first?.dataset.id ?? (isYou ? '' : id));
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

  /** Shows another name of a participant; the id is shown beside it, or alone without a name, once it is known. */
  setName(peer, name, id) {
    for (const number of this.#numbers(peer)) updateLabel(this.#get(peer, number), name, id ?? '');
  }

  /** Marks the tile of a participant who records. */
  setRecords(id, records) { this.#get(id)?.classList.toggle('records', records); }

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
      updateShape(this.#get(id));
    }
    for (const { number, isScreen, stream } of streams) {
      if (number > 1) this.add(id, { number, isScreen, hasVideo: stream.getVideoTracks().length > 0 });
      const tile = this.#get(id, number);
      const video = tile.querySelector('video');
      if (video.srcObject !== stream) video.srcObject = stream;
      updateShape(tile);
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
      const places = stage(large.map(ratio), small.length, width, height, captionOf(this.#box));
      large.forEach((tile, index) => place(tile, places.large[index]));
      small.forEach((tile, index) => place(tile, places.small[index]));
      return;
    }
    const { side, columns } = fit(tiles.length, width, height, captionOf(this.#box));
    this.#box.style.setProperty('--side', `${Math.floor(Math.max(side, 120))}px`);
    this.#box.style.setProperty('--columns', columns);
  }
}

/** The height of the caption below each picture. */
function captionOf(box) { return parseFloat(getComputedStyle(box).getPropertyValue('--caption')) || 0; }

/** Shows whose stream a tile shows. */
function updateLabel(tile, name, id) {
  const isYou = tile.dataset.peer === 'you';
  const { what } = tile.dataset;
  Object.assign(tile.dataset, { name, id });
  const short = isYou && !id ? name : label(name, id);
  tile.setAttribute('aria-label', !what
    ? isYou ? 'You' : `Participant ${short}`
    : isYou ? `Your ${what}` : `${what[0].toUpperCase()}${what.slice(1)} of ${short}`);
  // Where there is no room for both, the name is cut and not the id.
  const [who, rest] = name && id ? [name, short.slice(name.length)] : [short, ''];
  const span = tile.querySelector('.name span');
  span.replaceChildren(
    Object.assign(document.createElement('b'), { textContent: who }),
    Object.assign(document.createElement('bdi'), { textContent: what ? `${rest} – ${what}` : rest }));
  tile.querySelector('.name').title = span.textContent;
  tile.querySelector('.avatar b').textContent = initials(isYou && name === 'you' ? 'You' : name, id);
}

/** At most two letters for a participant without a picture: those of the first words of the name, or of the id. */
function initials(name, id) {
  if (name === 'You') return name;
  const words = name.replace(/ \(you\)$/, '').split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return name ? [...name][0] : id.slice(0, 2);
  return words.slice(0, 2).map((word) => [...word].find((letter) => /[\p{L}\p{N}]/u.test(letter)).toUpperCase()).join('');
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
function updateShape(tile) {
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
