// A call in a SkyRTC room. This file connects the modules:
//
//   signalling.js  the WebSocket to the server       peer.js   one RTCPeerConnection and its negotiation
//   media.js       our microphone and camera         tiles.js  the video tiles
//
// `/#ROOM` joins that room at once. Without a fragment the page shows the lobby first.
//
// Stable interface for tests and scripts:
//
//   window.call            .peers        Map of id to RTCPeerConnection
//                          .localStream  what we send, a MediaStream
//                          .you          our id, or null          .room   the room's name, or null
//                          .state        'lobby', 'preparing', 'connecting', 'joined' or 'reconnecting'
//                          .join(room)   a promise                .leave()
//   body                   data-view     'lobby' or 'call'
//   #room #join            the lobby's field and button           #lobby-problem  why joining failed
//   #status                data-state    the same words as call.state
//   #banner                problems in the call                   #hear           shown when audio needs a click
//   #tiles > .tile         data-peer     the id, or 'you'         data-picture    'on' or 'off'
//                          data-state    'waiting', 'connecting', 'connected', 'reconnecting' or 'failed'
//   #microphone #camera    aria-pressed  'true' while it is on    #copy #figures #leave

import { Signalling } from './signalling.js';
import { Media } from './media.js';
import { Peer } from './peer.js';
import { Tiles } from './tiles.js';

const defaultRoom = '__default';
const departureTimeout = 15_000;
const $ = (id) => document.getElementById(id);

const media = new Media();
const tiles = new Tiles($('tiles'), () => { $('hear').hidden = false; });
const peers = new Map();
/** The timers of participants whom the server no longer lists although our call with them continues. */
const departureTimers = new Map();

let signalling = null;
let you = null;
let room = null;
let state = 'lobby';
let attempt = 0;
let ready = null;
let settings = null;

window.call = {
  get peers() { return new Map([...peers].filter(([, peer]) => peer.pc).map(([id, peer]) => [id, peer.pc])); },
  get localStream() { return media.stream; },
  get you() { return you; },
  get room() { return room; },
  get state() { return state; },
  join,
  leave,
};

// Joining and leaving.

