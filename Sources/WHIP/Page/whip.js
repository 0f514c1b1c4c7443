// The publisher (WHIP, RFC 9725) and the player (WHEP) of a room. `/whip.html#ROOM` and `/whep.html#ROOM` begin at
// once; `#ROOM?pattern` publishes the test pattern. With the query `?name=TEXT` the publisher has that name in the room, and the
// player shows the participant with that id or name.
//
// Stable interface for tests and scripts:
//
//   window.whip            .pc          the RTCPeerConnection, or null      .stream   what is sent or received
//                          .state       'idle', 'preparing', 'connecting', 'connected', 'reconnecting' or 'failed'
//                          .location    the address of the session          .problem  the last problem
//                          .start(room) a promise                           .stop()   a promise
//                          .participants   those whom the player can choose, [{ id, name }]
//                          .choose(id)  plays this one, by id or name, or anybody with ''; a promise
//   body                   data-state   the same words                      data-picture  'on' while video is shown
//                          data-media   'on' while media is sent or received
//   #room #token #start #stop #status #problem #numbers #video, #name and #source in the publisher, #hear and #who in the player

import { cleanOwnName, label, rememberedName, rememberName } from './names.js';

const role = document.body.dataset.role;
const isPublisher = role === 'whip';
const $ = (id) => document.getElementById(id);

const responseTimeout = 10_000;
const trickleDelay = 50;
const maximumRestarts = 3;
/** The time without a video frame after which the player no longer shows the last one. */
const maximumStandstill = 4_000;
const listInterval = 2_000;
const words = {
  idle: 'not connected', preparing: 'preparing', connecting: 'connecting',
  connected: isPublisher ? 'publishing' : 'playing', reconnecting: 'reconnecting', failed: 'failed',
};
// Shown instead of `connected` while nothing is sent or received.
const waiting = isPublisher ? 'connected, nothing is sent' : 'connected, nothing arrives';

/** A session at a WHIP or WHEP endpoint: one RTCPeerConnection and its resource at the server. */
class Session {
  pc = null;
  location = null;
  // What the server rejected, a sentence; empty if nothing.
  remark = '';
  // Whether the server does not tell whom a player can choose.
  hasNoList = false;

  #endpoint;
  #token;
  #entityTag = null;
  #candidates = [];
  #timer = null;
  #isTrickling = true;
  #restarts = 0;
  #isClosed = false;

  constructor(endpoint, token) {
    this.#endpoint = endpoint;
    this.#token = token;
  }

