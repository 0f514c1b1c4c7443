internal import Media

/// The instants from which a connection's next poll follows.
///
/// One property of the connection, because they are read together after each packet, and each access to a property of a
/// class is checked.
struct ConnectionTiming {
  /// The ICE agent's deadline, cached because computing it is slow. Not valid while ``agentIsTouched`` is set.
  var agentDeadline: MonotonicInstant?
  var agentIsTouched = true
  /// When the timeout for connecting expires.
  var connectingDeadline: MonotonicInstant?
  /// When the signalling server reported that the participant had left; nil after any later message of theirs.
  var leftRoom: MonotonicInstant?
  /// When the last authentic RTP or RTCP packet arrived.
  var lastMediaArrival: MonotonicInstant?
  /// Whether the last of them was a BYE.
  var hasReceivedBye = false
  /// When the connection's `followSilence(now:)` has something to do, as of its last call; valid until the state changes.
  var silenceDeadline: MonotonicInstant?
  var silenceDeadlineIsValid = false
  /// The connection's deadline as of the last poll, or an earlier one when media that has arrived since requires it.
  private(set) var nextPollDue: MonotonicInstant?
  /// Whether, as of the last poll, the deadline must be met to the millisecond.
  private(set) var isUrgent = false

  /// When a participant who has left has been silent for long enough.
  var leavingDeadline: MonotonicInstant? {
    guard let leftRoom else { return nil }
    return max(leftRoom, lastMediaArrival ?? leftRoom) + PeerConnection.departureTimeout
  }

  func isAgentDue(now: MonotonicInstant) -> Bool { agentIsTouched || Self.isDue(agentDeadline, now: now) }

  func isSilenceDue(now: MonotonicInstant) -> Bool {
    !silenceDeadlineIsValid || agentIsTouched || Self.isDue(silenceDeadline, now: now)
  }

  static func isDue(_ deadline: MonotonicInstant?, now: MonotonicInstant) -> Bool {
    if let deadline { deadline <= now } else { false }
  }

  /// Returns the earlier of two deadlines, either of which may be missing.
  static func earlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> MonotonicInstant? {
    guard let one else { return other }
    guard let other else { return one }
    return min(one, other)
  }

  /// Notes that an authentic RTP packet has arrived. A BYE applies to one source, so media that arrives after it revokes it.
  mutating func packetArrived(now: MonotonicInstant) {
    lastMediaArrival = now
    hasReceivedBye = false
  }

  /// Notes when the next poll is due, at the end of one.
  mutating func scheduled(_ due: MonotonicInstant?, isBusy: Bool) {
    nextPollDue = due
    isUrgent = isBusy || connectingDeadline != nil
  }

  /// Notes that media requires a poll, and returns whether that is sooner than was known, and whether a poll is due now.
  mutating func mediaChanged(due: MonotonicInstant?, now: MonotonicInstant) -> (isSooner: Bool, isDue: Bool) {
    let isSooner = if let due { nextPollDue.map { due < $0 } ?? true } else { false }
    if isSooner { nextPollDue = due }
    return (isSooner, nextPollDue.map { $0 <= now } ?? true)
  }
}

/// What the demultiplexer's schedule knows of a connection; the connection stores it, so that no look-up is needed.
struct ScheduledPoll {
  /// The place of its deadline.
  let slot: Int
  var isUrgent = false
  /// Whether it is listed as connecting.
  var isConnecting = false
}
