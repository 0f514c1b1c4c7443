import Codecs
public import Media
package import MediaWorker
package import Pattern

/// Judges a call: receives its events with their times, decodes every frame, and reports the result at any time.
///
/// It does no I/O, reads no clock and waits for nothing, so the same events always give the same report. It must be
/// used from one thread; decoding takes a few percent of that thread's time for each peer.
public final class CallJudge {
  /// The settings of a check.
  public struct Options: Sendable {
    /// The check's start. All times of the report count from it.
    public var start: ContinuousClock.Instant
    /// The wall clock at `start`, in milliseconds since 1970; without it the pattern's delay is not measured.
    public var wallClock: Double?
    public var room: String
    public var subject = CheckSubject.call
    public var expected = CheckExpectation()
    public var rules = RuleList.defaults
    /// The ids and names of peers that are not judged.
    public var ignored: Set<String> = []
    /// The ids and names of the peers that are judged; empty for all.
    public var only: Set<String> = []
    /// The step of the timeline.
    package var step = Duration.milliseconds(200)
    /// The number of thumbnails of each peer.
    public var thumbnails = 12
    /// Peers beyond this number are counted, but not judged, so that a large room does not fill the memory.
    public var maximumPeers = 100
    /// Starts the processes that decode.
    package var launcher = MediaLauncher.background

    public init(start: ContinuousClock.Instant, room: String) {
      self.start = start
      self.room = room
    }
  }

  package let options: Options
  private var peers: [PeerJudge] = []
  private var positions: [ParticipantID: Int] = [:]
  private var unjudgedPeers: [ParticipantID: UnjudgedPeer] = [:]
  /// The participants who only receive: no peers of the call, but servers that we publish to.
  private var receivers: Set<ParticipantID> = []
  /// The names of participants, of the first thousands.
  private var names: [ParticipantID: String] = [:]
  private static let maximumNames = 4_096
  /// The peers of whom is known whether the check was told to ignore them.
  private var choices: [ParticipantID: Bool] = [:]
  /// The same peers in the order in which they were seen.
  private var chosen: [ParticipantID] = []
  private var joinedAt: Double?
  private var signalling = SignallingLossDetector()
  private var failure: String?
  private var mediaFrom: Double?
  /// What we sent lately, and what decodes it, by the number of our stream.
  private var ours: [Int: SentFrames] = [:]
  private var ownDecoders: [Int: VideoDecoder] = [:]
  private let ownWorker: MediaWorker
  private let reader = PatternReader()

  /// The maximum number of peers that are counted without being judged.
  private static let maximumUnjudgedPeers = 10_000
  /// The maximum number of ignored peers that the report names.
  private static let maximumNamedPeers = 100

  public init(_ options: Options) {
    self.options = options
    ownWorker = MediaWorker(options.launcher)
  }

  // MARK: Events

  /// Records that the server admitted us to the room, for the first time or again.
  package func joined(at now: ContinuousClock.Instant) {
    joinedAt = joinedAt ?? seconds(now)
    signalling.restored(at: seconds(now))
  }

  /// Records that the connection to the server was lost or could not be restored. Calls continue without it.
  package func disconnected(at now: ContinuousClock.Instant, because reason: String) {
    if joinedAt != nil { signalling.lost(at: seconds(now), because: reason) }
  }

  /// Records that the room was not joined, or that the check could not continue.
  ///
  /// - Parameter sentence: why.
  public func failed(_ sentence: String) {
    failure = failure ?? sentence
  }

  /// Records that the signalling announced a participant. One who only receives is no peer: later events about it are ignored.
  package func announced(_ participant: ParticipantID, name: String?, onlyReceives: Bool) {
    if onlyReceives { receivers.insert(participant) } else { receivers.remove(participant) }
    if let name, names.count < Self.maximumNames || names[participant] != nil { names[participant] = name }
    if hasChoice { choose(participant, name: name) }
  }

  private var hasChoice: Bool { !options.ignored.isEmpty || !options.only.isEmpty }

  /// Returns whether the check was told to ignore a participant.
  private func isIgnored(_ participant: ParticipantID) -> Bool {
    hasChoice && (choices[participant] ?? choose(participant, name: nil))
  }