  /** Connects with a stream to send, or without one to receive. `changed(state)` reports the connection's state. */
  async open(stream, changed, gotTrack) {
    const pc = this.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle', rtcpMuxPolicy: 'require' });
    const sent = [];
    for (const kind of ['audio', 'video']) {
      const track = stream?.getTracks().find((candidate) => candidate.kind === kind);
      if (track) sent.push([kind, pc.addTransceiver(track, { direction: 'sendonly', streams: [stream] })]);
      else if (!stream) pc.addTransceiver(kind, { direction: 'recvonly' });
    }
    pc.ontrack = ({ track }) => gotTrack?.(track);
    pc.onicecandidate = ({ candidate }) => this.#trickle(candidate);
    pc.onconnectionstatechange = () => {
      if (this.#isClosed) return;
      if (pc.connectionState === 'connected') this.#restarts = 0;
      if (pc.connectionState === 'failed' && this.#restarts < maximumRestarts) this.#restart().catch(() => changed('failed'));
      else changed(pc.connectionState);
    };
    await pc.setLocalDescription();
    const response = await this.#request('POST', this.#endpoint, { 'Content-Type': 'application/sdp' }, pc.localDescription.sdp);
    if (response.status === 406 && isSDP(response) && !isPublisher) return this.#answer(response);
    if (!response.ok) throw new Error(await explain(response));
    this.#take(response);
    await pc.setRemoteDescription({ type: 'answer', sdp: await response.text() });
    const rejected = sent.filter(([, transceiver]) => transceiver.currentDirection !== 'sendonly').map(([kind]) => kind);
    if (rejected.length > 0) this.remark = `The server does not take the ${rejected.join(' and the ')}. ${warning(response)}`.trim();
    this.#flushSoon();
  }

  /** Ends the session; the request outlives the page. */
  async close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // The session is ended first: a server that sees the connection end does not know the session any more.
    if (this.location) {
      const ended = this.#request('DELETE', this.location, {}, undefined, true).catch(() => {});
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000))]);
    }
    this.pc?.close();
  }

  /** Answers the offer that a WHEP server made instead of accepting ours. */
  async #answer(response) {
    this.#take(response);
    await this.pc.setLocalDescription({ type: 'rollback' });
    // They belonged to our offer.
    this.#candidates = [];
    await this.pc.setRemoteDescription({ type: 'offer', sdp: await response.text() });
    await this.pc.setLocalDescription();
    const accepted = await this.#request('PATCH', this.location, { 'Content-Type': 'application/sdp' }, this.pc.localDescription.sdp);
    if (!accepted.ok) throw new Error(await explain(accepted));
    this.#entityTag = accepted.headers.get('ETag') ?? this.#entityTag;
    this.#flushSoon();
  }

  #take(response) {
    const location = response.headers.get('Location');
    this.location = location ? new URL(location, response.url).href : null;
    this.#entityTag = response.headers.get('ETag');
  }

  #trickle(candidate) {
    if (!this.#isTrickling) return;
    this.#candidates.push(candidate?.candidate ? `a=${candidate.candidate}` : 'a=end-of-candidates');
    this.#flushSoon();
  }

  #flushSoon() {
    if (this.#timer === null && this.#candidates.length > 0) this.#timer = setTimeout(() => this.#flush(), trickleDelay);
  }

  async #flush() {
    this.#timer = null;
    if (!this.location || !this.#entityTag || this.#isClosed || !this.pc.localDescription) return;
    const lines = [...this.#credentials(), ...this.#mediaLines(), ...this.#candidates.splice(0)];
    try {
      const response = await this.#request('PATCH', this.location,
        { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': this.#entityTag }, lines.map((line) => `${line}\r\n`).join(''));
      if (!response.ok) this.#isTrickling = false;
    } catch {
      // Candidates are an addition: the server knows those of the offer and discovers others by itself.
      this.#isTrickling = false;
    }
  }

  async #restart() {
    this.#restarts += 1;
    const previous = this.pc.remoteDescription?.sdp;
    await this.pc.setLocalDescription(await this.pc.createOffer({ iceRestart: true }));
    this.#candidates = [];
    const lines = [...this.#credentials(), ...this.#mediaLines()];
    const response = await this.#request('PATCH', this.location,
      { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': '*' }, lines.map((line) => `${line}\r\n`).join(''));
    if (response.status !== 200) throw new Error(await explain(response));
    this.#entityTag = response.headers.get('ETag') ?? this.#entityTag;
    await this.pc.setRemoteDescription({ type: 'answer', sdp: restarted(previous, await response.text()) });
    this.#flushSoon();
  }

  #credentials() {
    const sdp = this.pc.localDescription.sdp;
    return ['ice-ufrag', 'ice-pwd'].map((name) => `a=${name}:${sdp.match(new RegExp(`^a=${name}:(.*?)\\r?$`, 'm'))?.[1] ?? ''}`);
  }

  #mediaLines() {
    const sdp = this.pc.localDescription.sdp;
    const kind = sdp.match(/^m=(\w+)/m)?.[1] ?? 'audio';
    return [`m=${kind} 9 RTP/AVP 0`, `a=mid:${sdp.match(/^a=mid:(.*?)\r?$/m)?.[1] ?? '0'}`];
  }

  async #request(method, url, headers, body, keepalive = false) {
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    return fetch(url, { method, headers, body, keepalive, signal: AbortSignal.timeout(responseTimeout) });
  }
}

function isSDP(response) {
  return (response.headers.get('Content-Type') ?? '').toLowerCase().startsWith('application/sdp');
}

/** The text of a `Warning` header (RFC 7234, 5.5), or an empty text. */
function warning(response) {
  const text = (response.headers.get('Warning') ?? '').match(/"((?:[^"\\]|\\.)*)"/)?.[1] ?? '';
  return text.replace(/\\(.)/g, '$1').slice(0, 200);
}

