package import Media
internal import Signalling

/// The messages of the server.
extension CallControl {
  package mutating func received(_ message: IncomingCallMessage, now: MonotonicInstant) -> [Action] {
    guard isLoggedIn else {
      droppedCount &+= 1
      return [.ignored(.beforeLogin)]
    }
    switch message {
    case .login: return []
    case .callRequest(let other): return called(by: other, now: now)
    case .callResponse(let other, let isAccepted): return responded(other, isAccepted: isAccepted, now: now)
    case .offer(let other, let sdp):
      if case .accepted? = calls[other] { calls[other] = .established }
      return relayed(.offer(sdp), from: other)
    case .answer(let other, let sdp): return relayed(.answer(sdp), from: other)
    case .candidate(let other, let candidate): return relayed(.candidate(candidate), from: other)
    case .hangUp(let other): return hungUp(other, now: now)
    }
  }

  /// An event arrived with an empty object. For a call that we made, the server does not know the user.
  package mutating func receivedEmptyResponse(now: MonotonicInstant) -> [Action] {
    let requested = calls.compactMap { other, call in if case .requested = call { other } else { nil } }
    guard isLoggedIn, requested.count == 1, let other = requested.first else { return [] }
    calls[other] = nil
    return refused(other, "is not known to the server", now: now) + callNext(now: now)
  }

  private mutating func relayed(_ message: SignallingMessage, from other: ParticipantID) -> [Action] {
    switch calls[other] {
    case .accepted, .established: return [.deliver(.message(message, from: other))]
    case .requested, nil:
      droppedCount &+= 1
      return [.ignored(.noCall(other))]
    }
  }

  private mutating func called(by other: ParticipantID, now: MonotonicInstant) -> [Action] {
    guard other != user else { return [.ignored(.requestOfOurselves)] }
    switch calls[other] {
    case .requested(let end, _) where other.text.utf8.lexicographicallyPrecedes(user.text.utf8):
      // Both call each other: the user with the smaller name gives way, so that exactly one of the two calls goes on.
      calls[other] = .requested(until: end, isCrossed: true)
      return [.ignored(.callsCrossed(other))]
    case .requested:
      return accept(other, now: now)
    case .accepted, .established:
      // The other has lost the former call.
      return [.deliver(.participantLeft(other, isRejoinVerified: false))] + accept(other, now: now)
    case nil:
      guard calls.count < configuration.maximumCalls else {
        return [
          .send(.callResponse(to: other.text, isAccepted: false)),
          .note("A call of \(other.text.printable(utf8Bytes: 64)) is refused, because there are \(calls.count) calls."),
        ]
      }
      return accept(other, now: now)
    }
  }

  private mutating func accept(_ other: ParticipantID, now: MonotonicInstant) -> [Action] {
    calls[other] = .accepted(until: now + configuration.responseTimeout)
    plans[other]?.wasAccepted = true
    // A call of theirs takes the place of one that we would have made.
    plans[other]?.next = nil
    plans[other]?.attempts = configuration.maximumAttempts
    return [
      .send(.callResponse(to: other.text, isAccepted: true)),
      .deliver(.participantJoined(SignalledParticipant(other, name: other.text, offerer: .remote))),
    ]
  }

  private mutating func responded(
    _ other: ParticipantID, isAccepted: Bool, now: MonotonicInstant
  ) -> [Action] {
    guard case .requested(_, let isCrossed)? = calls[other] else {
      droppedCount &+= 1
      // A user who accepts too late waits for an offer that does not come.
      let isTooLate = isAccepted && calls[other] == nil && plans[other] != nil
      return (isTooLate ? [.send(.hangUp(to: other.text))] : []) + [.ignored(.responseWithoutRequest(other))]
    }
    if isAccepted {
      calls[other] = .established
      plans[other]?.wasAccepted = true
      return [.deliver(.participantJoined(SignalledParticipant(other, name: other.text, offerer: .local)))]
    }
    if isCrossed { return accept(other, now: now) }
    calls[other] = nil
    return refused(other, "is busy, refused the call or is not known", now: now) + callNext(now: now)
  }

  private mutating func hungUp(_ other: ParticipantID, now: MonotonicInstant) -> [Action] {
    switch calls[other] {
    case .requested:
      calls[other] = nil
      return refused(other, "hung up before the call began", now: now) + callNext(now: now)
    case .accepted, .established:
      calls[other] = nil
      return [.deliver(.participantLeft(other, isRejoinVerified: false))] + callNext(now: now)
    case nil:
      droppedCount &+= 1
      return [.ignored(.noCall(other))]
    }
  }
}