  @discardableResult
  private func choose(_ participant: ParticipantID, name: String?) -> Bool {
    let names = Set([participant.text, name].compactMap(\.self))
    let isIgnored =
      !options.ignored.isDisjoint(with: names) || !options.only.isEmpty && options.only.isDisjoint(with: names)
    if choices[participant] == nil {
      guard choices.count < Self.maximumUnjudgedPeers else { return isIgnored }
      chosen.append(participant)
    }
    choices[participant] = isIgnored
    return isIgnored
  }

  /// Processes any event of a peer.
  package func receive(_ event: CheckEvent, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    if receivers.contains(peer) { return }
    switch event {
    case .step(let step): self.step(step, of: peer, at: now)
    case .frame(let frame): receive(frame, from: peer, at: now)
    case .described(let stream):
      let time = seconds(now)
      change(peer) { $0.receive(stream, at: time) }
    case .clock(let report): clock(report, of: peer)
    case .sample(let sample): self.sample(sample, of: peer, at: now)
    case .skipped(let videoFrames): skip(videoFrames, of: peer)
    case .sectionRejected(let section): change(peer) { $0.receive(section) }
    case .mediaAnnounced(let kinds): change(peer) { $0.mediaAnnounced(kinds) }
    case .data(let report): change(peer) { $0.data = report }
    case .message(let sender, let name, let text):
      let message = MessageReport(time: seconds(now), from: sender, name: name, text: text)
      change(peer) { $0.receive(message) }
    }
  }

  /// Records that nothing says why media of a peer is missing, as for the file of another program. Causes that frames do not
  /// show themselves are then missing in the report.
  package func causesAreUnknown(of peer: ParticipantID) { change(peer) { $0.causesAreUnknown() } }

  /// Records that nothing says how a stream of a peer ended, as for the recording of a program that was killed: each of its
  /// tracks ends with its own last packet, and nothing is missing from there to the end of another one.
  package func endIsUnknown(of peer: ParticipantID, stream: Int = 1) {
    change(peer) { $0.endIsUnknown(ofStream: stream) }
  }

  package func step(_ step: CallStep, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    let time = seconds(now)
    change(peer) { $0.step(step, at: time) }
    if case .departed = step { unjudgedPeers[peer]?.departed(at: time) }
  }

  /// Processes a frame of a peer, in decoding order within its track. Its `arrival` is the time of arrival.
  package func receive(_ frame: EncodedFrame, from peer: ParticipantID, at now: ContinuousClock.Instant) {
    let arrived = seconds(frame.arrival)
    change(peer) { $0.receive(frame, arrived: arrived, sent: ours[frame.stream] ?? SentFrames()) }
    unjudgedPeers[peer]?.appeared(at: arrived)
    if mediaFrom == nil, hasAllMedia { mediaFrom = max(seconds(now), arrived) }
  }

  /// Records frames of a peer that arrived but were not decoded in time; the next frame is a keyframe. Rules about
  /// their content become inconclusive.
  package func skip(_ videoFrames: SkippedFrames, of peer: ParticipantID) {
    let (first, last) = (seconds(videoFrames.first), seconds(videoFrames.last))
    change(peer) { $0.receive(videoFrames, first: first, last: last) }
    unjudgedPeers[peer]?.appeared(at: first)
  }

  /// Records that a peer's media of one kind continued until a time although it is no longer available.
  package func mediaContinued(
    _ kind: MediaKind, of peer: ParticipantID, stream: Int = 1, until time: ContinuousClock.Instant
  ) {
    let end = seconds(time)
    change(peer) { $0.mediaContinued(kind, ofStream: stream, until: end) }
  }

  /// Records that the recording of a peer's stream was paused from a time on, until its next media. That is neither a freeze nor
  /// silence.
  package func recordingPaused(of peer: ParticipantID, stream: Int = 1, at time: ContinuousClock.Instant) {
    let start = seconds(time)
    change(peer) { $0.recordingPaused(ofStream: stream, at: start) }
  }

  /// Records the peer's clock at a media time.
  package func clock(_ report: ClockReport, of peer: ParticipantID) {
    let arrived = seconds(report.arrival)
    change(peer) { $0.receive(report, arrived: arrived) }
  }

  /// Records the counters of the connection to a peer; called once a second and at the end.
  package func sample(_ sample: ConnectionSample, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    let time = seconds(now)
    change(peer) { $0.receive(sample, at: time) }
  }

