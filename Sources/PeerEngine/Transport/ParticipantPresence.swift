internal import Media
internal import NIOCore

/// Whether the participant is there: when something of theirs last arrived, and how they leave, which the signalling server
/// reports, or an RTCP BYE, or silence.
struct ParticipantPresence {
  /// How long a participant who has left the room may be silent before the call ends. `RTCPeerConnection.close()` sends no
  /// BYE, so silence distinguishes a closed page from one that has lost the signalling server.
  static let departureTimeout = Duration.seconds(2)

  /// When the last authentic RTP or RTCP packet, or data, arrived.
  private(set) var lastArrival: MonotonicInstant?
  /// When the signalling server reported that the participant had left; nil after any later message of theirs.
  private(set) var leftRoom: MonotonicInstant?
  /// Whether the last authentic packet was a BYE.
  private(set) var hasReceivedBye = false

  /// When a participant who has left has been silent for long enough.
  var deadline: MonotonicInstant? {
    guard let leftRoom else { return nil }
    return max(leftRoom, lastArrival ?? leftRoom) + Self.departureTimeout
  }

  /// Whether the participant has left and said goodbye, or been silent for long enough.
  func isGone(now: MonotonicInstant) -> Bool {
    leftRoom != nil && (hasReceivedBye || Deadline.isDue(deadline, now: now))
  }

  /// Notes that an authentic RTP packet has arrived. A BYE applies to one source, so media that arrives after it revokes it.
  mutating func mediaArrived(now: MonotonicInstant) {
    lastArrival = now
    hasReceivedBye = false
  }

  /// Notes that an authentic RTCP packet has arrived.
  mutating func controlArrived(_ compound: ByteBuffer, now: MonotonicInstant) {
    lastArrival = now
    if Self.containsBye(compound) { hasReceivedBye = true }
  }

  /// Notes that something has arrived that says nothing about goodbyes: data, or media that is not decrypted.
  mutating func dataArrived(now: MonotonicInstant) { lastArrival = now }

  /// Notes that the participant has left the room.
  mutating func left(now: MonotonicInstant) { leftRoom = leftRoom ?? now }

  /// Notes that the participant is in the room, or that the call has ended.
  mutating func returned() { leftRoom = nil }

  /// Returns whether a compound RTCP packet contains a BYE (RFC 3550, 6.6): packet type 203.
  private static func containsBye(_ compound: ByteBuffer) -> Bool {
    var position = compound.readerIndex
    while let (_, type, words) = compound.getMultipleIntegers(at: position, as: (UInt8, UInt8, UInt16).self) {
      if type == 203 { return true }
      position += 4 * (Int(words) + 1)
    }
    return false
  }
}
