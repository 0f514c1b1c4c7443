/// The intervals of a track that have one property, for example being silent or frozen.
public struct IntervalSummary: Sendable, Hashable, Codable {
  /// The number of intervals.
  public var count = 0
  /// The total duration in seconds.
  public var total = 0.0
  /// The longest interval in seconds; 0 if there was none.
  public var longest = 0.0
  /// The share of the track's duration, 0 to 1.
  public var ratio = 0.0
  /// The first 200 intervals in order; the longest is always among them.
  public var list: [Interval] = []

  package init() {}

  /// The longest interval with its position.
  package var worst: Interval? { list.max { ($0.duration, $1.start) < ($1.duration, $0.start) } }
}

/// An interval of time, in seconds.
public struct Interval: Sendable, Hashable, Codable {
  public var start: Double
  public var duration: Double
  /// The cause, if known: a ``FreezeReason`` for a freeze, an ``AudioGapReason`` for an audio gap.
  public var reason: String?

  package init(start: Double, duration: Double, reason: String? = nil) {
    self.start = start
    self.duration = duration
    self.reason = reason
  }
}

/// The distribution of many values of one measurement.
public struct Spread: Sendable, Hashable, Codable {
  /// The number of values.
  public var count: Int
  /// The median.
  public var p50: Double
  /// The 95th percentile; of signed values, ranked by magnitude.
  public var p95: Double
  /// The largest value; of signed values, the one of the largest magnitude.
  public var worst: Double
}

/// The cause of a freeze.
public enum FreezeReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Packets never arrived.
  case lost
  /// Packets arrived only after retransmission.
  case recoveredLate
  /// Frames arrived that depend on a missing one.
  case waitingForKeyframe
  /// The sender sent nothing.
  case senderPaused
  /// The sender had announced that it does not send.
  case muted
  /// The connection was interrupted, or the sender restarted.
  case reconnect
  /// Frames were sent in time and arrived late.
  case late
  /// Frames arrived that could not be decoded.
  case undecodable
  /// The local receiver of the frames did not keep up.
  case receiverStalled
  /// No frame arrived until the end of the check.
  case untilEnd

  /// For a sentence that ends in "because …".
  package var clause: String {
    switch self {
    case .lost: "packets were lost"
    case .recoveredLate: "lost packets arrived only after retransmission"
    case .waitingForKeyframe: "the decoder waited for a keyframe after a loss"
    case .senderPaused: "the sender sent nothing"
    case .muted: "the sender had muted its track"
    case .reconnect: "the connection was interrupted"
    case .late: "packets were delayed by the network"
    case .undecodable: "frames could not be decoded"
    case .receiverStalled: "this machine could not keep up"
    case .untilEnd: "no frame arrived until the end"
    }
  }
}

/// The cause of an audio gap.
public enum AudioGapReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Packets never arrived.
  case lost
  /// Packets arrived so late that a listener heard a gap.
  case late
  /// Packets arrived that could not be decoded.
  case undecodable

  /// For a sentence that ends in "because …".
  package var clause: String {
    switch self {
    case .lost: "packets were lost"
    case .late: "packets were delayed by the network"
    case .undecodable: "packets could not be decoded"
    }
  }
}
