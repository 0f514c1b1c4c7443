import Media

/// A measurement of a check, which a rule can name.
public struct Measurement: Sendable {
  /// The full name, for example `video.freeze.longest`.
  public let name: String
  /// Alternative names that a rule may use.
  package let aliases: [String]
  public let unit: MeasurementUnit
  /// The values that it can have if it is a text; nil if it is a number.
  public let texts: [String]?
  package let scope: Scope
  /// The heading for a value: "Longest freeze".
  public let title: String
  /// The definition: what exactly is measured, and how.
  public let meaning: String
  /// The better direction; nil if neither is better.
  package let better: PreferredDirection?
  /// The largest change that counts as noise, in the measurement's own unit. A change of up to a tenth of the value is
  /// noise as well.
  let noise: Double
  let source: Source

  /// What the measurement describes.
  package enum Scope: String, Sendable, Hashable, CaseIterable {
    /// The call as a whole: one value.
    case room
    /// Each peer: one value per peer.
    case peer
  }

  package enum PreferredDirection: String, Sendable, Hashable {
    case higher
    case lower
  }

  /// The part of the report that the value is computed from.
  enum Source: Sendable {
    case room(@Sendable (CheckReport.RoomReport) -> Figure)
    case peer(@Sendable (PeerReport) -> Figure)
  }

  /// The first words of the names of what is measured for each stream of a peer.
  private static let wordsOfStreams: Set<Substring> = [
    "video", "audio", "av", "latency", "pattern", "returned", "loss", "recovered", "keyframeRequests", "framesDropped",
    "jitter",
  ]

  /// Whether it is measured for each stream of a peer, so that a rule may name a stream: `2.video.fps`.
  package var isOfStream: Bool { Self.wordsOfStreams.contains(name.prefix { $0 != "." }) }

  /// Whether the value grows with the duration of a check, as totals and counts of events do.
  var growsWithTime: Bool {
    unit == .count && better == .lower || name.hasSuffix(".total")
      || ["audio.concealed", "signalling.lost"].contains(name)
  }

  /// The heading for a value of a stream: "Longest freeze of stream 2".
  package func title(ofStream stream: Int) -> String { stream > 1 ? "\(title) of stream \(stream)" : title }

  /// What a rule compares it with: an example of a limit, or all texts.
  package var example: String { texts.map(Self.list) ?? unit.example }

  /// Returns words as a list, for example "vp8, h264 or vp9".
  package static func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }

  /// Returns the value for a peer, or that of the room if the measurement describes the room.
  func figure(of peer: PeerReport, in room: CheckReport.RoomReport) -> Figure {
    switch source {
    case .room(let value): value(room)
    case .peer(let value): absence(of: peer).map { .inconclusive($0) } ?? value(peer)
    }
  }

  /// Returns the measurement with this name or alias; nil if there is none.
  public static func named(_ name: String) -> Measurement? {
    catalogue.first { $0.name == name || $0.aliases.contains(name) }
  }

  /// All measurements, in the order of the documentation.
  public static let catalogue: [Measurement] =
    ofRoom + ofSteps + ofVideo + ofAudio + ofLatency + ofPattern + ofConnection + ofData
}

extension Measurement {
  /// Makes a measurement of each peer.
  static func peer(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection? = nil, noise: Double = 0,
    aliases: [String] = [], texts: [String]? = nil, meaning: String,
    value: @escaping @Sendable (PeerReport) -> Figure
  ) -> Measurement {
    Measurement(
      name: name, aliases: aliases, unit: unit, texts: texts, scope: .peer, title: title, meaning: meaning,
      better: better, noise: noise, source: .peer(value))
  }

  /// Makes a measurement of the room.
  static func room(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection? = nil, noise: Double = 0,
    meaning: String, value: @escaping @Sendable (CheckReport.RoomReport) -> Figure
  ) -> Measurement {
    Measurement(
      name: name, aliases: [], unit: unit, texts: nil, scope: .room, title: title, meaning: meaning, better: better,
      noise: noise,
      source: .room(value))
  }

  /// Returns why there are no values for a peer's video.
  static func noVideo(_ peer: PeerReport) -> Figure {
    .missing(
      absence(of: .video, peer) ?? "no frame of the peer was decoded (\(peer.progress.asClause))")
  }

  /// Returns why there are no values for a peer's audio.
  static func noAudio(_ peer: PeerReport) -> Figure {
    .missing(
      absence(of: .audio, peer) ?? "no audio of the peer was decoded (\(peer.progress.asClause))")
  }

  /// Returns why a kind of media could not be sent, as a clause; nil if no section of the kind was rejected.
  private static func rejection(of kind: MediaKind, _ peer: PeerReport) -> String? {
    peer.rejected?.last { $0.kind == kind.rawValue && $0.isOfWholeKind }?.clause
  }

  static let noVideoFramesSent = "the peer sent no video; use --no-video if none is expected"
  static let noAudioSent = "the peer sent no audio; use --no-audio if none is expected"

  /// Returns which further stream has a kind of media that the first one lacks, as a clause; nil if none has.
  private static func otherStream(with kind: MediaKind, _ peer: PeerReport) -> String? {
    let other = peer.streams?.first { kind == .video ? $0.video != nil : $0.audio != nil }
    return other.map { stream in
      "the peer\u{2019}s first stream has no \(kind.rawValue), but stream \(stream.number) has: "
        + "write \(stream.number). before the name"
    }
  }

