// A call in a SkyRTC room. This file connects the modules:
//
//   signalling.js  the WebSocket to the server       peer.js   one RTCPeerConnection and its negotiation
//   media.js       our microphone and camera         tiles.js, layout.js  the video tiles and their places
//   streams.js     the streams of a participant      figures.js  what the browser measures of them
//   messages.js    the data channels and the chat    panel.js  the side panel with messages and files
//   incoming.js    files that others offer           outgoing.js  files that we offer
//   screen.js      our screen, if we share it         names.js  the names of all participants
//
// `/#ROOM` joins that room at once, under the remembered name if there is one. Without a fragment the page shows the lobby
// first. With the query `?name=TEXT` that is our name, which is not remembered. With `?screen=canvas` the page shares a
// generated picture as its screen, without a dialog and from the beginning of each call.
//
// Stable interface for tests and scripts:
//
//   window.call            .peers        Map of id to RTCPeerConnection
//                          .localStream  our microphone and camera, a MediaStream
//                          .screen       our screen, a MediaStream, without tracks while it is not shared
//                          .shareScreen(source)  shares a MediaStream, 'canvas' for a generated picture, or without a
//                                        source what the user selects; a promise of the reason if that is impossible
//                          .stopSharing()
//                          .streams(id)  what arrives from a participant: [{ number, id, isScreen, stream }]; number 1 is
//                                        the camera with the microphone, and id the one of the MediaStream that they send
//                          .received(id) a promise of [{ number, frames, packets, lost }]: the video frames that were
//                                        received of each of these streams, and the packets of both kinds
//                          .sent(id)     the same of what we send to them: number 1 is the camera, 2 the screen
//                          .you          our id, or null          .room   the room's name, or null
//                          .state        'lobby', 'preparing', 'connecting', 'joined' or 'reconnecting'
//                          .name         our name, or ''          .setName(text)  changes it, also during a call
//                          .profiles()   what others say of themselves: { ID: { name, records } }, '' for no name
//                          .isRecorded   whether one of them records
//                          .join(room)   a promise                .leave()
//                          .say(text)    sends a message to everyone; returns to how many, or null if it is too long
//                          .messages()   [{ from, text, time }], own ones are from `call.you`; time in ms since 1970
//                          .reachable    the ids of the participants to whom messages and files can be sent
//                          .offerFile(file)  a File or { name, bytes }; a promise of { ID: TRANSFER } when all are over
//                          .offers()     [{ name, size, transfers: { ID: TRANSFER } }], what we offered; TRANSFER is
//                                        { state, sent, sha256, reason } with the state 'offered', 'sending',
//                                        'received', 'sent' (without a confirmation), 'refused', 'cancelled', 'failed'
//                          .acceptFiles  set to true to accept every file without asking
//                          .files()      [{ name, size, from, state, received, sha256, reason }], what others offered;
//                                        the state is 'offered', 'accepted', 'receiving', 'received', 'refused',
//                                        'cancelled', 'failed' or 'discarded'
//                          .fileBytes(i) a promise of the Uint8Array of the received file files()[i]
//   body                   data-view     'lobby' or 'call'
//   #name #room #join      the lobby's fields and button          #lobby-problem  why joining failed
//   #own-name              the field for our name in the call     #recorded       shown while somebody records
//   #status                data-state    the same words as call.state
//   #banner                problems in the call                   #hear           shown when audio needs a click
//   #tiles > .tile         data-peer     the id, or 'you'         data-picture    'on' or 'off'
//                          data-stream   the number of the stream; each further one has a tile while it arrives
//                          .screen       it is a screen           .large          it is shown large
//                          .records      the participant records
//                          data-state    'waiting', 'connecting', 'connected', 'reconnecting' or 'failed'
//                          data-path     'direct', 'relayed' (by a TURN server), or '' while not connected
//   #microphone #camera    aria-pressed  'true' while it is on    #copy #figures #leave
//   #screen                data-sharing  'true' while our screen is shared; aria-disabled 'true' if it cannot be
//   #chat                  aria-expanded 'true' while #panel is open           #unread   the number of unread entries
//   #say #send             the text field and its button                       #attach #file  choose files to offer
//   #log > .entry          data-from     the id, or 'you'; a message or, with the class file, a file with
//                          data-state    as in files(); for own files 'offered', 'sending' or 'over'
//                          [data-action] 'accept', 'refuse', 'cancel', 'save' and 'discard'
//   #panel-close #reach    closes the panel; says how many participants cannot be reached

