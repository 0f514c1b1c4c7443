// The data channels of all participants and the SkyRTC messages on them: chat, and the control of file transfers.
//
// Each connection has one channel for messages, which the side that offers opens under the label "undefined". A message
// is a JSON object: `__file` controls a transfer (incoming.js, outgoing.js), every other type is chat. Channels of the
// protocol `skyrtc-file` carry the bytes of one file each.

export const fileProtocol = 'skyrtc-file';
export const maximumText = 16 * 1024;
const label = 'undefined';
/** Clients for iOS send the text of chat messages without JSON on a channel of this label. */
const plainLabel = 'WebRTCData';
const maximumMessage = 256 * 1024;
const maximumChannels = 4;

export class Messages {
  #handlers;
  /** For each participant, the channels for messages: `all`, and those that are `open`, the last opened one last. */
  #channels = new Map();

  /**
   * `handlers` has `chat(id, text)`, `file(id, message)`, `fileChannel(id, channel)`, `lost(id)` when the last channel
   * of a participant has closed, and `changed()` when another set of participants can be reached.
   */
  constructor(handlers) { this.#handlers = handlers; }

  /** Opens the channel of a new connection; must be called before its first offer. */
  open(id, pc) {
    if (typeof pc.createDataChannel === 'function') this.add(id, pc.createDataChannel(label));
  }

  /** Takes a channel of a participant. */
  add(id, channel) {
    channel.binaryType = 'arraybuffer';
    if (channel.protocol === fileProtocol) return this.#handlers.fileChannel(id, channel);
    // A channel of another protocol is no chat.
    if (channel.protocol) return;
    const channels = this.#channels.get(id) ?? { all: new Set(), open: [] };
    if (channels.all.size >= maximumChannels) return channel.close();
    this.#channels.set(id, channels);
    channels.all.add(channel);
    const opened = () => {
      if (channels.open.includes(channel)) return;
      channels.open.push(channel);
      this.#handlers.changed();
    };
    channel.onopen = opened;
    channel.onmessage = ({ data }) => this.#received(id, channel, data);
    channel.onclose = () => {
      channels.all.delete(channel);
      const index = channels.open.indexOf(channel);
      if (index < 0) return;
      channels.open.splice(index, 1);
      if (channels.open.length === 0) this.#handlers.lost(id);
      this.#handlers.changed();
    };
    if (channel.readyState === 'open') opened();
  }

  /** Discards the channels of a connection that has been closed. */
  remove(id) {
    const channels = this.#channels.get(id);
    if (!channels) return;
    for (const channel of channels.all) channel.onopen = channel.onmessage = channel.onclose = null;
    this.#channels.delete(id);
    this.#handlers.lost(id);
    this.#handlers.changed();
  }

  /** The participants to whom messages can be sent. */
  get reachable() { return [...this.#channels].filter(([, { open }]) => open.length > 0).map(([id]) => id); }

  /** Sends a message to a participant; returns whether that was possible. */
  send(id, message) {
    const channel = this.#channels.get(id)?.open.at(-1);
    try {
      if (channel?.readyState !== 'open') return false;
      channel.send(JSON.stringify(message));
      return true;
    } catch {
      return false;
    }
  }

  /** How many bytes wait to be sent to a participant. */
  waiting(id) { return this.#channels.get(id)?.open.at(-1)?.bufferedAmount ?? 0; }

  #received(id, channel, data) {
    const text = typeof data === 'string' ? data : channel.label === plainLabel ? decoded(data) : null;
    if (text === null || text.length > maximumMessage) return;
    let message = null;
    try { message = JSON.parse(text); } catch { /* Not JSON. */ }
    if (typeof message?.type !== 'string') {
      if (channel.label === plainLabel) this.#handlers.chat(id, cleanText(text));
    } else if (message.type === '__file') {
      this.#handlers.file(id, message);
    } else {
      const content = typeof message.data === 'string' ? message.data : JSON.stringify(message.data ?? '');
      this.#handlers.chat(id, cleanText(content));
    }
  }
}

function decoded(data) {
  if (!(data instanceof ArrayBuffer) || data.byteLength > maximumMessage) return null;
  try { return new TextDecoder('utf-8', { fatal: true }).decode(data); } catch { return null; }
}

/** The length of a text in bytes of UTF-8. */
export function byteLength(text) { return new TextEncoder().encode(text).length; }

/** A text without control characters and bidirectional overrides, at most 16 KiB long. */
export function cleanText(text) {
  const clean = text.replace(/\r\n?/g, '\n').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '');
  const bytes = new TextEncoder().encode(clean);
  if (bytes.length <= maximumText) return clean;
  return new TextDecoder().decode(bytes.subarray(0, maximumText - 6)).replace(/\ufffd$/, '') + '…';
}

/** A file name without folders, control characters and bidirectional controls, at most 200 characters long. */
export function cleanName(name) {
  const clean = [...String(name)].slice(0, 4096).join('')
    .replace(/[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '')
    .replace(/[/\\:*?"<>|]/g, '_').trim();
  const letters = [...clean];
  if (letters.length <= 200) return /^\.*$/.test(clean) ? 'file' : clean;
  return [...letters.slice(0, 180), '…', ...letters.slice(-19)].join('');
}
