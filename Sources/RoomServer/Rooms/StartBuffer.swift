package import Media
import NIOCore

/// The frames with which a publisher begins, for those who were in its room before its participant: they connect to it some
/// 0.15 s later. Those who join after it begin with the present frame. Pure.
package struct StartBuffer: Sendable {
  /// How long after the first frame it is kept.
  package static let maximumAge: Duration = .seconds(1)
  package static let maximumBytes = 2 * 1024 * 1024

  /// Nil when it has ended.
  private var kept: [EncodedFrame]? = []
  private var bytes = 0
  /// Those who were in the room and have not connected; nil before the room was joined.
  private var expected: Set<ParticipantID>?

  package init() {}

  /// Notes who was in the room when it was joined first.
  package mutating func joined(others: [ParticipantID]) {
    if expected == nil { expected = Set(others) }
    endUnlessExpected()
  }

  /// Adds the next frame. A frame that comes too late, or is too much, ends the buffer and frees it.
  package mutating func add(_ frame: EncodedFrame) {
    guard kept != nil else { return }
    bytes += frame.payload.readableBytes
    guard bytes <= Self.maximumBytes, !isOver(at: frame.arrived) else { return kept = nil }
    kept?.append(frame)
  }

  /// Returns the frames for a participant who connects now, in the order of their arrival; none if it joined the room later,
  /// or has had them.
  package mutating func takeFrames(for participant: ParticipantID, now: MonotonicInstant) -> [EncodedFrame] {
    guard expected?.remove(participant) != nil else { return [] }
    if isOver(at: now) { kept = nil }
    defer { endUnlessExpected() }
    return kept ?? []
  }

  private mutating func endUnlessExpected() {
    if expected?.isEmpty == true { kept = nil }
  }

  private func isOver(at now: MonotonicInstant) -> Bool {
    kept?.first.map { now - $0.arrived > Self.maximumAge } ?? false
  }
}