  /// Returns why a kind of media is missing from a peer, as a clause; nil if its section was not rejected and the peer sent
  /// no media at all.
  static func absence(of kind: MediaKind, _ peer: PeerReport) -> String? {
    if let rejection = rejection(of: kind, peer) { return rejection }
    guard peer.reached == .media else { return nil }
    let isVideo = kind == .video
    if peer.undecoded?.contains(kind.rawValue) == true {
      // The reason is that of the video, if that could not be decoded either.
      let isKnown = isVideo || peer.undecoded?.contains(MediaKind.video.rawValue) != true
      let reason = isKnown ? peer.undecodedReason.map { ": \(ReportText.line($0).asClause)" } ?? "" : ""
      return "\(isVideo ? "frames" : "audio") arrived, but none could be decoded\(reason)"
    }
    if let counts = peer.connection[kind], counts.received > 0 {
      return "\(isVideo ? "video" : "audio") packets arrived, but no complete frame"
    }
    if peer.streamNumber > 1 { return "stream \(peer.streamNumber) of the peer has no \(kind.rawValue)" }
    return otherStream(with: kind, peer) ?? (isVideo ? noVideoFramesSent : noAudioSent)
  }

  static let noPattern = Figure.missing("the test pattern was not found in the peer's media")
  static let noCounts = Figure.missing("no packets were counted")
}

extension String {
  /// The sentence as a part of another one: without its full stop and with a lower-case first letter.
  package var asClause: String {
    var clause = self
    if clause.last == "." { clause.removeLast() }
    let isWord = clause.dropFirst().first.map { !$0.isUppercase } ?? true
    if isWord, let first = clause.first { clause = first.lowercased() + clause.dropFirst() }
    return clause
  }
}

/// The result of a measurement in one call.
enum Figure: Sendable, Hashable {
  /// The value in the measurement's own unit, with a detail for the sentence, for example " at 4.1 s, because the
  /// sender sent nothing"; the detail may be empty.
  case value(Double, detail: String)
  /// A text, with a detail for the sentence, which may be empty.
  case text(String, detail: String)
  /// There is no value; the reason is a clause: "no frame was decoded".
  case missing(String)
  /// This machine could not measure it; the reason is a clause.
  case inconclusive(String)

  static func value(_ value: Double) -> Figure { .value(value, detail: "") }

  static func value(_ count: Int) -> Figure { .value(Double(count)) }

  static func value(_ count: UInt64) -> Figure { .value(Double(count)) }

  /// The number alone; nil if there is none.
  var number: Double? {
    if case .value(let value, _) = self { return value }
    return nil
  }
}

extension Measurement {
  /// The measurements that need every frame decoded. An entry covers its own name and all names below it.
  private static let ofVideoFrames = [
    "video.frames", "video.fps", "video.freeze", "video.frozen", "video.black", "video.width", "video.height",
    "video.sizeChanges", "video.brightness", "video.decodeErrors", "latency", "video.latency", "av.skew",
    "pattern.missing", "pattern.doubled", "pattern.reordered", "pattern.unreadable", "pattern.psnr", "pattern.ssim",
    "returned",
    // Some requests were sent in order to continue after skipped frames.
    "keyframeRequests",
  ]

  /// The measurements that need every audio packet decoded, in the same form.
  private static let ofAudioPackets = [
    "audio.packets", "audio.level", "audio.peak", "audio.silence", "audio.clipped", "audio.gap", "audio.concealed",
    "audio.decodeErrors", "latency", "audio.latency", "av.skew", "pattern.marksMissing",
  ]

  private func isOne(of names: [String]) -> Bool { names.contains { name == $0 || name.hasPrefix($0 + ".") } }

  /// Returns why a peer's value must not be judged although it exists: this machine skipped frames or does not decode them, and
  /// blaming the peer for that would be wrong. Nil if the value is reliable.
  func absence(of peer: PeerReport) -> String? { absence(byUnverified: peer) ?? absence(bySkipped: peer) }

  private func absence(byUnverified peer: PeerReport) -> String? {
    guard let unverified = peer.unverified else { return nil }
    var names: [String] = []
    if unverified.videoFrames > 0 {
      names += Self.ofVideoFrames
      if peer.video == nil { names += ["video.firstFrame", "video.bitrate", "video.keyframes"] }
    }
    if unverified.audioPackets > 0 {
      names += Self.ofAudioPackets
      if peer.audio == nil { names += ["audio.firstSound", "audio.bitrate"] }
    }
    return isOne(of: names) ? unverified.clause : nil
  }

  private func absence(bySkipped peer: PeerReport) -> String? {
    guard let skippedFrames = peer.skippedFrames else { return nil }
    let isVideo = isOne(of: Self.ofVideoFrames)
    // A first frame that was decoded before any frame was skipped is reliable.
    let isFirst = name == "video.firstFrame" && (peer.steps.firstFrame.map { skippedFrames.first < $0 } ?? true)
    return isVideo || isFirst ? skippedFrames.clause : nil
  }
}