  /// Records a frame that we send to all peers. If it shows the pattern, returned frames are compared with it: those of a peer's
  /// stream with those of ours that has the same number.
  public func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {
    guard frame.codec.kind == .video, (1...StreamReport.maximumCount).contains(frame.stream) else { return }
    if ownDecoders[frame.stream]?.codec != frame.codec {
      ownDecoders[frame.stream] = try? VideoDecoder(frame.codec, in: ownWorker)
    }
    guard let decoder = ownDecoders[frame.stream],
      let (size, reading) = try? decoder.decode(frame.payload, { ($0.size, try? reader.read($0).get()) }),
      let reading
    else { return }
    sent(reading, size: size, stream: frame.stream, at: now)
  }

  /// Judges the frames that decoders keep, because others could be shown before them: no media follows.
  package func endMedia() {
    for index in peers.indices { peers[index].endMedia() }
  }

  /// Records a frame of the pattern that we send to all peers, from a caller that knows what is painted on it.
  package func sent(_ reading: PatternReading, size: VideoSize, stream: Int = 1, at now: ContinuousClock.Instant) {
    let videoFrame = SentFrame(reading: reading, time: seconds(now))
    ours[stream, default: SentFrames()].add(videoFrame)
    for index in peers.indices { peers[index].sent(videoFrame, size: size, stream: stream) }
  }

  private func seconds(_ now: ContinuousClock.Instant) -> Double { (now - options.start).seconds }

  private func change(_ id: ParticipantID, _ change: (inout PeerJudge) -> Void) {
    if let position = positions[id] { return change(&peers[position]) }
    if isIgnored(id) { return }
    guard peers.count < options.maximumPeers else {
      if unjudgedPeers.count < Self.maximumUnjudgedPeers, unjudgedPeers[id] == nil {
        unjudgedPeers[id] = UnjudgedPeer()
      }
      return
    }
    var judge = PeerJudge(
      id: id, wallClock: options.wallClock.map { $0 / 1_000 }, step: options.step.seconds,
      thumbnails: options.thumbnails, worker: MediaWorker(options.launcher))
    change(&judge)
    positions[id] = peers.count
    peers.append(judge)
  }

  // MARK: Results

  /// Whether a peer only receives, and media is expected.
  private func isListener(_ peer: PeerJudge) -> Bool {
    (options.expected.audio || options.expected.video) && peer.notes.isListener
  }

  private func hasExpectedMedia(_ peer: PeerJudge) -> Bool {
    let (hasVideo, hasAudio) = (peer.notes.has(.video), peer.notes.has(.audio))
    return (hasVideo || hasAudio) && (hasVideo || !options.expected.video) && (hasAudio || !options.expected.audio)
  }

  private var hasAllMedia: Bool { peers.count(where: hasExpectedMedia) >= max(1, options.expected.peers) }

  /// Returns the current state of the check.
  public func status(at now: ContinuousClock.Instant) -> CheckStatus {
    let time = seconds(now)
    var pending: [String] = []
    var refused: Set<MediaKind> = []
    var refusedCount = 0
    if joinedAt == nil, options.subject == .call, peers.isEmpty { pending.append("the room") }
    let missing = options.expected.peers - peers.count { $0.notes.departure == nil && !isListener($0) }
    if missing > 0 { pending.append(missing == 1 ? "1 more peer" : "\(missing) more peers") }
    for peer in peers where peer.notes.departure == nil && !isListener(peer) && !hasExpectedMedia(peer) {
      let progress = Diagnosis.progress(peer.notes)
      if progress < .dtlsConnected {
        pending.append("a connection to \(peer.id)")
      } else {
        for (kind, isMissing) in [
          (MediaKind.video, options.expected.video && !peer.notes.has(.video)),
          (.audio, options.expected.audio && !peer.notes.has(.audio)),
        ] where isMissing {
          let rejection = peer.notes.rejection(of: kind)
          let reason = rejection.map { " (\($0.clause))" } ?? ""
          pending.append("\(kind.rawValue) of \(peer.id)\(reason)")
          if rejection?.isUnsupported == true {
            refused.insert(kind)
            refusedCount += 1
          }
        }
      }
    }
    return CheckStatus(
      elapsed: time, mediaElapsed: mediaFrom.map { max(0, time - $0) }, peers: peers.map { $0.status(at: time) },
      pending: pending,
      waitsOnlyForRefusedMedia: refusedCount > 0 && refusedCount == pending.count && hasRules(aboutOneOf: refused))
  }

