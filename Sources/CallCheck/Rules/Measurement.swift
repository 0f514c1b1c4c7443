import Media

/// One thing that a check measures and that a rule can name.
public struct Measurement: Sendable {
  /// Its full name, for example `video.freeze.longest`.
  public let name: String
  /// Other names that a rule may use.
  public let aliases: [String]
  public let unit: MeasurementUnit
  public let scope: Scope
  /// What it is, as a figure's heading: "Longest freeze".
  public let title: String
  /// What exactly is measured, and how, in a sentence.
  public let meaning: String
  /// Which way is better; nil where neither is.
  public let better: Better?
  /// A change up to this much is noise, in the measurement's own unit; a tenth of the figure is, too.
  let noise: Double
  let source: Source

  /// Whose it is.
  public enum Scope: String, Sendable, Hashable, CaseIterable {
    /// Measured of the call as a whole, once.
    case room
    /// Measured of each peer.
    case peer
  }

  public enum Better: String, Sendable, Hashable {
    case higher
    case lower
  }

  /// Where a figure comes from.
  enum Source: Sendable {
    case room(@Sendable (CheckReport.RoomReport) -> Figure)
    case peer(@Sendable (PeerReport) -> Figure)
  }

  /// The figure of a peer; of the room where that is whose it is.
  func figure(of peer: PeerReport, in room: CheckReport.RoomReport) -> Figure {
    switch source {
    case .room(let value): value(room)
    case .peer(let value): absence(of: peer).map { .inconclusive($0) } ?? value(peer)
    }
  }

  /// The measurement of a name or of another name for it; nil when there is none.
  public static func named(_ name: String) -> Measurement? {
    catalogue.first { $0.name == name || $0.aliases.contains(name) }
  }

  /// Every measurement, in the order in which they are explained.
  public static let catalogue: [Measurement] =
    ofRoom + ofSteps + ofVideo + ofAudio + ofLatency + ofPattern + ofConnection
}

extension Measurement {
  /// A measurement of each peer.
  static func peer(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better? = nil, noise: Double = 0,
    aliases: [String] = [], meaning: String, value: @escaping @Sendable (PeerReport) -> Figure
  ) -> Measurement {
    Measurement(
      name: name, aliases: aliases, unit: unit, scope: .peer, title: title, meaning: meaning, better: better,
      noise: noise, source: .peer(value))
  }

  /// A measurement of the room.
  static func room(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better? = nil, noise: Double = 0,
    meaning: String, value: @escaping @Sendable (CheckReport.RoomReport) -> Figure
  ) -> Measurement {
    Measurement(
      name: name, aliases: [], unit: unit, scope: .room, title: title, meaning: meaning, better: better, noise: noise,
      source: .room(value))
  }

  /// Why there are no figures of a peer's frames.
  static func noVideo(_ peer: PeerReport) -> Figure {
    .missing(absence(of: .video, peer) ?? "no frame of the peer was decoded (\(peer.progress.asClause))")
  }

  /// Why there are no figures of a peer's audio.
  static func noAudio(_ peer: PeerReport) -> Figure {
    .missing(absence(of: .audio, peer) ?? "no audio of the peer was decoded (\(peer.progress.asClause))")
  }

  static let noVideoFramesSent = "the peer sent no video; --no-video if that is right"
  static let noAudioSent = "the peer sent no audio; --no-audio if that is right"

  /// Why there was nothing of a kind from a peer that sent something else, as a clause; nil when nothing came from it at all.
  static func absence(of kind: MediaKind, _ peer: PeerReport) -> String? {
    guard peer.reached == .media else { return nil }
    let isVideo = kind == .video
    if peer.undecoded?.contains(kind.rawValue) == true {
      return isVideo ? "frames came, but not one could be decoded" : "audio came, but none could be decoded"
    }
    if let counts = peer.connection[kind], counts.received > 0 {
      return "packets of \(isVideo ? "video" : "audio") came, but not one whole frame"
    }
    return isVideo ? noVideoFramesSent : noAudioSent
  }

  static let noPattern = Figure.missing("the test pattern was not found in what the peer sent")
  static let noCounts = Figure.missing("no packets of it were counted")
}

extension String {
  /// A sentence as a part of another one: without its full stop, and small at its beginning.
  package var asClause: String {
    var clause = self
    if clause.last == "." { clause.removeLast() }
    let isWord = clause.dropFirst().first.map { !$0.isUppercase } ?? true
    if isWord, let first = clause.first { clause = first.lowercased() + clause.dropFirst() }
    return clause
  }
}

/// What a measurement came to in one call.
enum Figure: Sendable, Hashable {
  /// In the measurement's own unit, and what there is to say about it, for example " from 4.1 s on, because the sender sent
  /// nothing"; empty when there is nothing.
  case value(Double, detail: String)
  /// Why there is none, as a clause: "no frame was decoded".
  case missing(String)
  /// Why this machine could not tell, as a clause.
  case inconclusive(String)

  static func value(_ value: Double) -> Figure { .value(value, detail: "") }

  static func value(_ count: Int) -> Figure { .value(Double(count)) }

  static func value(_ count: UInt64) -> Figure { .value(Double(count)) }

  /// The number alone; nil where there is none.
  var number: Double? {
    if case .value(let value, _) = self { return value }
    return nil
  }
}
