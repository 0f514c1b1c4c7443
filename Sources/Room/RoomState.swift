package import BotPeer
package import Media
package import Signalling

/// Decides what the connections of a room do when its signalling says something, and what the signalling is told when
/// something happens to a connection: who is offered to and when, what is repeated after a rejoin, which connections begin
/// again, and who hangs up. Pure.
///
/// Handle every event of the signalling and of the peer, and call ``timeReached(now:)`` at ``deadline``. Each call returns what is to
/// be done, in order.
package struct RoomState: Sendable {
  /// What is to be done.
  package enum Action: Sendable, Hashable {
    /// The peer's id in the room, which decides who gives way when both sides offer at once.
    case identify(ParticipantID)
    /// Offer to a participant, or expect their offer.
    case call(SignalledParticipant)
    /// Offer again to a participant who is known.
    case offer(ParticipantID)
    /// Send an offer again that is not answered.
    case repeatOffer(ParticipantID)
    case participantLeft(ParticipantID, isRejoinVerified: Bool)
    case receive(SignallingMessage, from: ParticipantID)
    case use([ICEServer])
    case disconnect(ParticipantID, CloseReason)
    case send(SignallingMessage, to: ParticipantID)
    case hangUp(ParticipantID)
    case verifyConnection
    /// The signalling has ended; returned once.
    case end(RoomEndReason)
  }

  /// What is known of a participant.
  private struct Participant {
    /// What the signalling said last, until they leave.
    var announcement: SignalledParticipant?
    /// Whether there is a connection, one is being established, or an offer waits in ``offers``.
    var isCalled = false
    var isConnected = false
    /// Whether the last description that we sent is an answer.
    var hasAnswered = false
    /// Whether the participant has answered the last offer that we sent.
    var isAnswered = false
    /// Whom to call as soon as the present connection ends: it began under a previous id of ours.
    var nextCall: SignalledParticipant?

    /// Whether we joined again while the connection was being established: an answer to our offer may be from before that.
    var isDoubtful = false

    /// Whether we are the side that offers, and what was agreed may be of no use: we answered an offer, which can be from before
    /// the participant lost the server, or joined again meanwhile.
    var isAgreedInVain: Bool { !isConnected && (hasAnswered || isDoubtful) && announcement?.offerer == .local }

    var isNeeded: Bool { announcement != nil || isCalled || nextCall != nil }
  }

  /// The number of participants of which something is stored. Further ones are not called; their messages are passed on.
  package static let maximumParticipants = 4_096
  /// The wait before a new offer to a media server whose connection was lost.
  package static let offerInterval = Duration.seconds(1)
  /// How long the path to a media server may be silent until the connection is given up: a new session begins sooner than
  /// consent expires (RFC 7675: 30 s).
  package static let silenceLimit = Duration.seconds(4)

  private let capabilities: SignallingCapabilities
  /// Whether a connection that is lost before we have joined ends the stay.
  private let endsIfNotAdmitted: Bool
  private var ownID: ParticipantID?
  private var hasEnded = false
  private var participants: [ParticipantID: Participant] = [:]
  private var offers = OfferQueue()
  /// When to offer again to participants whose connections ended.
  private var nextOffers: [ParticipantID: MonotonicInstant] = [:]
  /// When to give up media servers whose paths are silent.
  private var silences: [ParticipantID: MonotonicInstant] = [:]

  package init(_ capabilities: SignallingCapabilities, endsIfNotAdmitted: Bool = true) {
    self.capabilities = capabilities
    self.endsIfNotAdmitted = endsIfNotAdmitted
  }

  /// The number of participants of which something is stored.
  package var participantCount: Int { participants.count }

  /// The time of the next call of ``timeReached(now:)``; nil if nothing waits.
  package var deadline: MonotonicInstant? {
    [offers.deadline, nextOffers.values.min(), silences.values.min()].compactMap(\.self).min()
  }

  /// Handles an event of the signalling.
  package mutating func received(_ event: SignallingEvent, now: MonotonicInstant) -> [Action] {
    if hasEnded { return [] }
    switch event {
    case .joined(let id, let others): return joined(as: id, others: others, now: now)
    case .participantJoined(let participant): return announced(participant) + offersDue(now: now)
    case .participantLeft(let id, let isRejoinVerified): return left(id, isRejoinVerified: isRejoinVerified)
    case .message(let message, let id): return received(message, from: id)
    case .iceServers(let servers): return [.use(servers)]
    case .connectionLost(let reason, _):
      return ownID == nil && endsIfNotAdmitted ? end(.notAdmitted(reason)) : []
    case .rejected(let reason): return end(ownID == nil ? .notAdmitted(reason) : .rejected(reason))
    case .closed(let reason): return end(ownID == nil ? .notAdmitted(reason) : .closed(reason))
    }
  }

  /// Handles the end of the signalling's events.
  package mutating func signallingEnded() -> [Action] {
    hasEnded ? [] : end(.left)
  }

  /// Handles an event of the connection to a participant.
  package mutating func received(_ event: PeerEvent, of id: ParticipantID, now: MonotonicInstant) -> [Action] {
    switch event {
    case .signal(let message):
      switch message {
      case .offer: change(id) { ($0.hasAnswered, $0.isAnswered) = (false, false) }
      case .answer: change(id) { $0.hasAnswered = true }
      case .candidate: break
      }
      return [.send(message, to: id)]
    case .stateChanged(let state):
      if state == .connecting { change(id) { $0.isCalled = true } }
      if state == .connected { change(id) { $0.isConnected = true } }
      silences[id] = state == .disconnected && isGivenUpWhenSilent(id) ? now + Self.silenceLimit : nil
      return []
    case .iceRestarted(let reason):
      // The network that was lost may have carried the signalling as well.
      return reason == .requested ? [] : [.verifyConnection]
    case .ended(let reason):
      return connectionEnded(id, reason, now: now)
    case .reached, .pathSelected, .media, .keyframeRequested, .targetBitrate, .sectionRejected, .mediaAnnounced,
      .problem:
      return []
    }
  }

  /// Does what is due.
  package mutating func timeReached(now: MonotonicInstant) -> [Action] {
    var actions: [Action] = []
    for id in due(&silences, now: now) {
      actions.append(.disconnect(id, CloseReason(.connectionLost, "The server sent nothing for some seconds.")))
    }
    for id in due(&nextOffers, now: now) where participants[id]?.isCalled == false {
      change(id) { $0.isCalled = true }
      actions.append(.offer(id))
    }
    return actions + offersDue(now: now)
  }

  // MARK: The signalling

  /// A newcomer offers to everyone in the room, as far as the system says so. A call that outlived the connection to the server
  /// continues; one that was not established may have lost an offer or an answer.
  private mutating func joined(
    as id: ParticipantID, others: [SignalledParticipant], now: MonotonicInstant
  ) -> [Action] {
    let isSomeoneElse = ownID != nil && ownID != id
    ownID = id
    var actions: [Action] = [.identify(id)]
    let present = Set(others.map(\.id))
    if capabilities.announcesLostParticipants {
      for absent in participants.keys.sorted() where !present.contains(absent) {
        if isBeingEstablished(absent) { actions.append(.participantLeft(absent, isRejoinVerified: true)) }
        forget(absent)
      }
    }
    for other in others {
      guard other.offerer == .local, let known = participants[other.id], known.isCalled, !offers.contains(other.id)
      else {
        actions += announced(other)
        continue
      }
      change(other.id) { $0.announcement = other }
      // The others have seen our old id leave: what is established continues as long as its media arrives, and when it ends, we
      // call them again.
      if isSomeoneElse || mayBeForgotten(known) {
        change(other.id) { $0.nextCall = other }
        actions.append(.participantLeft(other.id, isRejoinVerified: true))
      } else {
        if !known.isConnected { change(other.id) { $0.isDoubtful = true } }
        actions.append(.repeatOffer(other.id))
      }
    }
    return actions + offersDue(now: now)
  }

  /// Whether the other side has seen us leave, and ended a call that was agreed but not established.
  private func mayBeForgotten(_ known: Participant) -> Bool {
    capabilities.announcesLostParticipants && (known.hasAnswered || known.isAnswered) && !known.isConnected
  }

  /// Whether there is a connection that is not established yet.
  private func isBeingEstablished(_ id: ParticipantID) -> Bool {
    guard let known = participants[id] else { return false }
    return known.isCalled && !known.isConnected && !offers.contains(id)
  }

  /// Stores what the signalling says of a participant, and queues our offer to them.
  private mutating func announced(_ participant: SignalledParticipant) -> [Action] {
    change(participant.id) { $0.announcement = participant }
    if participants[participant.id] == nil { return [] }
    guard participant.offerer == .local else {
      _ = offers.remove(participant.id)
      return [.call(participant)]
    }
    change(participant.id) { $0.isCalled = true }
    offers.add(participant)
    return []
  }

  private mutating func left(_ id: ParticipantID, isRejoinVerified: Bool) -> [Action] {
    forget(id)
    // A participant who lost only the connection to the server stays connected as long as media arrives.
    return [.participantLeft(id, isRejoinVerified: isRejoinVerified)]
  }

  /// Forgets what the signalling said of a participant. A call continues.
  private mutating func forget(_ id: ParticipantID) {
    if offers.remove(id) != nil { change(id) { $0.isCalled = false } }
    nextOffers[id] = nil
    change(id) {
      $0.announcement = nil
      $0.nextCall = nil
    }
  }

  private mutating func received(_ message: SignallingMessage, from id: ParticipantID) -> [Action] {
    if case .answer = message, participants[id] != nil { change(id) { $0.isAnswered = true } }
    // Somebody who offers first need not be offered to.
    guard case .offer = message, var participant = offers.remove(id) else { return [.receive(message, from: id)] }
    participant.offerer = .remote
    return [.call(participant), .receive(message, from: id)]
  }

  private mutating func end(_ reason: RoomEndReason) -> [Action] {
    hasEnded = true
    offers = OfferQueue()
    nextOffers = [:]
    return [.end(reason)]
  }

  // MARK: Connections

  private mutating func connectionEnded(
    _ id: ParticipantID, _ reason: CloseReason, now: MonotonicInstant
  ) -> [Action] {
    silences[id] = nil
    let known = participants[id] ?? Participant()
    change(id) {
      $0.nextCall = nil
      ($0.isCalled, $0.isConnected) = (false, false)
      ($0.hasAnswered, $0.isAnswered, $0.isDoubtful) = (false, false, false)
    }
    var actions: [Action] = []
    if !reason.isReplaced, reason.cause != .closedByParticipant || capabilities.requiresHangUpWhenClosedByParticipant {
      actions.append(.hangUp(id))
    }
    if hasEnded { return actions }
    if let nextCall = known.nextCall, !reason.isReplaced {
      actions += announced(nextCall) + offersDue(now: now)
    } else if reason.cause == .connectionLost || reason.cause == .failed,
      expectsOffer(id) || capabilities.announcesLostParticipants && known.isAgreedInVain
    {
      nextOffers[id] = now + Self.offerInterval
    }
    return actions
  }

  /// Whether a participant is a media server that we offer to.
  private func expectsOffer(_ id: ParticipantID) -> Bool {
    guard let known = participants[id]?.announcement else { return false }
    return known.direction != .sendReceive && known.offerer == .local
  }

  private func isGivenUpWhenSilent(_ id: ParticipantID) -> Bool {
    expectsOffer(id) && !capabilities.reportsEndedConnections
  }

  private mutating func offersDue(now: MonotonicInstant) -> [Action] {
    offers.takeDue(now: now).map { .call($0) }
  }

  /// Changes what is known of a participant, and forgets them when nothing is left to know.
  private mutating func change(_ id: ParticipantID, _ change: (inout Participant) -> Void) {
    var participant = participants[id] ?? Participant()
    change(&participant)
    if !participant.isNeeded {
      participants[id] = nil
    } else if participants[id] != nil || participants.count < Self.maximumParticipants {
      participants[id] = participant
    }
  }

  /// Removes and returns the participants whose time is reached, in the order of their ids.
  private func due(_ times: inout [ParticipantID: MonotonicInstant], now: MonotonicInstant) -> [ParticipantID] {
    if times.isEmpty { return [] }
    let due = times.filter { $0.value <= now }.keys.sorted()
    for id in due { times[id] = nil }
    return due
  }
}
