package import Media

/// The maximum bitrate that the receiver names (draft-alvestrand-rmcat-remb-03), the media that it covers, and how long it
/// holds.
///
/// A receiver estimates it from the packets that arrive. If none of what it covers is sent, no new limit can come: then
/// the present one grows until it does not limit any more, and so does one that is not repeated for a long time.
package struct ReceiverLimit: Sendable {
  /// The media whose sources the message names.
  package enum Coverage: Sendable, Hashable {
    case everything
    case audio
    case video
  }

  /// How long a limit holds without another message: 10 s if what it covers is sent, because some servers repeat it only
  /// every 5 s, and 1 s if hardly anything is.
  private static let maximumAge: Duration = .seconds(10)
  private static let maximumStarvedAge: Duration = .seconds(1)
  /// The share of the limit below which hardly anything is sent.
  private static let starvedShare = 0.1
  /// A limit of less than this share of what is sent is a cap, if it has not been raised for a while.
  private static let capShare = 0.5
  private static let capAge: Duration = .seconds(1)

  package private(set) var coverage = Coverage.everything
  /// In bits a second; nil without a limit.
  private var bitrate: Double?
  private var received: MonotonicInstant?
  /// When a message last raised the limit, or named the first one.
  private var raised: MonotonicInstant?

  package init() {}

  package var isSet: Bool { bitrate != nil }

  package mutating func received(_ bitrate: Double, coverage: Coverage, now: MonotonicInstant) {
    if coverage != self.coverage || self.bitrate.map({ bitrate > $0 }) ?? true { raised = now }
    self.bitrate = bitrate
    self.coverage = coverage
    received = now
  }

  /// Returns the present limit for the covered media, in bits a second; nil if there is none.
  ///
  /// - Parameters:
  ///   - sent: the bitrate of the covered media that was sent in the last second.
  ///   - ceiling: the bitrate beyond which the limit has no effect.
  package mutating func limit(sent: Double, ceiling: Double, now: MonotonicInstant) -> Double? {
    guard let bitrate, let received else { return nil }
    let permitted = sent < bitrate * Self.starvedShare ? Self.maximumStarvedAge : Self.maximumAge
    let excess = (now - received - permitted).seconds
    guard excess > 0 else { return bitrate }
    // It doubles every second, from a bitrate that a keyframe fits into.
    var grown = max(bitrate, 100_000)
    for _ in 0..<Int(min(excess, 64)) where grown < ceiling { grown *= 2 }
    guard grown < ceiling else {
      self.bitrate = nil
      return nil
    }
    return grown
  }

  /// Whether the limit is far below what is sent, and the receiver does not raise it: a cap rather than an estimate that
  /// follows what arrives.
  package func isCap(sent: Double, now: MonotonicInstant) -> Bool {
    guard let bitrate, let raised else { return false }
    return bitrate < sent * Self.capShare && now - raised >= Self.capAge
  }
}
