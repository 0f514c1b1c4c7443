// The side panel: messages, files and their transfers, and the fields to send both.

import { hue } from './tiles.js';

const maximumEntries = 500;
const maximumThumbnail = 20 * 2 ** 20;
const shownTogether = 120_000;
const shownImages = /^image\/(png|jpeg|gif|webp)$/;
const $ = (id) => document.getElementById(id);

export class Panel {
  #options;
  /** What the panel shows, oldest first: `{ element, from, time }`, and `text` or `file`. */
  #entries = [];
  #unread = 0;
  #waiting = new Set();
  #timer = null;

  /**
   * `options` has `label(id)`, how a participant is called, `say(text)`, which returns null if the text cannot be sent, `offer(files)`, `accept(file)`,
   * `refuse(file)`, `cancel(file)`, `discard(file)` and `forget(file)` for a file that the panel no longer shows.
   */
  constructor(options) {
    this.#options = options;
    this.#showUnread();
    $('chat').addEventListener('click', () => this.toggle());
    $('panel-close').addEventListener('click', () => this.toggle());
    $('panel').addEventListener('keydown', (event) => { if (event.key === 'Escape') this.toggle(); });
    $('say-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#say();
    });
    $('say').addEventListener('input', fitText);
    $('say').addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#say();
    });
    $('attach').addEventListener('click', () => $('file').click());
    $('file').addEventListener('change', () => {
      options.offer([...$('file').files]);
      $('file').value = '';
    });
    this.#acceptDrops();
  }

  get isOpen() { return !$('panel').hidden; }

  /** The messages that the panel shows; `from` is null for own ones. */
  get messages() { return this.#entries.filter(({ text }) => text !== undefined); }

  /** Opens or closes the panel. */
  toggle() {
    const opens = $('panel').hidden;
    $('panel').hidden = !opens;
    $('chat').setAttribute('aria-expanded', opens);
    this.#unread = 0;
    this.#showUnread();
    if (!opens) return $('chat').focus();
    scrollToEnd();
    // On a touch screen the focus would open the keyboard.
    if (matchMedia('(pointer: coarse)').matches) $('panel-close').focus();
    else $('say').focus();
  }

  /** Adds a message of a participant, or with `from` null an own one; `note` is shown below it. */
  addMessage(from, text, note = '') {
    const element = copy('message');
    element.querySelector('.bubble').textContent = text;
    const hint = element.querySelector('.hint');
    hint.textContent = note;
    hint.hidden = !note;
    this.#add({ element, from, text, time: Date.now() });
  }

  /** Adds a file that a participant offers, or that we offer. */
  addFile(file) {
    const element = copy('transfer');
    element.querySelector('.file-name').textContent = file.name;
    element.querySelector('progress').setAttribute('aria-label', `Progress of ${file.name}`);
    for (const button of element.querySelectorAll('button')) {
      button.setAttribute('aria-label', `${button.textContent} ${file.name}`);
      button.addEventListener('click', () => this.#options[button.dataset.action](file));
    }
    this.#add({ element, from: file.isIncoming ? file.from : null, file, time: file.time, speed: new Speed() });
    this.#show(file);
  }

  /** Shows a new state of a file at once, and its progress at most five times a second. */
  update(file) {
    const entry = this.#entries.find((one) => one.file === file);
    if (entry?.element.dataset.state !== stateOf(file)) return this.#show(file);
    this.#waiting.add(file);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const one of this.#waiting) this.#show(one);
      this.#waiting.clear();
    }, 200);
  }

  /** Shows who cannot be reached, or with an empty text nothing. */
  setReach(text) {
    if ($('reach').textContent !== text) $('reach').textContent = text;
    $('reach').hidden = !text;
  }

  /** Shows another name of a participant. */
  renamed(id) {
    for (const { element, from } of this.#entries) if (from === id) this.#sign(element, id);
  }

  #sign(element, from) {
    element.querySelector('.meta b').textContent = from === null ? 'you' : this.#options.label(from);
  }

  clear() {
    for (const entry of this.#entries.splice(0)) this.#discard(entry);
    this.#unread = 0;
    this.#showUnread();
  }

  #say() {
    const text = $('say').value;
    if (text.trim() && this.#options.say(text) === null) return;
    $('say').value = '';
    fitText();
  }

  #add(entry) {
    const { element, from, time, file } = entry;
    const wasAtEnd = isAtEnd();
    const before = this.#entries.at(-1);
    element.classList.toggle('own', from === null);
    // A file always shows its sender.
    const follows = !file?.isIncoming && before?.from === from && time - before.time < shownTogether;
    element.classList.toggle('follows', follows);
    element.dataset.from = from ?? 'you';
    if (from !== null) element.style.setProperty('--hue', hue(from));
    this.#sign(element, from);
    const clock = element.querySelector('time');
    clock.textContent = new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    clock.dateTime = new Date(time).toISOString();
    this.#entries.push(entry);
    $('log').append(element);
    while (this.#entries.length > maximumEntries) {
      const index = this.#entries.findIndex(({ file }) => !file || isOver(file));
      if (index < 0) break;
      this.#discard(this.#entries.splice(index, 1)[0]);
    }
    if (wasAtEnd || from === null) scrollToEnd();
    if (this.isOpen || from === null) return;
    this.#unread += 1;
    this.#showUnread();
  }

  #discard({ element, file, url }) {
    element.remove();
    if (url) URL.revokeObjectURL(url);
    if (file) this.#options.forget(file);
  }

  #show(file) {
    const entry = this.#entries.find((one) => one.file === file);
    if (!entry) return;
    const { element } = entry;
    const state = stateOf(file);
    const wasAtEnd = isAtEnd();
    const isRunning = ['accepted', 'receiving', 'sending'].includes(state);
    const hadFocus = element.contains(document.activeElement);
    element.dataset.state = state;
    const progress = element.querySelector('progress');
    progress.hidden = !isRunning;
    progress.value = file.isIncoming ? file.done : offerDone(file);
    element.querySelector('.file-note').textContent = file.isIncoming ? incomingNote(entry) : outgoingNote(entry);
    this.#showBlob(entry);
    const actions = {
      accept: file.isIncoming && state === 'offered', refuse: file.isIncoming && state === 'offered',
      cancel: isRunning || (!file.isIncoming && state === 'offered'), save: state === 'received' && file.isIncoming,
      discard: state === 'received' && file.isIncoming,
    };
    for (const action of element.querySelectorAll('[data-action]')) action.hidden = !actions[action.dataset.action];
    element.querySelector('.file-actions').hidden = !Object.values(actions).some(Boolean);
    // A button that vanishes hands the focus to its successor.
    if (hadFocus && document.activeElement?.hidden !== false) {
      (element.querySelector('[data-action]:not([hidden])') ?? $('log')).focus();
    }
    if (wasAtEnd) scrollToEnd();
  }

  /** Sets the link and the thumbnail of a file, once there are bytes, and removes them when it is discarded. */
  #showBlob(entry) {
    const { element, file } = entry;
    const blob = file.isIncoming ? file.blob : shownImages.test(file.file.type) ? file.file : null;
    if (!blob === !entry.url) return;
    const image = element.querySelector('.thumb');
    if (!blob) {
      URL.revokeObjectURL(entry.url);
      entry.url = null;
      image.hidden = true;
      return image.removeAttribute('src');
    }
    entry.url = URL.createObjectURL(blob);
    if (file.isIncoming) {
      const save = element.querySelector('[data-action=save]');
      Object.assign(save, { href: entry.url, download: file.name });
      save.setAttribute('aria-label', `Save ${file.name}`);
    }
    if (!shownImages.test(blob.type) || blob.size > maximumThumbnail) return;
    image.onload = () => {
      const wasAtEnd = isAtEnd();
      image.hidden = false;
      if (wasAtEnd) scrollToEnd();
    };
    image.alt = `Picture ${file.name}`;
    image.src = entry.url;
  }

  #showUnread() {
    $('unread').textContent = this.#unread > 99 ? '99+' : this.#unread;
    $('unread').hidden = this.#unread === 0;
    $('chat').ariaLabel = this.#unread === 0 ? 'Chat' : `Chat, ${this.#unread} unread`;
    $('chat').title = `${this.isOpen ? 'Close' : 'Open'} the chat (C)`;
  }

  #acceptDrops() {
    const call = $('call');
    const hasFiles = (event) => !call.hidden && event.dataTransfer?.types.includes('Files');
    addEventListener('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      $('drop').hidden = false;
    });
    addEventListener('dragleave', (event) => { if (!event.relatedTarget) $('drop').hidden = true; });
    addEventListener('drop', (event) => {
      $('drop').hidden = true;
      if (!hasFiles(event)) return;
      event.preventDefault();
      const isFolder = (item) => item.webkitGetAsEntry?.()?.isDirectory === true;
      const files = [...event.dataTransfer.items].filter((item) => item.kind === 'file' && !isFolder(item));
      if (!this.isOpen) this.toggle();
      this.#options.offer(files.map((item) => item.getAsFile()).filter(Boolean));
    });
  }
}

