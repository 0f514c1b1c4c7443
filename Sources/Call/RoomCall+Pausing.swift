internal import BotPeer
internal import Logging
public import Media
public import Recorder
internal import Synchronization

/// Pausing of the recordings of a call.
extension RoomCall {
  /// What a pause or its end has changed: from when on, and for whom.
  public typealias PauseChange = RecorderGroup.PauseChange

  /// Pauses the recording of users, or of everybody: nothing that they send from now on is stored, until ``resume(_:)``. Returns at once.
  ///
  /// That holds for media, for what is found by decoding it, and for chat. The call goes on, and so do the recordings, after a gap of the
  /// reason `paused`. A user who leaves and comes back, under the same id or with the same name, is still paused. One who comes later is
  /// paused if everybody is.
  ///
  /// - Parameter users: their ids or names, also of users who are not there; nil for everybody.
  /// - Returns: what has changed; nil if nothing is recorded.
  @discardableResult
  public func pause(_ users: Set<String>? = nil) -> PauseChange? {
    guard let change = recorder?.pause(users) else { return nil }
    note(change, isPaused: true)
    return change
  }

  /// Records users again, or everybody, also those who come later. Returns at once.
  ///
  /// - Parameter users: their ids or names, also of users who are not there; nil for everybody.
  /// - Returns: what has changed; nil if nothing is recorded.
  @discardableResult
  public func resume(_ users: Set<String>? = nil) -> PauseChange? {
    guard let change = recorder?.resume(users) else { return nil }
    note(change, isPaused: false)
    return change
  }

  /// Who is paused, and who will be when they come.
  public var paused: PausedUsers { recorder?.paused ?? .nobody }

  /// Whether a user is paused, or will be when they are recorded under this id. Returns at once.
  public func isPaused(_ user: ParticipantID) -> Bool { recorder?.isPaused(user) ?? false }

  private func note(_ change: PauseChange, isPaused: Bool) {
    sessionLog.withLock { log in
      for participant in change.participants { log.setPaused(participant, isPaused) }
    }
    let what: Logger.Message = isPaused ? "recording paused" : "recording resumed"
    if change.participants.isEmpty {
      log.notice(what)
    } else {
      for user in change.participants { log.notice(what, metadata: metadata(of: user)) }
    }
  }
}
