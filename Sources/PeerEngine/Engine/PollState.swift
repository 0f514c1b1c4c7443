internal import Media

/// When a connection must be polled next, and what the demultiplexer's schedule knows of it. The connection stores it, so
/// that no look-up is needed.
///
/// One property of the connection, because its parts are used together after each packet, and each access to a property of
/// a class is checked.
struct PollState {
  /// What the schedule knows of the connection.
  struct Entry {
    /// The place of its deadline.
    let slot: Int
    var isUrgent = false
    /// Whether it is listed as connecting.
    var isConnecting = false
  }

  /// Whether the demultiplexer has queued the connection for its next poll.
  var isQueued = false
  /// Nil if the schedule does not have the connection.
  var entry: Entry?
  /// The connection's deadline as of the last poll, or an earlier one when media that has arrived since requires it.
  private(set) var due: MonotonicInstant?
  /// Whether, as of the last poll, the deadline must be met to the millisecond.
  private(set) var isUrgent = false
  /// Until when, as of the last poll, each message must be answered at once.
  private var promptDeadline: MonotonicInstant?

  /// Returns whether the connection is being established and each message must be answered at once.
  func isPrompt(now: MonotonicInstant) -> Bool {
    if let promptDeadline { now < promptDeadline } else { false }
  }

  /// Notes when the next poll is due, at the end of one.
  ///
  /// - Parameter promptDeadline: nil unless the connection is being established.
  mutating func scheduled(_ due: MonotonicInstant?, isBusy: Bool, promptDeadline: MonotonicInstant?) {
    self.due = due
    self.promptDeadline = promptDeadline
    isUrgent = isBusy || promptDeadline != nil
  }

  /// Notes that media requires a poll, and returns whether that is sooner than was known, and whether a poll is due now.
  mutating func mediaChanged(due mediaDue: MonotonicInstant?, now: MonotonicInstant) -> (isSooner: Bool, isDue: Bool) {
    let isSooner = if let mediaDue { due.map { mediaDue < $0 } ?? true } else { false }
    if isSooner { due = mediaDue }
    return (isSooner, due.map { $0 <= now } ?? true)
  }
}
