internal import Media
internal import NIOCore

/// How a participant leaves: by a word of the signalling server, a goodbye in RTCP, or without one.
extension PeerConnection {
  /// How long a participant who is said to have left may be silent before the call is over. `RTCPeerConnection.close()` sends no
  /// goodbye, so silence is what tells a closed page from one that has lost the signalling server.
  package static let farewellPatience = Duration.seconds(2)

  /// The signalling server says that the participant is not in the room any more.
  ///
  /// That is so when they close the page, and also when only their way to the server breaks. So a call continues for as long as
  /// media comes, and without an end if they are heard of by signalling again; otherwise it ends at once.
  ///
  /// - Parameter returnIsVerified: whether the server gives their id to nobody else.
  package func participantLeft(returnIsVerified: Bool = true, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    if !returnIsVerified { mayBeSomebodyElse = true }
    leftRoom = leftRoom ?? MonotonicInstant(now)
    if state != .connected || hasSaidGoodbye { endAfterLeaving(now: now) }
  }

  /// When a participant who has left has been silent for long enough.
  var leavingDeadline: MonotonicInstant? {
    leftRoom.map { max($0, lastMediaArrival ?? $0) + Self.farewellPatience }
  }

  /// Ends the call if the participant has left and been silent for long enough.
  func followLeaving(now: ContinuousClock.Instant) {
    if let leavingDeadline, leavingDeadline <= MonotonicInstant(now) { endAfterLeaving(now: now) }
  }

  /// An authentic RTP or RTCP packet has come.
  func mediaArrived(_ packet: ByteBuffer, isControl: Bool, now: MonotonicInstant) {
    lastMediaArrival = now
    // A goodbye is for one source, so media that comes after it takes it back.
    hasSaidGoodbye = isControl ? hasSaidGoodbye || Self.saysGoodbye(packet) : false
    if hasSaidGoodbye, leftRoom != nil { endAfterLeaving(now: now.instant) }
  }

  /// Whether a compound RTCP packet has a BYE in it (RFC 3550, 6.6): packet type 203.
  private static func saysGoodbye(_ compound: ByteBuffer) -> Bool {
    var position = compound.readerIndex
    while let (_, type, words) = compound.getMultipleIntegers(at: position, as: (UInt8, UInt8, UInt16).self) {
      if type == 203 { return true }
      position += 4 * (Int(words) + 1)
    }
    return false
  }

  private func endAfterLeaving(now: ContinuousClock.Instant) {
    end(CloseReason(.closedByParticipant, "The participant left the room."), now: now)
  }
}