import { Signalling } from './signalling.js';
import { figureTexts, receivedFigures, sentFigures } from './figures.js';
import { Media } from './media.js';
import { cleanOwnName, Profiles, rememberedName, rememberName } from './names.js';
import { Screen } from './screen.js';
import { Peer } from './peer.js';
import { Tiles } from './tiles.js';
import { byteLength, cleanText, maximumText, Messages } from './messages.js';
import { Incoming } from './incoming.js';
import { Outgoing } from './outgoing.js';
import { Panel } from './panel.js';

const defaultRoom = '__default';
const departureTimeout = 15_000;
const maximumFilesAtOnce = 20;
const $ = (id) => document.getElementById(id);

const media = new Media();
const screen = new Screen();
/** What the button shares: `canvas`, or undefined for what the user selects. */
const screenSource = new URLSearchParams(location.search).get('screen') === 'canvas' ? 'canvas' : undefined;
const givenName = new URLSearchParams(location.search).get('name');
let ownName = givenName === null ? rememberedName() : cleanOwnName(givenName);
/** What the others say of themselves. */
const profiles = new Profiles();
const tiles = new Tiles($('tiles'), () => { $('hear').hidden = false; });
const peers = new Map();
let watches = 0;
/** The timers of participants whom the server no longer lists although our call with them continues. */
const departureTimers = new Map();

const messages = new Messages({
  chat(id, text) {
    if (!text) return;
    panel.addMessage(id, text);
    if (!panel.isOpen) toast(`${profiles.label(id)}: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`);
  },
  file(id, message) {
    incoming.received(id, message);
    outgoing.received(id, message);
  },
  fileChannel: (id, channel) => incoming.gotChannel(id, channel),
  lost(id) {
    incoming.lost(id);
    outgoing.lost(id);
  },
  changed: showReach,
});
const send = (id, message) => messages.send(id, message);
const incoming = new Incoming({
  send,
  accepts: () => window.call.acceptFiles === true,
  added(file) {
    panel.addFile(file);
    if (!panel.isOpen) toast(`${profiles.label(file.from)} offers ${file.name}`);
  },
  changed: (file) => panel.update(file),
});
const outgoing = new Outgoing({
  send,
  waiting: (id) => messages.waiting(id),
  pc: (id) => peers.get(id)?.pc,
  added: (offer) => panel.addFile(offer),
  changed: (offer) => panel.update(offer),
});
const panel = new Panel({
  label: (id) => profiles.label(id),
  say,
  offer: offerFiles,
  accept: (file) => incoming.accept(file),
  refuse: (file) => incoming.refuse(file),
  discard: (file) => incoming.discard(file),
  cancel: (file) => (file.isIncoming ? incoming : outgoing).cancel(file),
  forget: (file) => (file.isIncoming ? incoming : outgoing).forget(file),
});

let signalling = null;
let you = null;
let room = null;
/** The room of the messages in the panel. */
let roomOfMessages = null;
let state = 'lobby';
let attempt = 0;
let ready = null;
let settings = null;

