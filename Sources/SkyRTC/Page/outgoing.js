// Files that we offer to participants, and the transfer to those who accept.
//
// A participant whose answer says `binary` gets the bytes on a channel of their own, others get a data URL in pieces of
// 1000 characters, one every 10 ms, as clients of 2013 expect.

import { fileProtocol } from './messages.js';
import { SHA256 } from './sha256.js';

export const maximumOffered = 2 ** 31;
const highWater = 4 * 2 ** 20;
const lowWater = 2 ** 20;
const readAtOnce = 2 ** 20;
const chunkLength = 1000;
const chunkInterval = 10;
/** A multiple of 3, so that the base64 of the parts can be joined. */
const encodedAtOnce = 48 * 1024;
const maximumSilence = 60_000;

/** The transfer of a file to one participant. */
class Transfer {
  /** `offered`, `sending`, `received`, `sent` to a client that does not confirm, `refused`, `cancelled` or `failed`. */
  state = 'offered';
  sent = 0;
  sha256 = null;
  reason = '';
  channel = null;
  movedAt = 0;
  #ended;

  constructor(to) {
    this.to = to;
    this.sendId = (Math.random() * Date.now()).toString(36).toUpperCase().replace('.', '-');
    this.ended = new Promise((resolve) => { this.#ended = resolve; });
  }

  get isOver() { return this.state !== 'offered' && this.state !== 'sending'; }

  end(state, reason) {
    this.state = state;
    this.reason = reason;
    this.#ended();
  }
}

export class Outgoing {
  /** The offers, oldest first: `{ file, name, size, time, transfers, results }`, one transfer for each participant. */
  list = [];
  #options;

  /**
   * `options` has `send(id, message)`, `waiting(id)` the bytes that wait to be sent, `pc(id)`, `added(offer)` and
   * `changed(offer)`.
   */
  constructor(options) {
    this.#options = options;
    setInterval(() => {
      const limit = performance.now() - maximumSilence;
      for (const [offer, transfer] of this.#open) {
        if (transfer.state !== 'sending' || transfer.movedAt > limit) continue;
        this.#fail(offer, transfer, 'The receiver did not answer for 60 s.');
      }
    }, 5000);
  }

  /**
   * Offers a file to participants. `results` of the returned offer is a promise of an object with `state`, `sent`,
   * `sha256` and `reason` for each of them. Throws if the file is too large.
   */
  offer(file, ids) {
    if (file.size > maximumOffered) throw new Error(`${file.name} is larger than 2 GiB, which is the limit.`);
    const transfers = ids.map((id) => new Transfer(id));
    const offer = { isIncoming: false, file, name: file.name, size: file.size, time: Date.now(), transfers };
    offer.results = Promise.all(transfers.map(({ ended }) => ended)).then(() => Object.fromEntries(
      transfers.map(({ to, state, sent, sha256, reason }) => [to, { state, sent, sha256, reason }])));
    this.list.push(offer);
    this.#options.added(offer);
    for (const transfer of transfers) {
      const { name, size } = file;
      const ask = { type: '__file', signal: 'ask', name, size, sendId: transfer.sendId, binary: 1 };
      if (!this.#options.send(transfer.to, ask)) this.#fail(offer, transfer, 'The connection is lost.');
    }
    return offer;
  }

  /** Takes a message of type `__file`. */
  received(id, { signal, sendId, binary }) {
    const [offer, transfer] = this.#open.find(([, one]) => one.to === id && one.sendId === sendId) ?? [];
    if (!offer) return;
    if (signal === 'refuse') this.#end(offer, transfer, 'refused', 'It was refused.');
    if (signal === 'close') this.#end(offer, transfer, 'cancelled', 'The receiver has cancelled it.');
    if (signal === 'accept' && transfer.state === 'offered') {
      transfer.state = 'sending';
      transfer.movedAt = performance.now();
      this.#options.changed(offer);
      const isBinary = binary === 1 || binary === true;
      const sending = isBinary ? this.#sendBytes(offer, transfer) : this.#sendText(offer, transfer);
      sending.catch((error) => this.#fail(offer, transfer, error.message));
    }
  }

  /** Cancels an offer to everybody who has not received it. */
  cancel(offer) {
    for (const transfer of offer.transfers) {
      if (transfer.isOver) continue;
      this.#options.send(transfer.to, { type: '__file', signal: 'close', sendId: transfer.sendId });
      this.#end(offer, transfer, 'cancelled', 'You cancelled it.');
    }
  }

  /** Ends the transfers to a participant whose connection is lost. */
  lost(id) {
    for (const [offer, transfer] of this.#open) {
      if (transfer.to === id) this.#fail(offer, transfer, 'The connection is lost.');
    }
  }

  forget(offer) { this.list = this.list.filter((other) => other !== offer); }

  get #open() {
    return this.list.flatMap((offer) => offer.transfers.filter((one) => !one.isOver).map((one) => [offer, one]));
  }

  async #sendBytes(offer, transfer) {
    const pc = this.#options.pc(transfer.to);
    if (!pc) throw new Error('The connection is lost.');
    const channel = pc.createDataChannel(transfer.sendId, { protocol: fileProtocol });
    const messageSize = Math.min(64 * 1024, pc.sctp?.maxMessageSize || 64 * 1024);
    transfer.channel = channel;
    channel.binaryType = 'arraybuffer';
    channel.bufferedAmountLowThreshold = lowWater;
    channel.onmessage = ({ data }) => this.#confirmed(offer, transfer, data);
    channel.onclose = () => this.#fail(offer, transfer, 'The transfer broke off.');
    if (!await next(channel, 'open')) return;
    const hash = new SHA256();
    for (let offset = 0; offset < offer.size; offset += readAtOnce) {
      const bytes = await read(offer.file, offset, readAtOnce);
      for (let start = 0; start < bytes.length; start += messageSize) {
        if (channel.bufferedAmount > highWater) await next(channel, 'bufferedamountlow');
        if (transfer.isOver || channel.readyState !== 'open') return;
        const part = bytes.subarray(start, start + messageSize);
        channel.send(part);
        hash.update(part);
        transfer.sent += part.length;
        transfer.movedAt = performance.now();
        this.#options.changed(offer);
      }
    }
    if (transfer.isOver) return;
    transfer.sha256 = hash.digest();
    channel.send(JSON.stringify({ size: offer.size, sha256: transfer.sha256 }));
  }

  #confirmed(offer, transfer, data) {
    if (transfer.isOver || typeof data !== 'string' || data.length > 4096) return;
    let answer = null;
    try { answer = JSON.parse(data); } catch { /* Not an answer. */ }
    if (answer?.received === true && transfer.sha256 !== null && answer.sha256 === transfer.sha256) {
      this.#end(offer, transfer, 'received', '');
    } else {
      const reason = typeof answer?.reason === 'string' ? answer.reason.slice(0, 200) : 'It did not arrive complete.';
      this.#fail(offer, transfer, reason);
    }
  }

  async #sendText(offer, transfer) {
    const { file, size } = offer;
    const hash = new SHA256();
    let text = `data:${file.type || 'application/octet-stream'};base64,`;
    const total = text.length + 4 * Math.ceil(size / 3);
    let position = 0;
    let readAt = 0;
    let due = performance.now();
    while (position < total) {
      if (text.length < chunkLength && readAt < size) {
        const bytes = await read(file, readAt, encodedAtOnce);
        readAt += bytes.length;
        hash.update(bytes);
        text += base64(bytes);
        continue;
      }
      // After a timer that was late, the pieces follow without a pause, at most a hundred of them.
      while (performance.now() < due || this.#options.waiting(transfer.to) > lowWater) await delay(chunkInterval);
      if (transfer.isOver) return;
      due = Math.max(due + chunkInterval, performance.now() - 100 * chunkInterval);
      const data = text.slice(0, chunkLength);
      text = text.slice(chunkLength);
      position += data.length;
      const last = position >= total;
      const chunk = { type: '__file', signal: 'chunk', sendId: transfer.sendId, last, data };
      if (!last) chunk.percent = Math.floor((100 * position) / total);
      if (!this.#options.send(transfer.to, chunk)) throw new Error('The connection is lost.');
      transfer.sent = Math.floor((size * position) / total);
      transfer.movedAt = performance.now();
      this.#options.changed(offer);
    }
    transfer.sha256 = hash.digest();
    this.#end(offer, transfer, 'sent', '');
  }

  #fail(offer, transfer, reason) { this.#end(offer, transfer, 'failed', reason); }

  #end(offer, transfer, state, reason) {
    if (transfer.isOver) return;
    transfer.end(state, reason);
    transfer.channel?.close();
    this.#options.changed(offer);
  }
}

async function read(file, offset, length) {
  try {
    const bytes = new Uint8Array(await file.slice(offset, offset + length).arrayBuffer());
    if (bytes.length < Math.min(length, file.size - offset)) throw new Error('It is shorter now.');
    return bytes;
  } catch {
    throw new Error('The file cannot be read; it may have been changed or removed.');
  }
}

/** Waits for an event of a channel; returns false if the channel closes instead. */
function next(channel, event) {
  return new Promise((resolve) => {
    const finish = ({ type }) => {
      channel.removeEventListener(event, finish);
      channel.removeEventListener('close', finish);
      resolve(type === event);
    };
    channel.addEventListener(event, finish);
    channel.addEventListener('close', finish);
    if (channel.readyState === 'closed') finish({ type: 'close' });
  });
}

function delay(time) { return new Promise((resolve) => { setTimeout(resolve, time); }); }

function base64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