/** Bytes in each second, averaged over about two seconds. */
class Speed {
  #points = [];

  /** Takes how many bytes are transferred so far, and returns the speed as a text, empty while it is unknown. */
  text(bytes) {
    const now = performance.now();
    const points = this.#points;
    points.push({ now, bytes });
    while (points.length > 2 && now - points[1].now > 2000) points.shift();
    const time = now - points[0].now;
    return time < 300 ? '' : `${amount((1000 * (bytes - points[0].bytes)) / time)}/s`;
  }
}

function incomingNote({ file, speed }) {
  const { state, size, received, reason } = file;
  switch (state) {
    case 'accepted': return `${amount(size)} · starting …`;
    case 'receiving': {
      return [`${amount(received)} of ${amount(size)}`, speed.text(received)].filter(Boolean).join(' · ');
    }
    case 'received': return `${amount(size)} · received`;
    case 'discarded': return `${amount(size)} · discarded`;
    default: return [amount(size), reason].filter(Boolean).join(' · ');
  }
}

function outgoingNote({ file: { size, transfers }, speed }) {
  if (transfers.length === 0) return `${amount(size)} · Nobody could receive it.`;
  const sending = transfers.filter(({ state }) => state === 'sending');
  const sent = sending.reduce((sum, transfer) => sum + transfer.sent, 0);
  const [only] = transfers.length === 1 ? transfers : [];
  const parts = [amount(size)];
  if (sending.length > 0) {
    parts[0] = only ? `${amount(sent)} of ${amount(size)}` : amount(size);
    if (!only) parts.push(`sending to ${sending.length}`);
    parts.push(speed.text(transfers.reduce((sum, transfer) => sum + transfer.sent, 0)));
  }
  const words = { offered: 'waiting for an answer', received: 'received', sent: 'sent', refused: 'refused' };
  if (only) parts.push(only.state === 'sending' ? '' : words[only.state] ?? only.reason);
  else {
    for (const state of ['offered', 'received', 'sent', 'refused', 'cancelled', 'failed']) {
      const count = transfers.filter((transfer) => transfer.state === state).length;
      if (count > 0) parts.push(`${count} ${state === 'offered' ? 'waiting' : state}`);
    }
  }
  return parts.filter(Boolean).join(' · ');
}