window.call = {
  get peers() { return new Map([...peers].filter(([, peer]) => peer.pc).map(([id, peer]) => [id, peer.pc])); },
  get localStream() { return media.stream; },
  get screen() { return screen.stream; },
  shareScreen: (source) => screen.start(source),
  stopSharing: () => screen.stop(),
  streams: (id) => (peers.get(id)?.streams ?? []).map(({ number, id: name, isScreen, stream }) => (
    { number, id: name, isScreen, stream })),
  received: async (id) => (peers.has(id) ? receivedFigures(peers.get(id)) : []),
  sent: async (id) => (peers.has(id) ? sentFigures(peers.get(id)) : []),
  get you() { return you; },
  get room() { return room; },
  get state() { return state; },
  get name() { return ownName; },
  setName,
  profiles: () => Object.fromEntries([...peers.keys()].map((id) => [id, { ...profiles.get(id) }])),
  get isRecorded() { return isRecorded(); },
  join,
  leave,
  say,
  messages: () => panel.messages.map(({ from, text, time }) => ({ from: from ?? you, text, time })),
  get reachable() { return messages.reachable; },
  acceptFiles: false,
  offerFile(file) {
    const given = file instanceof Blob ? file : new File([file.bytes], file.name);
    return outgoing.offer(given, messages.reachable).results;
  },
  offers: () => outgoing.list.map(({ name, size, transfers }) => ({
    name, size,
    transfers: Object.fromEntries(
      transfers.map(({ to, state, sent, sha256, reason }) => [to, { state, sent, sha256, reason }])),
  })),
  files: () => incoming.list.map(({ name, size, from, state, received, sha256, reason }) => (
    { name, size, from, state, received, sha256, reason })),
  async fileBytes(index) { return new Uint8Array(await incoming.list[index].blob.arrayBuffer()); },
};

// Joining and leaving.

