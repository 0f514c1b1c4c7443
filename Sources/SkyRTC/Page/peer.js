// Another participant and the RTCPeerConnection to them.
//
// Both sides may send an offer at any time. If two offers cross, the offer of the impolite side is used ("perfect
// negotiation", WebRTC 1.0, 10.7). The side with the lower id is polite. The steps of one peer run one after another.

import { markScreens, ReceivedStreams, screenMids } from './streams.js';

const maximumEarlyCandidates = 200;
const maximumWaitingSteps = 400;
const maximumRestarts = 3;

/** Passes a burst of ten descriptions, then one every half second, of which only the newest is kept. */
class DescriptionGate {
  #tokens = 10;
  #refilledAt = performance.now();
  #waiting = null;
  #timer = null;

  pass(take) {
    const now = performance.now();
    this.#tokens = Math.min(10, this.#tokens + (now - this.#refilledAt) / 500);
    this.#refilledAt = now;
    if (this.#timer === null && this.#tokens >= 1) {
      this.#tokens -= 1;
      return take();
    }
    this.#waiting = take;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.pass(this.#waiting);
    }, 500);
  }
}

export class Peer {
  pc = null;

  #id;
  #isPolite;
  #options;
  #steps = Promise.resolve();
  #waitingSteps = 0;
  #offers = new DescriptionGate();
  #answers = new DescriptionGate();
  #early = [];
  /** What the other side sends, and of which receivers a track has arrived, with the id of its MediaStream. */
  #received = new ReceivedStreams();
  #arrived = new Map();
  /** The mids of the sections in which the other side shows a screen. */
  #screenMids = new Set();
  /** The transceivers, by kind, that send our screen or have sent it. */
  #screenTransceivers = new Map();
  #screenTracks = new Map();
  #isIgnoringOffer = false;
  #hasYielded = false;
  #restarts = 0;
  #isClosed = false;

  /**
   * `options` has `iceServers`, `localStream()`, `screen()` the MediaStream of our screen, `send(eventName, data)`,
   * `changed(peer)` for a new state, `gotStreams(peer)` when other streams arrive, `opened(peer)` before the first offer
   * of a connection, `gotChannel(peer, channel)` for a data channel of the other side, and `closed(peer)` when a
   * connection is closed.
   */
  constructor(id, isPolite, options) {
    this.#id = id;
    this.#isPolite = isPolite;
    this.#options = options;
  }

