// Files that participants offer to us, and the transfer of those that we accept.
//
// The bytes arrive in binary on a channel of their own, followed by their size and SHA-256, or, from clients of 2013,
// as a data URL in pieces of 1000 characters among the messages.

import { cleanName } from './messages.js';
import { SHA256 } from './sha256.js';

/** The limit for one file, and for all files that the page holds or is receiving. */
export const maximumReceived = 2 ** 30;
const maximumOffers = 20;
const maximumSilence = 60_000;
const maximumPrefix = 1024;
const pageSize = 8 * 2 ** 20;
const decodedAtOnce = 64 * 1024;

/** A file of another participant. */
class IncomingFile {
  isIncoming = true;
  /** `offered`, `accepted`, `receiving`, `received`, `refused`, `cancelled`, `failed` or `discarded`. */
  state = 'offered';
  /** How many bytes have arrived. */
  received = 0;
  sha256 = null;
  /** Why it was refused, cancelled or failed: a sentence. */
  reason = '';
  /** The file, once it is received. */
  blob = null;
  time = Date.now();
  channel = null;
  heardAt = 0;
  #hash = new SHA256();
  #parts = [];
  #partsSize = 0;
  #head = new Uint8Array(0);
  #text = '';
  #hasPrefix = false;

  constructor(from, { name, size, sendId, binary }) {
    this.from = from;
    this.name = cleanName(name);
    this.size = size;
    this.sendId = sendId;
    this.isBinary = binary === 1 || binary === true;
  }

  get isRunning() { return this.state === 'accepted' || this.state === 'receiving'; }
  get isOver() { return this.state !== 'offered' && !this.isRunning; }
  get done() { return this.size > 0 ? this.received / this.size : 1; }