async function join(name) {
  if (signalling || state === 'preparing') leave();
  const mine = ++attempt;
  room = name || defaultRoom;
  if (room !== roomOfMessages) panel.clear();
  roomOfMessages = room;
  setState('preparing');
  show('call');
  setHash(room);
  $('room-name').textContent = room === defaultRoom ? 'Default room' : `Room ${room}`;
  document.title = `${$('room-name').textContent} – Call`;
  banner('Waiting for your camera and microphone …', 'Join without');
  tiles.add('you', { isYou: true });
  tiles.setState('you', 'connected');
  showOwnName();
  await Promise.race([openMedia(), new Promise((resolve) => { $('banner').onclick = resolve; })]);
  settings ??= await loadSettings();
  if (mine !== attempt) return;
  banner(media.problem);
  showMedia();
  if (screenSource) screen.start(screenSource);
  showScreen();
  setState('connecting');
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/`;
  signalling = new Signalling(url, room, () => (ownName ? { name: ownName } : {}), handlers);
  signalling.open();
}

function leave(problem = '') {
  attempt += 1;
  signalling?.close();
  signalling = null;
  for (const id of [...peers.keys()]) removePeer(id);
  screen.stop();
  tiles.clear();
  profiles.clear();
  showRecorded();
  you = null;
  room = null;
  $('hear').hidden = true;
  banner('');
  setState('lobby');
  show('lobby');
  document.title = 'Call';
  $('lobby-problem').textContent = problem || media.problem;
  $('lobby-problem').hidden = !$('lobby-problem').textContent;
  $(ownName ? 'room' : 'name').focus();
}

/** Takes a name from the user, who is known by it from now on; '' for none. */
function setName(text) {
  const name = cleanOwnName(text);
  rememberName(name);
  const isNew = name !== ownName;
  ownName = name;
  showOwnName();
  if (isNew) signalling?.sendProfile();
}

function showOwnName() {
  $('name').value = ownName;
  $('own-name').value = ownName;
  tiles.setName('you', ownName ? `${ownName} (you)` : 'you', you);
}

function isRecorded() { return [...peers.keys()].some((id) => profiles.get(id).records); }

function showRecorded() { $('recorded').hidden = !isRecorded(); }

/** Stores and shows a participant's profile. */
function setProfile(id, profile) {
  profiles.set(id, profile);
  const { name, records } = profiles.get(id);
  tiles.setName(id, name, id);
  tiles.setRecords(id, records);
  panel.renamed(id);
  showRecorded();
}

const handlers = {
  welcome(id, others, theirProfiles) {
    if (you !== null && you !== id) for (const old of [...peers.keys()]) removePeer(old);
    you = id;
    showOwnName();
    setState('joined');
    banner(media.problem);
    for (const [old] of peers) if (!others.includes(old)) awaitReturn(old);
    // The newcomer sends the offers. This also renegotiates a call that continued without the server.
    for (const other of others) {
      addPeer(other).offer();
      setProfile(other, theirProfiles.get(other));
    }
    count();
  },
  joined(id, profile) {
    addPeer(id);
    setProfile(id, profile);
    count();
    toast(`${profiles.label(id)} joined`);
  },
  profile(id, profile) {
    if (!peers.has(id)) return;
    const before = profiles.label(id);
    setProfile(id, profile);
    if (profiles.label(id) !== before) toast(`${before} is now ${profiles.label(id)}`);
  },
  left(id) {
    if (!peers.has(id)) return;
    const name = profiles.label(id);
    removePeer(id);
    count();
    toast(`${name} left`);
  },
  offer(id, description) { peers.get(id)?.receivedOffer(description); },
  answer(id, description) { peers.get(id)?.receivedAnswer(description); },
  candidate(id, candidate) { peers.get(id)?.receivedCandidate(candidate); },
  lost(seconds) {
    setState('reconnecting');
    banner(you === null
      ? `The server cannot be reached. Reconnecting in ${Math.ceil(seconds)} s …`
      : `The connection to the server is lost. Calls continue; reconnecting in ${Math.ceil(seconds)} s …`);
  },
  refused(reason) { leave(reason || 'The server refused the connection.'); },
};

/** Returns the peer with this id, creating it if necessary. */
function addPeer(id) {
  clearTimeout(departureTimers.get(id));
  departureTimers.delete(id);
  const known = peers.get(id);
  if (known) return known;
  const peer = new Peer(id, you < id, {
    iceServers: settings.iceServers,
    localStream: () => media.stream,
    send: (eventName, data) => signalling?.send(eventName, data),
    changed: (changed) => tiles.setState(id, changed.state),
    screen: () => screen.stream,
    gotStreams: showStreams,
    opened: ({ pc }) => messages.open(id, pc),
    gotChannel: (changed, channel) => messages.add(id, channel),
    closed: () => messages.remove(id),
  });
  peers.set(id, peer);
  tiles.add(id);
  tiles.setState(id, peer.state);
  return peer;
}

function showStreams({ id, streams }) {
  if (tiles.setStreams(id, streams).some(({ isScreen }) => isScreen)) toast(`${profiles.label(id)} shares a screen`);
}

function removePeer(id) {
  clearTimeout(departureTimers.get(id));
  departureTimers.delete(id);
  peers.get(id)?.close();
  peers.delete(id);
  tiles.remove(id);
  profiles.remove(id);
  showRecorded();
}

/** Keeps a call with a participant who has lost the server too, as long as it works. */
function awaitReturn(id) {
  clearTimeout(departureTimers.get(id));
  departureTimers.set(id, setTimeout(() => {
    if (peers.get(id)?.state === 'connected') return awaitReturn(id);
    removePeer(id);
    count();
  }, departureTimeout));
}

// Messages and files.

/** Sends a message to everyone; returns to how many, or null if the text is too long. */
function say(text) {
  const content = cleanText(text.slice(0, 2 * maximumText)).trim();
  if (!content) return 0;
  if (byteLength(text) > maximumText) {
    toast('This message is longer than 16 KiB. Send it as a file.');
    return null;
  }
  const reached = messages.reachable.filter((id) => send(id, { type: '__msg', data: content })).length;
  panel.addMessage(null, content, reached < peers.size || reached === 0
    ? reached === 0 ? 'Nobody could receive this.' : `Sent to ${reached} of ${peers.size} participants.` : '');
  return reached;
}

function offerFiles(files) {
  if (messages.reachable.length === 0) {
    return toast(peers.size === 0 ? 'Nobody else is here to receive files.' : 'Nobody here can receive files.');
  }
  if (files.length > maximumFilesAtOnce) return toast(`Send at most ${maximumFilesAtOnce} files at once.`);
  for (const file of files) {
    try { outgoing.offer(file, messages.reachable); } catch (error) { toast(error.message); }
  }
}

/** Says how many connected participants have no data channel. */
function showReach() {
  const connected = [...peers.values()].filter((peer) => peer.state === 'connected');
  const unreachable = connected.filter((peer) => !messages.reachable.includes(peer.id)).length;
  const who = unreachable === 1 ? '1 participant' : `${unreachable} participants`;
  panel.setReach(unreachable === 0 ? '' : `${who} cannot receive messages.`);
}

async function loadSettings() {
  try {
    const answer = await fetch('settings.json');
    const { iceServers } = await answer.json();
    return { iceServers: Array.isArray(iceServers) ? iceServers : [] };
  } catch {
    return { iceServers: [] };
  }
}

// Microphone, camera and screen.

function openMedia() {
  ready ??= media.open().then(() => { showMedia(); startMeter(); });
  return ready;
}

media.addEventListener('change', showMedia);
media.addEventListener('track', ({ detail: track }) => {
  for (const peer of peers.values()) peer.setTrack(track.kind, track);
});

function showMedia() {
  for (const video of [$('preview')]) if (video.srcObject !== media.stream) video.srcObject = media.stream;
  showOwnStreams();
  tiles.setCamera('you', media.isCameraOn);
  $('preview-box').dataset.camera = media.isCameraOn ? 'on' : 'off';
  $('preview-text').textContent = media.hasCamera ? 'Your camera is off' : 'Your camera appears here';
  const isOn = { microphone: media.isMicrophoneOn, camera: media.isCameraOn };
  for (const button of document.querySelectorAll('[data-toggle]')) {
    const device = button.dataset.toggle;
    button.setAttribute('aria-pressed', isOn[device]);
    button.ariaLabel = device === 'microphone' ? 'Microphone' : 'Camera';
    button.title = `Turn ${device} ${isOn[device] ? 'off' : 'on'} (${device === 'microphone' ? 'M' : 'V'})`;
  }
  if (state === 'joined') banner(media.problem);
  if (state === 'lobby') {
    $('lobby-problem').textContent = media.problem;
    $('lobby-problem').hidden = !media.problem;
  }
}

function showOwnStreams() {
  const own = [{ number: 1, isScreen: false, stream: media.stream }];
  if (screen.isShared) own.push({ number: 2, isScreen: true, stream: screen.stream });
  tiles.setStreams('you', own);
}

screen.addEventListener('change', () => {
  for (const peer of peers.values()) peer.setScreen();
  showScreen();
});

function showScreen() {
  showOwnStreams();
  const { isShared } = screen;
  const problem = screenSource ? '' : Screen.problem;
  $('screen').hidden = !screenSource && !Screen.isKnown;
  $('screen').dataset.sharing = isShared;
  $('screen').setAttribute('aria-disabled', Boolean(problem));
  $('screen').ariaLabel = isShared ? 'Stop sharing' : 'Share screen';
  $('screen').title = problem || `${isShared ? 'Stop sharing' : 'Share screen'} (S)`;
}

async function toggleScreen() {
  if (screen.isShared) {
    screen.stop();
    return toast('You no longer share your screen');
  }
  const problem = await screen.start(screenSource);
  if (problem) toast(problem);
  else if (screen.isShared) toast('You share your screen with everyone in the call');
}

async function toggle(device) {
  const problem = await (device === 'microphone' ? media.toggleMicrophone() : media.toggleCamera());
  if (problem) toast(problem);
}

/** Shows the microphone's level in the lobby. */
function startMeter() {
  if (!media.hasMicrophone || !window.AudioContext) return;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(media.stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const level = media.isMicrophoneOn ? Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length) : 0;
    $('meter').style.setProperty('--level', Math.min(1, level * 6).toFixed(2));
    tiles.setSpeaking('you', level > 0.03);
  }, 150);
}

// Display.

function show(view) {
  document.body.dataset.view = view;
  $('lobby').hidden = view !== 'lobby';
  $('call').hidden = view !== 'call';
}

function setState(next) {
  state = next;
  $('status').dataset.state = next;
  $('status').textContent = next === 'joined' ? 'in the room' : next;
}

function banner(text, action = '') {
  $('banner').hidden = !text;
  $('banner').onclick = null;
  $('banner').replaceChildren(text);
  if (!action) return;
  const button = Object.assign(document.createElement('button'), { id: 'join-without', type: 'button' });
  button.textContent = action;
  $('banner').append(' ', button);
}

let toastTimer = null;
function toast(text) {
  clearTimeout(toastTimer);
  $('toast').textContent = text;
  $('toast').classList.add('shown');
  toastTimer = setTimeout(() => $('toast').classList.remove('shown'), Math.max(2500, text.length * 60));
}

function count() {
  $('count').textContent = peers.size === 0 ? 'no other participants yet' : `${peers.size + 1} participants`;
}

/**
 * Every half second, marks the participants who speak, and updates the statistics if they are visible. Every two seconds,
 * and when a participant has become connected, updates whether the call with them is relayed.
 */
async function watch() {
  const isShown = document.body.classList.contains('with-figures');
  showReach();
  for (const [id, peer] of peers) {
    for (const { number, receivers } of peer.streams) {
      const audio = receivers.find((receiver) => receiver.track.kind === 'audio');
      tiles.setSpeaking(id, (audio?.getSynchronizationSources()[0]?.audioLevel ?? 0) > 0.02, number);
    }
    if (isShown && peer.pc) for (const [number, text] of await figureTexts(peer)) tiles.setNumbers(id, number, text);
    if (watches % 4 === 0 || peer.shownPath === '') {
      peer.shownPath = await peer.path();
      tiles.setPath(id, peer.shownPath);
    }
  }
  watches += 1;
}

// User input.

function roomFromHash() {
  const text = location.hash.slice(1);
  try { return decodeURIComponent(text); } catch { return text; }
}

function setHash(name) {
  if (roomFromHash() !== name) history.replaceState(null, '', `#${encodeURIComponent(name)}`);
}

