// The video tiles of a call, one for each participant, laid out so that they are as large as the window allows.

const labels = {
  waiting: 'waiting to connect', connecting: 'connecting', connected: '', reconnecting: 'reconnecting',
  failed: 'no connection',
};
const gap = 10;
const shape = 4 / 3;

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

  add(id, { isYou = false } = {}) {
    if (this.#tiles.has(id)) return;
    const tile = this.#template.content.firstElementChild.cloneNode(true);
    const name = isYou ? 'you' : id.slice(0, 6);
    tile.dataset.peer = isYou ? 'you' : id;
    tile.style.setProperty('--hue', isYou ? 226 : hue(id));
    tile.setAttribute('aria-label', isYou ? 'You' : `Participant ${name}`);
    tile.querySelector('.name span').textContent = name;
    tile.querySelector('.avatar b').textContent = isYou ? 'You' : name.slice(0, 2);
    const video = tile.querySelector('video');
    video.muted = isYou;
    tile.classList.toggle('you', isYou);
    const look = () => {
      tile.dataset.picture = video.videoWidth > 0 ? 'on' : 'off';
      tile.classList.toggle('upright', video.videoHeight > video.videoWidth);
    };
    video.onresize = video.onloadedmetadata = look;
    look();
    this.#tiles.set(id, tile);
    this.#box.append(tile);
    this.#arrange();
  }

  remove(id) {
    const tile = this.#tiles.get(id);
    if (!tile) return;
    tile.querySelector('video').srcObject = null;
    tile.remove();
    this.#tiles.delete(id);
    this.#arrange();
  }

  clear() { for (const id of [...this.#tiles.keys()]) this.remove(id); }

  setName(id, name) {
    const tile = this.#tiles.get(id);
    if (tile) tile.querySelector('.name span').textContent = name;
  }

  setState(id, state) {
    const tile = this.#tiles.get(id);
    if (!tile) return;
    tile.dataset.state = state;
    tile.querySelector('.state').textContent = labels[state];
  }

  setStream(id, stream) {
    const video = this.#tiles.get(id)?.querySelector('video');
    if (!video) return;
    if (video.srcObject !== stream) video.srcObject = stream;
    this.#play(video);
  }

  setNumbers(id, text) {
    const tile = this.#tiles.get(id);
    if (tile) tile.querySelector('.numbers').textContent = text;
  }

  /** `path` is `direct`, `relayed` or ''. */
  setPath(id, path) {
    const tile = this.#tiles.get(id);
    if (!tile) return;
    tile.dataset.path = path;
    tile.querySelector('.path').textContent = path;
  }

  setSpeaking(id, isSpeaking) { this.#tiles.get(id)?.classList.toggle('speaking', isSpeaking); }

  setCamera(id, isOn) { this.#tiles.get(id)?.classList.toggle('camera-off', !isOn); }

  /** Tries again to play all streams with audio; must be called from a click. */
  hear() {
    for (const tile of this.#tiles.values()) {
      const video = tile.querySelector('video');
      if (!tile.classList.contains('you')) video.muted = false;
      this.#play(video);
    }
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

  /** Finds the number of columns that makes the tiles largest. */
  #arrange() {
    const count = this.#tiles.size;
    const { clientWidth: width, clientHeight: height } = this.#box;
    if (!count || !width || !height) return;
    let best = { side: 0, columns: 1 };
    for (let columns = 1; columns <= count; columns += 1) {
      const rows = Math.ceil(count / columns);
      const side = Math.min(
        (width - gap * (columns - 1)) / columns, ((height - gap * (rows - 1)) / rows) * shape);
      if (side > best.side) best = { side, columns };
    }
    this.#box.style.setProperty('--side', `${Math.floor(Math.max(best.side, 120))}px`);
    this.#box.style.setProperty('--columns', best.columns);
  }
}

/** Returns a hue for each participant. */
export function hue(id) {
  let sum = 7;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
