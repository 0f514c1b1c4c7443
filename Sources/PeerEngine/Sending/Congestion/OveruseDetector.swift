import Media
import RTP

/// Whether the line was seen not to carry what it is given, and still would not: what justifies leaving frames out.
///
/// A rising delay alone does not. A way that becomes longer, and packets that overtake each other, look like a congested path for a
/// moment, but as much arrives as was sent. And what a line loses without a queue it loses at any rate.
struct OveruseDetector: Sendable {
  /// The share of what is sent that must have come through.
  private static let carriedShare = 0.75
  /// How long less must have.
  private static let patience: Duration = .milliseconds(500)
  /// The queue of a congested path.
  private static let queue: Duration = .milliseconds(80)
  /// How much more than the source gives the line must take to be wide enough again.
  private static let margin = 1.2

  private(set) var isSaturated = false
  private var since: MonotonicInstant?
  private var source = RateCounter(shortestWindow: .seconds(1))

  /// Notes that the source gave a frame.
  mutating func offered(size: Int, now: MonotonicInstant) { source.add(bytes: size, now: now) }

  /// - Parameters:
  ///   - carried: what comes through, in bits a second; nil when that is not known yet.
  ///   - queueDelay: how long packets wait on their way.
  ///   - sent: what was sent in the last second.
  ///   - lineRate: what the line is trusted to take.
  mutating func update(
    carried: Double?, queueDelay: Duration, sent: Double, lineRate: Double, now: MonotonicInstant
  ) {
    if isSaturated {
      isSaturated = lineRate < source.bitrate(now: now) * Self.margin
      return
    }
    guard let carried, carried < sent * Self.carriedShare, queueDelay > Self.queue else { return since = nil }
    let began = since ?? now
    since = began
    if now - began >= Self.patience {
      isSaturated = true
      since = nil
    }
  }
}
