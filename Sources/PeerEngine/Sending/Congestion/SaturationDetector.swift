import Media
import RTP

/// Detects that the source's bitrate exceeds the path's capacity, and for how long; frames are skipped while it does.
///
/// A rising delay alone is not enough. A rerouted path or reordered packets look like a congested path for a moment, but
/// as much arrives as was sent. And packets that are lost without a queue would be lost at any rate.
struct SaturationDetector: Sendable {
  /// The minimum share of the sent bitrate that must arrive.
  private static let carriedShare = 0.75
  /// For how long less must arrive.
  private static let minimumDuration: Duration = .milliseconds(500)
  /// The queueing delay of a congested path.
  private static let queue: Duration = .milliseconds(80)
  /// The factor over the source's bitrate that the path must carry to count as wide enough again.
  private static let margin = 1.2

  private(set) var isSaturated = false
  private var since: MonotonicInstant?
  private var source = RateCounter(minimumWindow: .seconds(1))

  /// Notes that the source produced a frame.
  mutating func offered(size: Int, now: MonotonicInstant) { source.add(bytes: size, now: now) }

  /// - Parameters:
  ///   - carried: the bitrate that arrives, in bits a second; nil while it is unknown.
  ///   - queueDelay: the queueing delay of packets on the path.
  ///   - sent: the bitrate sent in the last second.
  ///   - linkCapacity: the estimated bitrate of the path.
  mutating func update(
    carried: Double?, queueDelay: Duration, sent: Double, linkCapacity: Double, now: MonotonicInstant
  ) {
    if isSaturated {
      isSaturated = linkCapacity < source.bitrate(now: now) * Self.margin
      return
    }
    guard let carried, carried < sent * Self.carriedShare, queueDelay > Self.queue else { return since = nil }
    let began = since ?? now
    since = began
    if now - began >= Self.minimumDuration {
      isSaturated = true
      since = nil
    }
  }
}
