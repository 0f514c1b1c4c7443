package import Media

/// Finds users whose media stands still without a reason. Pure: samples of each second in, users who are newly stalled out.
///
/// A user who never sent media, who has stopped their streams, whose connection is not established or who is paused has a reason.
package struct StallDetector: Sendable {
  /// What is known of a user at a moment.
  package struct Sample: Sendable {
    package var user: ParticipantID
    /// Frames received from them, of all tracks.
    package var frames: UInt64
    package var isConnected: Bool
    package var isPaused: Bool
    /// Whether they have stopped all that they sent.
    package var hasStopped: Bool

    package init(
      _ user: ParticipantID, frames: UInt64, isConnected: Bool = true, isPaused: Bool = false, hasStopped: Bool = false
    ) {
      self.user = user
      self.frames = frames
      self.isConnected = isConnected
      self.isPaused = isPaused
      self.hasStopped = hasStopped
    }
  }

  private struct User: Sendable {
    var frames: UInt64
    /// When frames last came, or a reason was there.
    var since: MonotonicInstant
    var isStalled = false
  }

  /// After this time without a frame a user is stalled.
  package static let limit = Duration.seconds(30)

  private var users: [ParticipantID: User] = [:]

  package init() {}

  /// The users who are stalled now.
  package var stalled: Set<ParticipantID> { Set(users.filter(\.value.isStalled).keys) }

  /// Takes the samples of all users.
  ///
  /// - Returns: who is stalled since this sample, and when their last frame came.
  package mutating func update(
    _ samples: [Sample], now: MonotonicInstant
  ) -> [(user: ParticipantID, since: MonotonicInstant)] {
    var next: [ParticipantID: User] = [:]
    var found: [(user: ParticipantID, since: MonotonicInstant)] = []
    for sample in samples {
      var user = users[sample.user] ?? User(frames: 0, since: now)
      let hasReason = !sample.isConnected || sample.isPaused || sample.hasStopped || sample.frames == 0
      if hasReason || sample.frames != user.frames {
        user = User(frames: sample.frames, since: now)
      } else if !user.isStalled, now - user.since >= Self.limit {
        user.isStalled = true
        found.append((sample.user, user.since))
      }
      next[sample.user] = user
    }
    users = next
    return found
  }
}