  /// Whether there are rules that fail without media of one of these kinds.
  private func hasRules(aboutOneOf kinds: Set<MediaKind>) -> Bool {
    options.rules.all(for: options.expected, subject: options.subject).contains { entry in
      entry.rule.stream == 1 && kinds.contains { entry.rule.measurement.name.hasPrefix("\($0.rawValue).") }
    }
  }

  /// Returns the report as if the check ended now. The check can continue afterwards.
  public func report(at now: ContinuousClock.Instant) -> CheckReport {
    let end = max(0, seconds(now))
    var reports = peers.map { peer in
      var report = peer.report(until: end)
      report.name = names[peer.id]
      return report
    }
    if options.subject == .recording {
      // They are steps of a call, which the recording says nothing of.
      for index in reports.indices {
        reports[index].steps.firstPacket = nil
        reports[index].steps.localCandidates = nil
        reports[index].steps.remoteCandidates = nil
      }
    } else {
      LateJoiners(expected: options.expected, mediaFrom: mediaFrom).mark(in: &reports, end: end)
    }
    let (listeners, ignored) = (peers.count(where: isListener), chosen.filter { choices[$0] == true })
    let room = CheckReport.RoomReport(
      joined: joinedAt.map(roundedForReport), peersSeen: peers.count + unjudgedPeers.count,
      peersAtOnce: peersAtOnce(until: end),
      peersNotJudged: unjudgedPeers.isEmpty ? nil : unjudgedPeers.count,
      listeners: listeners == 0 ? nil : listeners, peersIgnored: ignored.isEmpty ? nil : ignored.count,
      ignoredPeers: ignored.isEmpty ? nil : ignored.prefix(Self.maximumNamedPeers).map(\.text),
      signallingLost: joinedAt == nil ? nil : signalling.losses(until: end))
    var diagnosis = Diagnosis.ofCall(
      joined: joinedAt != nil || options.subject == .recording, failure: failure,
      peers: peers.filter { !isListener($0) }.map(\.notes), listeners: listeners, choice: choice(ignored))
    let rules = options.rules.all(for: options.expected, subject: options.subject)
    let judged = reports.filter { $0.timeLeftAfterLateJoin == nil && !options.expected.leavesOut($0) }
    let judgement = RuleJudgement(room: room, peers: judged, diagnosis: diagnosis)
    let results = rules.flatMap { judgement.results(of: $0.rule) }
    let (verdict, summary) = RuleJudgement.verdict(
      of: results, rules: rules.count, peers: judged.count, isDecoded: !judged.contains(where: \.hasUnverified),
      failure: failure, diagnosis: diagnosis)
    // The rules may not require any peer.
    if verdict == .held { diagnosis = nil }
    var report = CheckReport(
      start: nil, subject: options.subject, room: options.room, expected: options.expected,
      duration: roundedForReport(end),
      mediaFrom: mediaFrom.map(roundedForReport), verdict: verdict, summary: summary, diagnosis: diagnosis,
      rulesAreDefault: options.rules.given.isEmpty && options.rules.includesDefaults,
      rules: rules.map { .init(rule: $0.rule.text, reason: $0.reason) },
      results: results, roomReport: room, peers: reports, comparison: nil)
    report.failure = failure
    return report
  }

  /// Returns who is not judged, because the check was told so.
  private func choice(_ ignored: [ParticipantID]) -> Diagnosis.Choice {
    var choice = Diagnosis.Choice(ignored: ignored.map { names[$0] ?? $0.text })
    let present = Set(chosen.flatMap { [$0.text, names[$0]].compactMap(\.self) })
    if options.only.isDisjoint(with: present) { choice.absent = options.only.sorted() }
    return choice
  }

  private func peersAtOnce(until end: Double) -> Int {
    let ranges =
      peers.compactMap { $0.presence(until: end) } + unjudgedPeers.values.compactMap { $0.presence(until: end) }
    return ranges.map { range in ranges.count { $0.contains(range.lowerBound) } }.max() ?? 0
  }
}

/// A peer that is not judged because there are too many: only its presence is recorded.
struct UnjudgedPeer: Sendable {
  private var first: Double?
  private var departure: Double?

  /// Records that media arrived.
  mutating func appeared(at time: Double) {
    first = min(first ?? time, time)
    departure = nil
  }

  mutating func departed(at time: Double) { departure = departure ?? time }

  /// Returns the interval in which media arrived; nil if none did.
  func presence(until end: Double) -> ClosedRange<Double>? {
    first.map { $0...max($0, departure ?? end) }
  }
}