  /** Adds bytes; throws a sentence if they are too many. */
  add(bytes) {
    this.state = 'receiving';
    this.heardAt = performance.now();
    this.received += bytes.length;
    if (this.received > this.size) throw new Error(`More than the announced ${this.size} bytes arrived.`);
    this.#hash.update(bytes);
    if (this.#head.length < 12) this.#head = Uint8Array.of(...this.#head, ...bytes.subarray(0, 12));
    this.#parts.push(bytes);
    this.#partsSize += bytes.length;
    // The browser can keep a Blob outside of memory.
    if (this.#partsSize > pageSize) {
      this.#parts = [new Blob(this.#parts)];
      this.#partsSize = 0;
    }
  }

  /** Adds a piece of a data URL; throws a sentence if it is not valid. */
  addText(text, isLast) {
    this.state = 'receiving';
    this.heardAt = performance.now();
    this.#text += text;
    if (!this.#hasPrefix) {
      const comma = this.#text.indexOf(',');
      if (comma < 0 && !isLast && this.#text.length < maximumPrefix) return;
      // Some browsers write an empty file as `data:`.
      if (comma < 0 && this.#text === 'data:') return;
      if (!/^data:[^,]{0,1000};base64,/.test(this.#text)) throw new Error('The data is not a data URL in base64.');
      this.#text = this.#text.slice(comma + 1);
      this.#hasPrefix = true;
    }
    if (!isLast && this.#text.length < decodedAtOnce) return;
    const length = isLast ? this.#text.length : this.#text.length - (this.#text.length % 4);
    let decoded;
    try { decoded = atob(this.#text.slice(0, length)); } catch { throw new Error('The data is not valid base64.'); }
    this.#text = this.#text.slice(length);
    this.add(Uint8Array.from(decoded, (letter) => letter.charCodeAt(0)));
  }

  /** Completes the file; throws a sentence if bytes are missing or others than those that were sent. */
  complete(size, sha256) {
    if (this.received !== this.size || size !== this.size) {
      throw new Error(`${this.received} of ${this.size} bytes arrived.`);
    }
    this.sha256 = this.#hash.digest();
    if (sha256 !== null && sha256 !== this.sha256) throw new Error('The SHA-256 differs from the one of the sender.');
    this.blob = new Blob(this.#parts, { type: imageType(this.#head) ?? 'application/octet-stream' });
    this.#parts = [];
  }

  forgetParts() {
    this.#parts = [];
    this.#text = '';
  }
}

export class Incoming {
  /** The files, oldest first. */
  list = [];
  #options;

  /**
   * `options` has `send(id, message)`, `accepts()` whether files are accepted without asking, `added(file)` and
   * `changed(file)`.
   */
  constructor(options) {
    this.#options = options;
    setInterval(() => {
      const limit = performance.now() - maximumSilence;
      for (const file of this.list) {
        if (file.isRunning && file.heardAt < limit) this.#fail(file, 'No data arrived for 60 s.');
      }
    }, 5000);
  }

  /** Takes a message of type `__file`. */
  received(id, { signal, sendId, ...message }) {
    if (typeof sendId !== 'string' || sendId.length > 128) return;
    const file = this.#find(id, sendId);
    if (signal === 'ask' && !file) this.#asked(id, { sendId, ...message });
    if (signal === 'close' && file) this.#end(file, 'cancelled', 'The sender has cancelled it.');
    if (signal === 'chunk' && file?.isRunning && !file.isBinary && typeof message.data === 'string') {
      this.#try(file, () => {
        file.addText(message.data, message.last === true);
        if (message.last === true) {
          file.complete(file.size, null);
          this.#end(file, 'received', '');
        }
      });
    }
  }

  /** Takes the channel with the bytes of a file. */
  gotChannel(id, channel) {
    const file = this.#find(id, channel.label);
    if (!file?.isRunning || !file.isBinary || file.channel) return channel.close();
    file.channel = channel;
    channel.onmessage = ({ data }) => {
      if (!file.isRunning) return;
      this.#try(file, () => {
        if (typeof data !== 'string') return file.add(new Uint8Array(data));
        if (data.length > 4096) throw new Error('The end of the file is not marked correctly.');
        const { size, sha256 } = JSON.parse(data);
        file.complete(size, String(sha256).toLowerCase());
        channel.send(JSON.stringify({ received: true, sha256: file.sha256 }));
        this.#end(file, 'received', '');
      });
    };
    channel.onclose = () => this.#fail(file, 'The transfer broke off.');
  }

  accept(file) {
    if (file.state !== 'offered') return;
    const held = this.list.filter((other) => other.isRunning || other.blob).reduce((sum, { size }) => sum + size, 0);
    if (held + file.size > maximumReceived) {
      return this.refuse(file, 'This page holds at most 1 GiB of files. Discard others first.');
    }
    file.heardAt = performance.now();
    const answer = { type: '__file', signal: 'accept', sendId: file.sendId, ...(file.isBinary && { binary: 1 }) };
    if (!this.#options.send(file.from, answer)) return this.#fail(file, 'The connection is lost.');
    file.state = 'accepted';
    this.#options.changed(file);
  }

  refuse(file, reason = 'You refused it.') {
    if (file.state !== 'offered') return;
    this.#options.send(file.from, { type: '__file', signal: 'refuse', sendId: file.sendId });
    this.#end(file, 'refused', reason);
  }

  cancel(file) {
    if (!file.isRunning) return;
    if (file.channel) answerFailure(file, 'The receiver has cancelled it.');
    else this.#options.send(file.from, { type: '__file', signal: 'close', sendId: file.sendId });
    this.#end(file, 'cancelled', 'You cancelled it.');
  }

  /** Frees the memory of a received file. */
  discard(file) {
    if (file.state !== 'received') return;
    file.blob = null;
    this.#end(file, 'discarded', '', true);
  }

  /** Ends the transfers of a participant whose connection is lost. */
  lost(id) {
    for (const file of this.list) {
      if (file.from !== id || file.isOver) continue;
      if (file.state === 'offered') this.#end(file, 'cancelled', 'The sender has left.');
      else this.#fail(file, 'The connection is lost.');
    }
  }

  forget(file) { this.list = this.list.filter((other) => other !== file); }

  #find(id, sendId) { return this.list.find((file) => file.from === id && file.sendId === sendId && !file.isOver); }

  #asked(id, message) {
    const { size, sendId } = message;
    const isValid = Number.isSafeInteger(size) && size >= 0;
    const open = this.list.filter((file) => file.from === id && !file.isOver).length;
    if (!isValid || open >= maximumOffers) {
      this.#options.send(id, { type: '__file', signal: 'refuse', sendId });
      return;
    }
    const file = new IncomingFile(id, message);
    this.list.push(file);
    this.#options.added(file);
    if (size > maximumReceived) this.refuse(file, 'It is larger than 1 GiB, which is the limit of this page.');
    else if (this.#options.accepts()) this.accept(file);
  }

  #try(file, step) {
    try {
      step();
      if (file.isRunning) this.#options.changed(file);
    } catch (error) {
      this.#fail(file, error instanceof SyntaxError ? 'The end of the file is not marked correctly.' : error.message);
    }
  }

  #fail(file, reason) {
    if (file.isOver) return;
    if (file.channel) answerFailure(file, reason);
    this.#end(file, 'failed', reason);
  }

  #end(file, state, reason, isForced = false) {
    if (file.isOver && !isForced) return;
    file.state = state;
    file.reason = reason;
    if (state !== 'received') file.forgetParts();
    this.#options.changed(file);
  }
}

/** Tells the sender why a transfer has ended, and closes its channel after that. */
function answerFailure({ channel }, reason) {
  channel.onclose = null;
  try {
    if (channel.readyState === 'open') channel.send(JSON.stringify({ received: false, reason }));
  } catch { /* The channel is closing. */ }
  channel.close();
}

/** The type of an image that browsers show and that contains no script, from its first 12 bytes; otherwise null. */
function imageType(head) {
  const text = String.fromCharCode(...head.subarray(0, 12));
  if (text.startsWith('\x89PNG\r\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF8')) return 'image/gif';
  return text.startsWith('RIFF') && text.endsWith('WEBP') ? 'image/webp' : null;
}
