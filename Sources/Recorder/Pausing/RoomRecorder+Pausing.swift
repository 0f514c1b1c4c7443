public import Media

/// Pausing of recordings, for example because a user does not consent.
extension RoomRecorder {
  /// Pauses users: nothing is recorded that they send from now on, until they are resumed.
  ///
  /// Their recordings continue in the same files, after a gap of the reason `paused`. What counts is a frame's position on the time
  /// line of the recording, not its arrival: a packet that arrives late is recorded if it was sent before the pause, and not if
  /// it was sent during the pause and arrives after it. Nothing of the pause is written, decoded or reconstructed.
  ///
  /// A user who leaves and comes back is still paused, and so is one who comes later if everybody is paused.
  ///
  /// - Parameters:
  ///   - users: their ids, or their names; nil for everybody. Users who are not there are paused when they come.
  ///   - now: the time of the call; nil to read the clock.
  /// - Returns: from when on nothing is recorded.
  @discardableResult
  public nonisolated func pause(
    _ users: Set<String>? = nil, at now: ContinuousClock.Instant? = nil
  ) -> ContinuousClock.Instant {
    setPaused(true, users: users, at: now)
  }

  /// Resumes users. Video continues with a keyframe, which is requested at once, and audio after the first packet, since that
  /// contains a copy of the one before.
  ///
  /// - Parameters:
  ///   - users: their ids, or their names; nil for everybody, also those who come later.
  ///   - now: the time of the call; nil to read the clock.
  /// - Returns: from when on they are recorded.
  @discardableResult
  public nonisolated func resume(
    _ users: Set<String>? = nil, at now: ContinuousClock.Instant? = nil
  ) -> ContinuousClock.Instant {
    setPaused(false, users: users, at: now)
  }

  /// Who is paused, and who will be when they come.
  public nonisolated var paused: PausedUsers { pauses.paused }

  /// The participants who are there and paused.
  public nonisolated var pausedParticipants: Set<ParticipantID> { pauses.pausedParticipants }

  /// Whether a participant is paused, or will be when they come under this id. Returns at once.
  public nonisolated func isPaused(_ participant: ParticipantID) -> Bool { pauses.isPaused(participant) }

  private nonisolated func setPaused(
    _ isPaused: Bool, users: Set<String>?, at now: ContinuousClock.Instant?
  ) -> ContinuousClock.Instant {
    pauses.setPaused(isPaused, users: users) { setPaused(isPaused, $0, at: now) }
  }

  /// - Parameter participants: those for whom that changes something, also those of other recorders.
  nonisolated func setPaused(
    _ isPaused: Bool, _ participants: [ParticipantID], at now: ContinuousClock.Instant?
  ) -> ContinuousClock.Instant {
    let (effective, outcome) = inbox.setPaused(isPaused, participants) { now.map { MonotonicInstant($0) } ?? .now }
    carryOut(outcome)
    return effective.instant
  }
}

/// The same of all recorders of a group.
extension RecorderGroup {
  /// What a pause or its end has changed.
  public struct PauseChange: Sendable, Hashable {
    /// From when on users are not recorded, or are recorded again.
    public var effectiveAt: ContinuousClock.Instant
    /// The same as seconds since 1970-01-01 00:00 UTC.
    public var secondsSince1970: Double
    /// The participants who are there and for whom something changed, in the order of their ids.
    public var participants: [ParticipantID]
    /// Who is paused now, and who will be when they come.
    public var paused: PausedUsers
  }

  /// Pauses users; see ``RoomRecorder/pause(_:at:)``.
  @discardableResult
  public func pause(_ users: Set<String>? = nil, at now: ContinuousClock.Instant? = nil) -> PauseChange {
    setPaused(true, users: users, at: now)
  }

  /// Resumes users; see ``RoomRecorder/resume(_:at:)``.
  @discardableResult
  public func resume(_ users: Set<String>? = nil, at now: ContinuousClock.Instant? = nil) -> PauseChange {
    setPaused(false, users: users, at: now)
  }

  /// Who is paused, and who will be when they come.
  public var paused: PausedUsers { pauses.paused }

  /// The participants who are there and paused.
  public var pausedParticipants: Set<ParticipantID> { pauses.pausedParticipants }

  /// Whether a participant is paused, or will be when they come under this id. Returns at once.
  public func isPaused(_ participant: ParticipantID) -> Bool { pauses.isPaused(participant) }

  private func setPaused(_ isPaused: Bool, users: Set<String>?, at now: ContinuousClock.Instant?) -> PauseChange {
    pauses.setPaused(isPaused, users: users) { participants in
      let moments = recorders.map { $0.setPaused(isPaused, participants, at: now) }
      let moment = moments.max() ?? .now
      return PauseChange(
        effectiveAt: moment, secondsSince1970: session.secondsSince1970(at: moment), participants: participants,
        paused: pauses.paused)
    }
  }
}