function stateOf({ isIncoming, state: stateOfIncoming, transfers }) {
  if (isIncoming) return stateOfIncoming;
  for (const state of ['sending', 'offered']) if (transfers.some((transfer) => transfer.state === state)) return state;
  const [only] = transfers.length === 1 ? transfers : [];
  return only?.state === 'failed' || only?.state === 'refused' ? only.state : 'over';
}

function offerDone({ size, transfers }) {
  const started = transfers.filter(({ sent, state }) => sent > 0 || state === 'sending');
  if (size === 0 || started.length === 0) return 0;
  return started.reduce((sum, { sent }) => sum + sent, 0) / (size * started.length);
}

function isOver(file) { return file.isIncoming ? file.isOver : file.transfers.every((transfer) => transfer.isOver); }

/** A number of bytes as a text, such as "1.2 MB". */
function amount(bytes) {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  while (value >= 999.5 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[0]}`;
}

function copy(template) { return $(template).content.firstElementChild.cloneNode(true); }

function isAtEnd() { return $('log').scrollHeight - $('log').scrollTop - $('log').clientHeight < 60; }

function scrollToEnd() { $('log').scrollTop = $('log').scrollHeight; }

/** Makes the text field as high as its text. */
function fitText() {
  $('say').style.height = '';
  if ($('say').scrollHeight > $('say').clientHeight) $('say').style.height = `${$('say').scrollHeight + 2}px`;
}