async function copyLink() {
  const invitation = location.origin + location.pathname + location.hash;
  try {
    await navigator.clipboard.writeText(invitation);
    toast('Invitation link copied');
  } catch {
    // Insecure pages have no clipboard.
    window.prompt('Copy this link:', invitation);
  }
}

$('join-form').addEventListener('submit', (event) => {
  event.preventDefault();
  if (cleanOwnName($('name').value) !== ownName) setName($('name').value);
  join($('room').value.trim());
});
$('name-form').addEventListener('submit', (event) => {
  event.preventDefault();
  $('own-name').blur();
});
$('own-name').addEventListener('change', () => setName($('own-name').value));
$('own-name').addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  $('own-name').value = ownName;
  $('own-name').blur();
});
for (const button of document.querySelectorAll('[data-toggle]')) {
  button.addEventListener('click', () => toggle(button.dataset.toggle));
}
$('screen').addEventListener('click', toggleScreen);
$('copy').addEventListener('click', copyLink);
$('figures').addEventListener('click', () => {
  const isShown = document.body.classList.toggle('with-figures');
  $('figures').setAttribute('aria-pressed', isShown);
});
$('hear').addEventListener('click', () => {
  $('hear').hidden = true;
  tiles.hear();
});
$('leave').addEventListener('click', () => {
  $('room').value = room === defaultRoom ? '' : room;
  history.replaceState(null, '', location.pathname + location.search);
  leave();
});
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input, textarea')) return;
  if (event.key === 'm') toggle('microphone');
  if (event.key === 'v') toggle('camera');
  if (event.key === 's' && document.body.dataset.view === 'call' && !$('screen').hidden) toggleScreen();
  if (event.key === 'c' && document.body.dataset.view === 'call') {
    event.preventDefault();
    panel.toggle();
  }
});
addEventListener('hashchange', () => { if (roomFromHash() !== (room ?? '')) join(roomFromHash()); });
addEventListener('pagehide', () => {
  signalling?.close();
  for (const peer of peers.values()) peer.close();
});

setInterval(watch, 500);
showMedia();
showScreen();
showOwnName();
if (location.hash.length > 1) {
  join(roomFromHash());
} else {
  $(ownName ? 'room' : 'name').focus();
  openMedia();
}
