internal import Media
internal import NIOCore

/// How a participant leaves: reported by the signalling server, with an RTCP BYE, or silently.
extension PeerConnection {
  /// How long a participant who has left the room may be silent before the call ends. `RTCPeerConnection.close()` sends no
  /// BYE, so silence distinguishes a closed page from one that has lost the signalling server.
  package static let departureTimeout = Duration.seconds(2)

  /// Handles the signalling server's message that the participant has left the room.
  ///
  /// The server sends it when they close the page, and also when only their connection to the server breaks. So a connected
  /// call continues as long as media arrives, and indefinitely once another signalling message of theirs arrives; otherwise
  /// it ends at once.
  ///
  /// - Parameter isRejoinVerified: whether the server never assigns their id to another participant.
  package func participantLeft(isRejoinVerified: Bool = true, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    if !isRejoinVerified { isIdentityUncertain = true }
    timing.leftRoom = timing.leftRoom ?? MonotonicInstant(now)
    if state != .connected || timing.hasReceivedBye { endAfterLeaving(now: now) }
  }

  /// Ends the call if the participant has left and been silent for long enough.
  func followLeaving(now: MonotonicInstant) {
    if ConnectionTiming.isDue(timing.leavingDeadline, now: now) { endAfterLeaving(now: now.instant) }
  }

  /// Notes that an authentic RTP or RTCP packet has arrived.
  func mediaArrived(_ packet: ByteBuffer, isControl: Bool, now: MonotonicInstant) {
    guard isControl else { return timing.packetArrived(now: now) }
    timing.lastMediaArrival = now
    if Self.containsBye(packet) { timing.hasReceivedBye = true }
    if timing.hasReceivedBye, timing.leftRoom != nil { endAfterLeaving(now: now.instant) }
  }

  /// Returns whether a compound RTCP packet contains a BYE (RFC 3550, 6.6): packet type 203.
  private static func containsBye(_ compound: ByteBuffer) -> Bool {
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