async function join(name) {
  if (signalling || state === 'preparing') leave();
  const mine = ++attempt;
  room = name || defaultRoom;
  setState('preparing');
  show('call');
  setHash(room);
  $('room-name').textContent = room === defaultRoom ? 'Default room' : `Room ${room}`;
  document.title = `${$('room-name').textContent} – Call`;
  banner('Waiting for your camera and microphone …', 'Join without');
  tiles.add('you', { isYou: true });
  tiles.setState('you', 'connected');
  await Promise.race([openMedia(), new Promise((resolve) => { $('banner').onclick = resolve; })]);
  settings ??= await loadSettings();
  if (mine !== attempt) return;
  banner(media.problem);
  showMedia();
  setState('connecting');
  signalling = new Signalling(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/`, room, handlers);
  signalling.open();
}

function leave(problem = '') {
  attempt += 1;
  signalling?.close();
  signalling = null;
  for (const id of [...peers.keys()]) removePeer(id);
  tiles.clear();
  you = null;
  room = null;
  $('hear').hidden = true;
  banner('');
  setState('lobby');
  show('lobby');
  document.title = 'Call';
  $('lobby-problem').textContent = problem || media.problem;
  $('lobby-problem').hidden = !$('lobby-problem').textContent;
  $('room').focus();
}

const handlers = {
  welcome(id, others) {
    if (you !== null && you !== id) for (const old of [...peers.keys()]) removePeer(old);
    you = id;
    tiles.setName('you', `you · ${id.slice(0, 6)}`);
    setState('joined');
    banner(media.problem);
    for (const [old] of peers) if (!others.includes(old)) awaitReturn(old);
    // The newcomer sends the offers. This also renegotiates a call that continued without the server.
    for (const other of others) addPeer(other).offer();
    count();
  },
  joined(id) {
    addPeer(id);
    count();
    toast(`${id.slice(0, 6)} joined`);
  },
  left(id) {
    if (!peers.has(id)) return;
    removePeer(id);
    count();
    toast(`${id.slice(0, 6)} left`);
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
    iceServers: settings.iceServers.map((urls) => ({ urls })),
    localStream: () => media.stream,
    send: (eventName, data) => signalling?.send(eventName, data),
    changed: (changed) => tiles.setState(id, changed.state),
    gotStream: (changed) => tiles.setStream(id, changed.stream),
  });
  peers.set(id, peer);
  tiles.add(id);
  tiles.setState(id, peer.state);
  return peer;
}

function removePeer(id) {
  clearTimeout(departureTimers.get(id));
  departureTimers.delete(id);
  peers.get(id)?.close();
  peers.delete(id);
  tiles.remove(id);
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

async function loadSettings() {
  try {
    const answer = await fetch('settings.json');
    const { iceServers } = await answer.json();
    return { iceServers: Array.isArray(iceServers) ? iceServers : [] };
  } catch {
    return { iceServers: [] };
  }
}

// Microphone and camera.

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
  tiles.setStream('you', media.stream);
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

/** Every half second, marks the participants who speak, and updates the statistics if they are visible. */
async function watch() {
  const isShown = document.body.classList.contains('with-figures');
  for (const [id, peer] of peers) {
    const audio = peer.pc?.getReceivers().find((receiver) => receiver.track.kind === 'audio');
    const level = audio?.getSynchronizationSources()[0]?.audioLevel ?? 0;
    tiles.setSpeaking(id, level > 0.02);
    if (isShown && peer.pc) tiles.setNumbers(id, await figures(peer));
  }
}

async function figures(peer) {
  const parts = [];
  let roundTrip = '';
  const now = performance.now();
  for (const report of (await peer.pc.getStats()).values()) {
    if (report.type === 'inbound-rtp' && report.kind === 'video') {
      const before = peer.before ?? { bytes: report.bytesReceived, at: now - 1000 };
      const bitrate = (8 * (report.bytesReceived - before.bytes)) / (now - before.at);
      peer.before = { bytes: report.bytesReceived, at: now };
      parts.unshift(
        `${report.frameWidth ?? 0}×${report.frameHeight ?? 0}`, `${Math.round(report.framesPerSecond ?? 0)} fps`,
        `${Math.round(bitrate)} kb/s`, `${report.packetsLost ?? 0} lost`);
    }
    if (report.type === 'candidate-pair' && report.nominated && report.currentRoundTripTime !== undefined) {
      roundTrip = `${Math.round(report.currentRoundTripTime * 1000)} ms`;
    }
  }
  if (roundTrip) parts.push(roundTrip);
  return parts.join(' · ');
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
  try {
    await navigator.clipboard.writeText(location.href);
    toast('Invitation link copied');
  } catch {
    // Insecure pages have no clipboard.
    window.prompt('Copy this link:', location.href);
  }
}

$('join-form').addEventListener('submit', (event) => {
  event.preventDefault();
  join($('room').value.trim());
});
for (const button of document.querySelectorAll('[data-toggle]')) {
  button.addEventListener('click', () => toggle(button.dataset.toggle));
}
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
  history.replaceState(null, '', location.pathname);
  leave();
});
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input')) return;
  if (event.key === 'm') toggle('microphone');
  if (event.key === 'v') toggle('camera');
});
addEventListener('hashchange', () => { if (roomFromHash() !== (room ?? '')) join(roomFromHash()); });
addEventListener('pagehide', () => {
  signalling?.close();
  for (const peer of peers.values()) peer.close();
});

setInterval(watch, 500);
showMedia();
if (location.hash.length > 1) {
  join(roomFromHash());
} else {
  $('room').focus();
  openMedia();
}
