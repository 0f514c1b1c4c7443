import Media
import NIOCore

/// The frames with which a publisher begins, for those who are in its room already but connect to its participant only
/// some 0.15 s later. Bounded in time and size: a participant who connects later begins with the present frame. Pure.
struct StartBuffer: Sendable {
  /// How long after the first frame it is kept.
  static let maximumAge: Duration = .seconds(2)
  static let maximumBytes = 2 * 1024 * 1024

  /// Nil when it has ended.
  private var kept: [EncodedFrame]? = []
  private var bytes = 0

  /// Adds the next frame. A frame that comes too late, or is too much, ends the buffer and frees it.
  mutating func add(_ frame: EncodedFrame) {
    guard kept != nil else { return }
    bytes += frame.payload.readableBytes
    guard bytes <= Self.maximumBytes, !isOver(at: frame.arrived) else { return kept = nil }
    kept?.append(frame)
  }

  /// The frames for a viewer who connects now, in the order of their arrival.
  mutating func frames(now: MonotonicInstant) -> [EncodedFrame] {
    if isOver(at: now) { kept = nil }
    return kept ?? []
  }

  private func isOver(at now: MonotonicInstant) -> Bool {
    kept?.first.map { now - $0.arrived > Self.maximumAge } ?? false
  }
}
