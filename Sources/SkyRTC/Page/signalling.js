// The connection to the SkyRTC server: joins a room over a WebSocket and reconnects when the server is lost.
//
// Calls `welcome(you, others, profiles)`, `joined(id, profile)`, `profile(id, profile)`, `left(id)`, `offer(id, description)`, `answer(id, description)`,
// `candidate(id, candidate)`, `lost(seconds)` and `refused(reason)` of the given handlers. A profile is what a participant says
// of itself, `{ name, records }`, as the server passes it on; `profiles` is a Map of them by id.

const minimumWait = 500;
const maximumWait = 30_000;
const steadyAfter = 5_000;
const policyViolation = 1008;

export class Signalling {
  #handlers;
  #room;
  #profile;
  #url;
  #socket = null;
  // Our id and the secret that proves it, under the names of the message fields.
  #identity = {};
  #isClosed = false;
  #ceiling = 2 * minimumWait;
  #timer = null;
  #retryNow = () => { if (!this.#socket && !this.#isClosed) this.open(); };

  /** `profile()` returns what we say of ourselves. */
  constructor(url, room, profile, handlers) {
    this.#url = url;
    this.#room = room;
    this.#profile = profile;
    this.#handlers = handlers;
    addEventListener('online', this.#retryNow);
  }

  open() {
    clearTimeout(this.#timer);
    const openedAt = performance.now();
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    // Requests the id of the last connection, so that calls in progress continue under it.
    socket.onopen = () => this.send('__join', { room: this.#room, ...this.#profile(), ...this.#identity });
    socket.onmessage = (event) => { if (socket === this.#socket) this.#received(event.data); };
    socket.onclose = (event) => {
      if (socket !== this.#socket || this.#isClosed) return;
      this.#socket = null;
      if (event.code === policyViolation) return this.#handlers.refused(event.reason);
      if (performance.now() - openedAt > steadyAfter) this.#ceiling = 2 * minimumWait;
      const wait = minimumWait + Math.random() * (this.#ceiling - minimumWait);
      this.#ceiling = Math.min(2 * this.#ceiling, maximumWait);
      this.#timer = setTimeout(() => this.open(), wait);
      this.#handlers.lost(wait / 1000);
    };
  }

  /** Sends a message; discards it without a connection. */
  send(eventName, data) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify({ eventName, data }));
  }

  /** Says something else of ourselves from now on. */
  sendProfile() { this.send('__profile', this.#profile()); }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    removeEventListener('online', this.#retryNow);
    this.#socket?.close(1000);
    this.#socket = null;
  }

  #received(text) {
    let message;
    try { message = JSON.parse(text); } catch { return; }
    const data = message?.data;
    if (typeof data !== 'object' || data === null) return;
    const id = data.socketId;
    if (message.eventName !== '_peers' && typeof id !== 'string') return;
    switch (message.eventName) {
      case '_peers':
        this.#identity = { you: data.you, ...(data.secret && { secret: data.secret }) };
        this.#handlers.welcome(
          data.you, (data.connections ?? []).filter((other) => other !== data.you), profiles(data.participants));
        break;
      case '_new_peer': this.#handlers.joined(id, data); break;
      case '_profile': this.#handlers.profile(id, data); break;
      case '_remove_peer': this.#handlers.left(id); break;
      case '_offer': this.#receivedDescription('offer', id, data.sdp); break;
      case '_answer': this.#receivedDescription('answer', id, data.sdp); break;
      case '_ice_candidate': {
        if (typeof data.candidate !== 'string') break;
        const sdpMid = data.id ?? data.sdpMid;
        const sdpMLineIndex = data.label ?? data.sdpMLineIndex;
        this.#handlers.candidate(id, {
          candidate: data.candidate,
          ...(sdpMid !== undefined && { sdpMid: String(sdpMid) }),
          ...(Number.isInteger(sdpMLineIndex) && { sdpMLineIndex }),
        });
      }
    }
  }

  #receivedDescription(kind, id, description) {
    const sdp = typeof description === 'string' ? description : description?.sdp;
    if (typeof sdp !== 'string') return;
    // Some old clients send their own offer back as an answer.
    if (kind === 'answer' && description.type === 'offer') return;
    this.#handlers[kind](id, { type: kind, sdp });
  }
}

/** The profiles of a list of participants, by id. */
function profiles(list) {
  const known = (Array.isArray(list) ? list : []).filter((one) => typeof one?.socketId === 'string');
  return new Map(known.map((one) => [one.socketId, one]));
}