/** The previous answer with the credentials and candidates of a fragment (RFC 9725, 4.3.3). */
function restarted(answer, fragment) {
  const value = (name) => fragment.match(new RegExp(`^a=${name}:(.*?)\\r?$`, 'm'))?.[1];
  const candidates = fragment.split(/\r?\n/).filter((line) => line.startsWith('a=candidate:'));
  if (!value('ice-ufrag') || !value('ice-pwd')) throw new Error('The server did not restart ICE.');
  let sections = 0;
  return answer.split(/\r?\n/).filter(Boolean).flatMap((line) => {
    if (line.startsWith('a=ice-ufrag:')) return [`a=ice-ufrag:${value('ice-ufrag')}`];
    if (line.startsWith('a=ice-pwd:')) return [`a=ice-pwd:${value('ice-pwd')}`];
    if (candidates.length > 0 && /^a=(candidate:|end-of-candidates)/.test(line)) return [];
    if (line.startsWith('a=mid:') && ++sections === 1) return [line, ...candidates];
    return [line];
  }).map((line) => `${line}\r\n`).join('');
}

async function explain(response) {
  const isText = (response.headers.get('Content-Type') ?? '').startsWith('text/plain');
  const text = isText ? (await response.text()).trim().slice(0, 200) : '';
  switch (response.status) {
    case 401: return 'The server requires a valid token.';
    case 404: return text || 'The server does not know this room.';
    case 429: case 503: return text || 'The server is busy. Try again in a moment.';
    default: return text || `The server responded ${response.status}.`;
  }
}

/** A moving pattern of 640x480 with the time and a frame number, and a quiet tone that beeps once a second. */
class Pattern {
  stream = new MediaStream();

  #timer;
  #beeping;
  #audio = new AudioContext();

