package import Media
package import Signalling

/// A call between two persons, each of whom has a collection that the other one writes: `NAME/sdp` and
/// `NAME/candidate/candidates`. Pure.
///
/// ```
///            our description is written         the other side's one came
///   idle ───────────────────────────► offered ───────────────────────────► in a call
///     ▲  an offer came, our answer is written                                  │
///     ├───────────────────────────────────────────────────────────────────────►┤
///     └───────────── they deleted what we wrote: they hung up ◄────────────────┘
/// ```
/// Nobody can be seen before a description comes. A new description of another connection replaces the call.
package struct PersonSignalling: SignallingLayout {
  package enum Role: String, Sendable, Hashable, CaseIterable {
    /// We offer at once.
    case caller
    /// We wait for an offer.
    case callee
  }

  private enum Own: Sendable, Hashable {
    case absent
    case writing
    case present(since: MonotonicInstant, serverTime: FirestoreTimestamp)
  }

  package let role: Role
  package let incoming: ConnectionDocuments
  package let outgoing: ConnectionDocuments
  package var room: DocumentPath? { nil }
  package var successor: (any SignallingLayout)? { nil }
  private let me: ParticipantID
  private let peer: ParticipantID
  private let timing: LayoutTiming
  private var own = Own.absent
  private var local: LocalDescription?
  private var connection: IncomingConnection?
  private var ignoredUpTo: FirestoreTimestamp?

  /// - Parameters:
  ///   - me: our name, the collection that we read.
  ///   - peer: the other person's name, the collection that we write.
  package init(me: FirestoreID, peer: FirestoreID, role: Role, timing: LayoutTiming = LayoutTiming()) {
    self.role = role
    self.timing = timing
    self.me = ParticipantID(me.text)
    self.peer = ParticipantID(peer.text)
    incoming = .person(me)
    outgoing = .person(peer)
  }

  package var cleared: [ConnectionDocuments] { [outgoing, incoming] }

  private func participant(_ offerer: SignalledParticipant.Offerer) -> SignalledParticipant {
    SignalledParticipant(peer, name: peer.text, offerer: offerer)
  }

  package func plan(now: MonotonicInstant) -> PollPlan {
    let isWritten = if case .present = own { true } else { false }
    let isNew = connection.map { now - $0.acceptedAt < timing.candidateSpan } ?? true
    return PollPlan(readsCandidates: isNew, readsOutgoing: isWritten)
  }

  package mutating func started(
    serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction] {
    ignoredUpTo = serverTime
    return [.event(rejoined())]
  }

  package func rejoined() -> SignallingEvent {
    var others: [SignalledParticipant] = []
    if let connection { others = [participant(connection.description.kind == .offer ? .remote : .local)] }
    if others.isEmpty, role == .caller { others = [participant(.local)] }
    return .joined(id: me, others: others)
  }

  package mutating func polled(_ snapshot: Snapshot, now: MonotonicInstant) -> [LayoutAction] {
    if snapshot.outgoingExists == false, case .present = own { return hangUpReceived() }
    guard case .present(let description) = snapshot.description else { return advance(now: now) }
    var actions: [LayoutAction] = []
    if var current = connection, current.description.identity == description.identity {
      actions += deliver(from: &current, snapshot)
      connection = current
    } else if accepts(description) {
      actions += accept(description, snapshot, now: now)
    }
    return actions + advance(now: now)
  }

  package mutating func completed(
    _ change: DocumentChange, serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction] {
    // Another description may already wait to be written.
    if case .write(let written) = change, own == .writing, written.sdp == local?.outgoing.sdp {
      own = .present(since: now, serverTime: serverTime)
    }
    return []
  }

  package mutating func send(
    _ message: SignallingMessage, to participant: String, now: MonotonicInstant
  ) -> [LayoutAction] {
    guard participant == peer.text else {
      return [.ignored("A message for \(participant.printable(utf8Bytes: 40)) is discarded: they are not the peer.")]
    }
    switch message {
    case .offer(let sdp):
      guard role == .caller else { return [.ignored("An offer is discarded, because we wait to be called.")] }
      return describe(OutgoingDescription(.offer, sdp: sdp), now: now)
    case .answer(let sdp):
      guard connection?.description.kind == .offer else {
        return [.ignored("An answer is discarded, because there is no offer for it.")]
      }
      return describe(OutgoingDescription(.answer, sdp: sdp), now: now)
    case .candidate(let candidate):
      guard let index = local?.add(candidate), own != .absent else { return [] }
      return [.change(.add(candidate, index: index))]
    }
  }
}

extension PersonSignalling {
  private mutating func describe(_ description: OutgoingDescription, now: MonotonicInstant) -> [LayoutAction] {
    local = LocalDescription(description, now: now)
    own = .absent
    return advance(now: now)
  }

  private func accepts(_ description: StoredDescription) -> Bool {
    if let ignoredUpTo, description.updateTime <= ignoredUpTo { return false }
    if description.kind == .offer { return true }
    guard role == .caller, case .present(_, let serverTime) = own else { return false }
    return description.updateTime > serverTime
  }

  private mutating func accept(
    _ description: StoredDescription, _ snapshot: Snapshot, now: MonotonicInstant
  ) -> [LayoutAction] {
    var actions: [LayoutAction] = []
    ignoredUpTo = description.updateTime
    let isAnnounced = connection != nil || role == .caller
    if connection != nil, description.kind == .answer {
      // The other side has a new connection, and only a new offer gets an answer from it.
      connection = nil
      local = nil
      own = .absent
      return [
        .event(.participantLeft(peer, isRejoinVerified: false)), .event(.participantJoined(participant(.local))),
      ]
    }
    if description.kind == .offer {
      if isAnnounced { actions.append(.event(.participantLeft(peer, isRejoinVerified: false))) }
      actions.append(.event(.participantJoined(participant(.remote))))
      local = nil
      own = .absent
    }
    var new = IncomingConnection(description, now: now)
    actions.append(.event(.message(description.message, from: peer)))
    actions += deliver(from: &new, snapshot)
    connection = new
    return actions
  }

  private func deliver(from connection: inout IncomingConnection, _ snapshot: Snapshot) -> [LayoutAction] {
    connection.newCandidates(in: snapshot.candidates).map { .event(.message(.candidate($0), from: peer)) }
  }

  private mutating func hangUpReceived() -> [LayoutAction] {
    let wasAnnounced = connection != nil || role == .caller
    connection = nil
    local = nil
    own = .absent
    var actions = [LayoutAction.change(.clear)]
    if wasAnnounced { actions.append(.event(.participantLeft(peer, isRejoinVerified: false))) }
    if role == .caller { actions.append(.event(.participantJoined(participant(.local)))) }
    return actions
  }

  private mutating func advance(now: MonotonicInstant) -> [LayoutAction] {
    guard let local else { return [] }
    switch own {
    case .absent:
      guard local.isReady(waiting: timing.candidateWait, now: now) else { return [] }
      own = .writing
      return [.change(.write(local.outgoing))]
    case .present
    where connection == nil && local.outgoing.kind == .offer
      && now - local.receivedAt >= timing.offerLifetime:
      self.local = nil
      own = .absent
      return [
        .event(.participantLeft(peer, isRejoinVerified: false)), .event(.participantJoined(participant(.local))),
      ]
    case .present, .writing: return []
    }
  }
}