  get id() { return this.#id; }

  /** The streams that arrive from the other side, as in `ReceivedStreams.list`. */
  get streams() { return this.#received.list; }

  /** The streams that we send: `{ number, senders }`, number 1 for the camera and 2 for the screen. */
  get sentStreams() {
    const streams = [{ number: 1, senders: [] }, { number: 2, senders: [] }];
    for (const one of this.pc?.getTransceivers() ?? []) {
      if (one.sender.track) streams[this.#isForScreen(one) ? 1 : 0].senders.push(one.sender);
    }
    return streams.filter(({ senders }) => senders.length > 0);
  }

  /** `waiting` for an offer, `connecting`, `connected`, `reconnecting` or `failed`. */
  get state() {
    switch (this.pc?.connectionState) {
      case undefined: return 'waiting';
      case 'connected': return 'connected';
      case 'disconnected': return 'reconnecting';
      case 'failed': return this.#restarts < maximumRestarts ? 'reconnecting' : 'failed';
      default: return 'connecting';
    }
  }

  /**
   * A promise of `direct`, or of `relayed` if a TURN server of one side carries the media; of '' while no pair of
   * addresses is selected.
   */
  async path() {
    if (this.pc?.connectionState !== 'connected') return '';
    const reports = await this.pc.getStats();
    let pair;
    for (const report of reports.values()) {
      // Firefox has no transport report in older versions, but marks the pair.
      if (report.type === 'transport') pair ??= reports.get(report.selectedCandidatePairId);
      if (report.type === 'candidate-pair' && report.selected) pair = report;
    }
    if (!pair) return '';
    const ends = [pair.localCandidateId, pair.remoteCandidateId].map((id) => reports.get(id)?.candidateType);
    return ends.includes('relay') ? 'relayed' : 'direct';
  }

  // Local changes.

  /** Sends an offer: the first one, or one that renegotiates a connection in progress. */
  offer() { this.#then(() => this.#offer()); }

  /** Sends a track instead of the last one of its kind; if there was none, this needs a new offer. */
  setTrack(kind, track) {
    this.#then(async () => {
      if (!this.pc) return;
      const transceiver = this.pc.getTransceivers()
        .find((one) => one.receiver.track.kind === kind && !this.#isForScreen(one));
      if (transceiver?.sender.track) return transceiver.sender.replaceTrack(track);
      if (track) this.pc.addTrack(track, this.#options.localStream());
    });
  }

  /** Sends the tracks that our screen has now, each in a section of its own. */
  setScreen() { this.#then(() => this.#sendScreen()); }

  close() {
    this.#early = [];
    this.#isClosed = true;
    this.#closeConnection();
  }

  // Messages of the other side.

  receivedOffer(description) { this.#offers.pass(() => this.#applyOffer(description)); }

  receivedAnswer(description) { this.#answers.pass(() => this.#applyAnswer(description)); }

  receivedCandidate(candidate) {
    if (this.#waitingSteps >= maximumWaitingSteps) return;
    this.#then(async () => {
      if (this.pc?.remoteDescription) return this.#addCandidate(candidate);
      if (this.#early.length < maximumEarlyCandidates) this.#early.push(candidate);
    });
  }

  // Steps.

  #applyOffer(description) {
    this.#then(async () => {
      if (this.#isNewConnection(description)) this.#closeConnection();
      if (!this.pc) this.#open();
      const isGlare = this.pc.signalingState !== 'stable';
      this.#isIgnoringOffer = isGlare && !this.#isPolite;
      if (this.#isIgnoringOffer) return;
      this.#hasYielded = isGlare;
      await this.#setRemoteDescription(description);
      this.#addTracks();
      await this.#sendScreen();
      await this.pc.setLocalDescription();
      this.#describe('__answer');
      this.#updateStreams();
      await this.#addEarlyCandidates();
    });
  }

  #applyAnswer(description) {
    this.#then(async () => {
      // Some old clients send our own offer back.
      if (!this.pc || fingerprint(description.sdp) === fingerprint(this.pc.localDescription?.sdp)) return;
      if (this.pc.signalingState !== 'have-local-offer') {
        // Two offers crossed and both sides yielded, as old clients do: both have answered, and both are DTLS
        // clients or both are servers. Start again.
        if (!this.#hasYielded) return;
        this.#hasYielded = false;
        this.#closeConnection();
        return this.#offer();
      }
      if (this.#isNewConnection(description)) {
        // The other side has lost the call, but this side has not. Start again.
        this.#closeConnection();
        return this.#offer();
      }
      await this.#setRemoteDescription(description);
      this.#updateStreams();
      await this.#addEarlyCandidates();
    });
  }

  #then(step) {
    this.#waitingSteps += 1;
    this.#steps = this.#steps
      .then(() => { if (!this.#isClosed) return step(); })
      .catch((error) => { if (!this.#isClosed) console.warn(`Peer ${this.#id}: ${error}`); })
      .finally(() => { this.#waitingSteps -= 1; });
  }

  async #offer() {
    if (!this.pc) {
      this.#open();
      // The side that offers first opens the data channel; the other side receives it.
      this.#options.opened(this);
      this.#addTracks();
      for (const kind of ['audio', 'video']) {
        const hasTransceiver = this.pc.getTransceivers().some((one) => one.receiver.track.kind === kind);
        if (!hasTransceiver) this.pc.addTransceiver(kind, { direction: 'recvonly' });
      }
      await this.#sendScreen();
    }
    if (this.pc.signalingState !== 'stable') return;
    await this.pc.setLocalDescription();
    this.#describe('__offer');
  }

  #open() {
    const pc = new RTCPeerConnection({ iceServers: this.#options.iceServers, bundlePolicy: 'max-bundle' });
    this.pc = pc;
    let isNegotiated = false;
    pc.onsignalingstatechange = () => { isNegotiated ||= pc.signalingState === 'stable'; };
    // The newcomer sends the first offer; either side sends later ones.
    pc.onnegotiationneeded = () => { if (isNegotiated) this.offer(); };
    pc.onicecandidate = ({ candidate }) => {
      if (!candidate) return;
      this.#send('__ice_candidate', {
        id: candidate.sdpMid, label: candidate.sdpMLineIndex, candidate: candidate.candidate,
      });
    };
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === 'connected') this.#restarts = 0;
      if (pc.connectionState === 'failed' && this.#restarts < maximumRestarts) {
        this.#restarts += 1;
        pc.restartIce();
      }
      this.#options.changed(this);
    };
    pc.ondatachannel = ({ channel }) => this.#options.gotChannel(this, channel);
    // Whether a track still arrives is decided by the descriptions; they are complete when `#updateStreams` is called.
    pc.ontrack = ({ transceiver, streams }) => {
      this.#arrived.set(transceiver, streams[0]?.id ?? '');
      transceiver.receiver.track.onended = () => this.#updateStreams();
    };
    this.#options.changed(this);
  }

  #addTracks() {
    const stream = this.#options.localStream();
    const sent = this.pc.getTransceivers().filter((one) => !this.#isForScreen(one)).map(({ sender }) => sender.track);
    for (const track of stream?.getTracks() ?? []) {
      if (!sent.some((other) => other?.kind === track.kind)) this.pc.addTrack(track, stream);
    }
  }

  async #sendScreen() {
    if (!this.pc) return;
    const screen = this.#options.screen();
    for (const kind of ['video', 'audio']) {
      const track = screen.getTracks().find((one) => one.kind === kind);
      // A section that the other side has refused is not offered again for the same track.
      if (track === this.#screenTracks.get(kind)) continue;
      this.#screenTracks.set(kind, track);
      const transceiver = this.#screenTransceivers.get(kind);
      const isUsable = transceiver && transceiver.direction !== 'stopped';
      if (isUsable && track) {
        await transceiver.sender.replaceTrack(track);
        transceiver.direction = 'sendrecv';
      } else if (isUsable) {
        this.pc.removeTrack(transceiver.sender);
      } else if (track) {
        // `addTrack` would use a section in which the camera belongs.
        this.#screenTransceivers.set(kind, this.pc.addTransceiver(track, { streams: [screen] }));
      }
    }
  }

  #isForScreen(transceiver) { return [...this.#screenTransceivers.values()].includes(transceiver); }

  async #setRemoteDescription(description) {
    await this.pc.setRemoteDescription(description);
    this.#screenMids = screenMids(description.sdp);
  }

  /** Finds out which streams arrive now; must be called after each pair of offer and answer. */
  #updateStreams() {
    if (!this.pc) return;
    const arriving = this.pc.getTransceivers().filter(({ currentDirection, receiver }) => (
      receiver.track.readyState === 'live' && (currentDirection === 'sendrecv' || currentDirection === 'recvonly')));
    this.#received.update(arriving.filter((one) => this.#arrived.has(one)).map((one) => ({
      receiver: one.receiver, id: this.#arrived.get(one), isScreen: this.#screenMids.has(one.mid),
    })));
    this.#options.gotStreams(this);
  }

  async #addEarlyCandidates() {
    for (const candidate of this.#early.splice(0)) await this.#addCandidate(candidate);
  }

  async #addCandidate(candidate) {
    try {
      await this.pc.addIceCandidate(candidate);
    } catch (error) {
      // The candidate belongs to an offer that was ignored, or this browser does not support it.
      if (!this.#isIgnoringOffer) console.info(`Peer ${this.#id}: ignored a candidate: ${error.message}`);
    }
  }

  #closeConnection() {
    if (!this.pc) return;
    this.pc.onconnectionstatechange = this.pc.onicecandidate = this.pc.ontrack = this.pc.onnegotiationneeded = null;
    this.pc.ondatachannel = null;
    this.pc.close();
    this.pc = null;
    this.#received.clear();
    this.#arrived.clear();
    this.#screenMids.clear();
    this.#screenTransceivers.clear();
    this.#screenTracks.clear();
    this.#options.gotStreams(this);
    this.#options.closed(this);
  }

  /** Whether a description comes from another RTCPeerConnection than the one we are connected to. */
  #isNewConnection(description) {
    const before = fingerprint(this.pc?.currentRemoteDescription?.sdp);
    return before !== undefined && before !== fingerprint(description.sdp);
  }

  #describe(eventName) {
    const { type, sdp } = this.pc.localDescription;
    const video = this.#screenTransceivers.get('video');
    const mids = new Set(video?.sender.track && video.mid !== null ? [video.mid] : []);
    this.#send(eventName, { sdp: { type, sdp: markScreens(sdp, mids) } });
  }

  #send(eventName, data) { this.#options.send(eventName, { ...data, socketId: this.#id }); }
}

function fingerprint(sdp) {
  return sdp?.match(/^a=fingerprint:\S+ (\S+)/m)?.[1].toUpperCase();
}