  constructor() {
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 });
    const paint = canvas.getContext('2d', { alpha: false });
    const bars = ['#c0c0c0', '#c0c000', '#00c0c0', '#00c000', '#c000c0', '#c00000', '#0000c0'];
    let frame = 0;
    const draw = () => {
      bars.forEach((color, index) => {
        paint.fillStyle = color;
        paint.fillRect(Math.floor(index * 640 / 7), 0, 92, 320);
      });
      paint.fillStyle = '#10131a';
      paint.fillRect(0, 320, 640, 160);
      paint.fillStyle = '#6d88ff';
      paint.beginPath();
      paint.arc(60 + 520 * (0.5 - 0.5 * Math.cos(frame / 30 * Math.PI)), 400, 34, 0, 2 * Math.PI);
      paint.fill();
      paint.fillStyle = '#fff';
      paint.font = '600 30px system-ui, sans-serif';
      paint.fillText(`${new Date().toISOString().slice(11, 23)}   frame ${frame}`, 24, 460);
      frame += 1;
    };
    draw();
    this.#timer = setInterval(draw, 1000 / 30);
    this.stream.addTrack(canvas.captureStream(30).getVideoTracks()[0]);
    const output = this.#audio.createMediaStreamDestination();
    const tone = new OscillatorNode(this.#audio, { frequency: 440 });
    const gain = new GainNode(this.#audio, { gain: 0 });
    tone.connect(gain).connect(output);
    tone.start();
    const beep = () => {
      gain.gain.setValueAtTime(0.2, this.#audio.currentTime);
      gain.gain.setTargetAtTime(0, this.#audio.currentTime + 0.15, 0.02);
    };
    beep();
    this.#beeping = setInterval(beep, 1000);
    this.stream.addTrack(output.stream.getAudioTracks()[0]);
  }

  stop() {
    clearInterval(this.#timer);
    clearInterval(this.#beeping);
    this.#audio.close();
    for (const track of this.stream.getTracks()) track.stop();
  }
}

async function openCamera() {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new Error('Browsers allow the camera only on pages loaded over HTTPS or from localhost. The test pattern works.');
  }
  const video = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
  for (const constraints of [{ audio: true, video }, { video }, { audio: true }]) {
    try {
      return await navigator.mediaDevices.getUserMedia(constraints);
    } catch (error) {
      if (error.name === 'NotAllowedError') throw new Error('The browser blocks camera and microphone on this page.');
    }
  }
  throw new Error('No camera and no microphone was found. The test pattern works.');
}

// The page.

let session = null;
let source = null;
let stream = null;
let state = 'idle';
let problem = '';
let attempt = 0;
let last = null;
let isFlowing = false;
/** When the last video frame was decoded, by `performance.now()`. */
let lastFrameAt = -Infinity;
/** The participants whom the player can choose, and the chosen one, by id or name; '' for any. */
let participants = [];
const queryName = new URLSearchParams(location.search).get('name');
let chosen = isPublisher ? '' : cleanOwnName(queryName);

/** Shows the state; a connection on which nothing flows does not look as if it did. */
function showStatus() {
  const isWaiting = state === 'connected' && !isFlowing;
  document.body.dataset.media = isFlowing ? 'on' : 'off';
  $('status').dataset.state = isWaiting ? 'waiting' : state;
  $('status').textContent = isWaiting ? waiting : words[state];
}

function show(next, text = '') {
  state = next;
  problem = text;
  const isActive = !['idle', 'failed'].includes(state);
  document.body.dataset.state = state;
  showStatus();
  $('problem').textContent = text;
  $('problem').hidden = !text;
  $('start').hidden = isActive;
  $('stop').hidden = !isActive;
  for (const id of ['room', 'token', 'source', 'name']) if ($(id)) $(id).disabled = isActive;
}

async function start(room) {
  await end();
  const mine = ++attempt;
  const name = room.trim();
  if (!name) return show('failed', 'A room needs a name.');
  $('room').value = name;
  history.replaceState(null, '', `#${encodeURIComponent(name)}`);
  show('preparing');
  try {
    if (isPublisher) {
      const isPattern = $('source').querySelector(':checked').value === 'pattern';
      source = isPattern ? new Pattern() : null;
      stream = isPattern ? source.stream : await openCamera();
    } else {
      stream = new MediaStream();
    }
    if (mine !== attempt) return;
    $('video').srcObject = stream;
    $('video').muted = isPublisher;
    show('connecting');
    const endpoint = new URL(`${role}/${encodeURIComponent(name)}`, document.baseURI);
    const wanted = isPublisher ? cleanOwnName($('name').value) : chosen;
    if (wanted) endpoint.searchParams.set('name', wanted);
    const opened = session = new Session(endpoint.href, $('token').value.trim());
    await opened.open(isPublisher ? stream : null, (connection) => {
      if (opened !== session) return;
      if (connection === 'connected') show('connected', opened.remark);
      else if (connection === 'disconnected') show('reconnecting');
      else if (connection === 'failed' || connection === 'closed') fail('The connection to the server was lost.');
    }, (track) => {
      stream.addTrack(track);
      play();
    });
    if (opened !== session) await opened.close();
  } catch (error) {
    if (mine === attempt) await fail(error.name === 'TimeoutError' ? 'The server did not respond in time.' : error.message);
  }
}

/** Plays what arrives; without the sound, until a click, in a browser that does not allow it. */
async function play() {
  const video = $('video');
  try {
    await video.play();
  } catch (error) {
    if (error.name !== 'NotAllowedError' || !$('hear')) return;
    video.muted = true;
    $('hear').hidden = false;
    video.play().catch(() => {});
  }
}

async function fail(text) {
  await end();
  show('failed', text);
}

async function end() {
  attempt += 1;
  const ended = session;
  session = null;
  last = null;
  isFlowing = false;
  lastFrameAt = -Infinity;
  showParticipants([]);
  source?.stop();
  source = null;
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = null;
  $('video').srcObject = null;
  $('numbers').textContent = '';
  if ($('hear')) $('hear').hidden = true;
  await ended?.close();
}

async function stop() {
  await end();
  show('idle');
}

/** Lists whom the player can choose. A server that does not tell them is not asked again in this session. */
async function listParticipants() {
  const asked = session;
  if (isPublisher || state !== 'connected' || asked.hasNoList) return;
  const token = $('token').value.trim();
  try {
    const url = new URL(`whep/${encodeURIComponent($('room').value)}/participants`, document.baseURI);
    const response = await fetch(url, {
      headers: token ? { Authorization: `Bearer ${token}` } : {}, signal: AbortSignal.timeout(responseTimeout),
    });
    if (response.status === 404) asked.hasNoList = true;
    if (!response.ok) return;
    const list = (await response.json()).participants;
    if (asked === session && Array.isArray(list)) showParticipants(list.filter(({ id }) => typeof id === 'string'));
  } catch { /* The next time may be better. */ }
}

function showParticipants(list) {
  if (isPublisher) return;
  participants = list.map(({ id, name }) => ({ id, name: cleanOwnName(name) }));
  const options = [['', 'anybody who sends'], ...participants.map(({ id, name }) => [id, label(name, id)])];
  const present = chosenParticipant();
  if (chosen && !present) options.push([chosen, `${chosen.length > 30 ? chosen.slice(0, 6) : chosen} (not here)`]);
  const value = present?.id ?? chosen;
  const isKnown = options.length === $('who').options.length
    && options.every(([id, text], index) => $('who').options[index].value === id && $('who').options[index].text === text);
  if (!isKnown) $('who').replaceChildren(...options.map(([id, text]) => new Option(text, id)));
  $('who').value = value;
  $('who').hidden = $('who-label').hidden = options.length === 1 && state !== 'connected';
}

/** The chosen participant if it sends. */
function chosenParticipant() {
  return participants.find(({ id }) => id === chosen) ?? participants.find(({ name }) => name && name === chosen);
}

/** Plays another participant, by id or name, or with '' anybody. */
async function choose(id) {
  chosen = id;
  if (session) await start($('room').value);
}

/** Whether the player shows what it received last; not after its participant has left. */
function showsPicture() {
  if ($('video').videoWidth === 0 || !$('video').srcObject) return false;
  return isPublisher || performance.now() - lastFrameAt < maximumStandstill;
}

/** Shows the size, the frame rate and the bit rate of the last second. */
async function count() {
  const shows = showsPicture();
  document.body.dataset.picture = shows ? 'on' : 'off';
  if (!isPublisher) {
    $('stage-text').textContent = state !== 'connected' ? 'The room appears here'
      : chosen && !chosenParticipant() ? 'The chosen participant is not here' : 'Nobody sends video to this room now';
  }
  const pc = session?.pc;
  if (!pc || pc.connectionState !== 'connected') return;
  const report = await pc.getStats();
  let bytes = 0;
  let frames = 0;
  let size = '';
  for (const stats of report.values()) {
    if (stats.type !== (isPublisher ? 'outbound-rtp' : 'inbound-rtp')) continue;
    bytes += (isPublisher ? stats.bytesSent : stats.bytesReceived) ?? 0;
    if (stats.kind === 'video') {
      frames += (isPublisher ? stats.framesSent : stats.framesDecoded) ?? 0;
      size = stats.frameWidth ? `${stats.frameWidth}×${stats.frameHeight}` : size;
    }
  }
  if (session?.pc !== pc) return;
  const now = performance.now();
  if (last && pc === last.pc) {
    const seconds = (now - last.now) / 1000;
    const rate = Math.max(0, Math.round((bytes - last.bytes) * 8 / seconds / 1000));
    const fps = Math.max(0, Math.round((frames - last.frames) / seconds));
    $('numbers').textContent = [size, `${fps} fps`, `${rate} kbit/s`].filter(Boolean).join(' · ');
  }
  const before = last?.pc === pc ? last : { bytes: 0, frames: 0 };
  if (frames > before.frames) lastFrameAt = now;
  // A publisher with a camera publishes when frames leave: packets without them are padding and silence.
  const sendsVideo = isPublisher && stream?.getVideoTracks().length > 0;
  isFlowing = sendsVideo ? frames > before.frames : bytes > before.bytes;
  if (!isFlowing && $('numbers').textContent) $('numbers').textContent = '';
  last = { pc, now, bytes, frames };
  showStatus();
}

window.whip = {
  get pc() { return session?.pc ?? null; },
  get stream() { return stream; },
  get state() { return state; },
  get location() { return session?.location ?? null; },
  get problem() { return problem; },
  get participants() { return participants; },
  choose,
  start,
  stop,
};

$('form').addEventListener('submit', (event) => {
  event.preventDefault();
  if ($('name')) {
    $('name').value = cleanOwnName($('name').value);
    rememberName($('name').value);
  }
  start($('room').value);
});
$('who')?.addEventListener('change', () => choose($('who').value));
$('stop').addEventListener('click', stop);
$('hear')?.addEventListener('click', () => {
  $('hear').hidden = true;
  $('video').muted = false;
  $('video').play();
});
$('other').addEventListener('click', (event) => {
  event.currentTarget.href = `${isPublisher ? 'whep' : 'whip'}.html`;
});
window.addEventListener('pagehide', () => session?.close());
setInterval(count, 1000);
setInterval(listParticipants, listInterval);
if ($('name')) $('name').value = queryName === null ? rememberedName() : cleanOwnName(queryName);

const fragment = location.hash.slice(1);
if (fragment) {
  const [name, option] = fragment.split('?');
  try {
    $('room').value = decodeURIComponent(name);
  } catch {
    $('room').value = name;
  }
  const pattern = $('source')?.querySelector('[value=pattern]');
  if (option === 'pattern' && pattern) pattern.checked = true;
  start($('room').value);
}
