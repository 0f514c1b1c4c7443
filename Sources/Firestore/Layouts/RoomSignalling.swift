package import Media
package import Signalling

/// A call between the host and the guest of a room: `rooms/ID/host` and `rooms/ID/guest`. Pure.
///
/// The host offers. A guest that starts waits until the host's documents vanish, because they may be of an old call;
/// so the host deletes an unanswered offer every 4 s and writes it again:
/// ```
///           deleted            1 s, and the guest's old documents are gone       written
///  clearing ──────► absent ─────────────────────────────────────────────► writing ─────► present
///     ▲                                                                                     │
///     └──────── no answer within 4 s, or the other side's documents vanished ◄──────────────┘
/// ```
/// Without a given role, a program is a tentative host if there is no offer. Several may start at once: each writes its
/// offer only if there is none, and all but the first become guests.
///
/// The guest's own documents go through the same states, with an answer instead of the offer. Documents stay while a
/// call lasts, and deleting them ends it.
package struct RoomSignalling: SignallingLayout {
  package enum Role: String, Sendable, Hashable, CaseIterable {
    case host
    case guest

    package var other: Role { self == .host ? .guest : .host }
  }

  private enum Own: Sendable, Hashable {
    /// The deletion is asked for.
    case clearing
    /// Not to be written before this time.
    case absent(until: MonotonicInstant)
    case writing
    case present(since: MonotonicInstant, serverTime: FirestoreTimestamp)
  }

  package let role: Role
  package let incoming: ConnectionDocuments
  package let outgoing: ConnectionDocuments
  package let room: DocumentPath?
  /// Set for a tentative host.
  package let successor: (any SignallingLayout)?
  private let timing: LayoutTiming
  private var own = Own.clearing
  /// Whether the documents may be ours; those of a former program are deleted too, except by a tentative host.
  private var ownsDocuments: Bool
  private var local: LocalDescription?
  private var connection: IncomingConnection?
  /// Descriptions that the server stored at this time or before do not count.
  private var ignoredUpTo: FirestoreTimestamp?
  /// Since when documents of the other side keep the host from writing its offer.
  private var blockedSince: MonotonicInstant?

  /// - Parameter isTentative: whether we become the guest when another program is the host.
  package init(
    room: FirestoreID, role: Role, isTentative: Bool = false, timing: LayoutTiming = LayoutTiming()
  ) {
    self.role = role
    successor =
      isTentative && role == .host ? RoomSignalling(room: room, role: .guest, timing: timing) : nil
    ownsDocuments = successor == nil
    self.timing = timing
    self.room = CollectionPath("rooms").document(room)
    outgoing = .room(room, role: role == .host ? "host" : "guest")
    incoming = .room(room, role: role == .host ? "guest" : "host")
  }

  package var cleared: [ConnectionDocuments] { ownsDocuments ? [outgoing] : [] }

  private var other: ParticipantID { ParticipantID(role.other.rawValue) }

  private var participant: SignalledParticipant {
    SignalledParticipant(
      other, name: role.other.rawValue, offerer: role == .host ? .local : .remote, isExpected: role == .host)
  }

  package func plan(now: MonotonicInstant) -> PollPlan {
    guard let connection else { return PollPlan(readsCandidates: true) }
    return PollPlan(readsCandidates: now - connection.acceptedAt < timing.candidateSpan)
  }

  package mutating func started(
    serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction] {
    own = .absent(until: removedAny ? now + timing.minimumAbsence : now)
    ignoredUpTo = serverTime.earlier(by: timing.offerAge)
    return [.event(rejoined())]
  }

  package func rejoined() -> SignallingEvent {
    // A guest cannot be seen before it answers, so the host always offers.
    let isAnnounced = role == .host || connection != nil
    return .joined(id: ParticipantID(role.rawValue), others: isAnnounced ? [participant] : [])
  }

  package mutating func polled(_ snapshot: Snapshot, now: MonotonicInstant) -> [LayoutAction] {
    var actions: [LayoutAction] = []
    if var current = connection {
      switch snapshot.description {
      case .unusable: return actions
      case .present(let description) where description.identity == current.description.identity:
        if current.hadCandidates, let candidates = snapshot.candidates, candidates.isEmpty {
          ignoredUpTo = max(ignoredUpTo ?? description.updateTime, description.updateTime)
          actions += reset()
        } else {
          actions += deliver(from: &current, snapshot)
          connection = current
        }
      case .absent, .present:
        actions += reset()
      }
    }
    if connection == nil, case .present(let description) = snapshot.description, accepts(description, now: now) {
      var new = IncomingConnection(description, now: now)
      if role == .guest {
        local = nil
        actions.append(.event(.participantJoined(participant)))
      }
      actions.append(.event(.message(description.message, from: other)))
      actions += deliver(from: &new, snapshot)
      connection = new
    }
    return actions + advance(otherIsPresent: isPresent(snapshot), now: now)
  }

  package mutating func completed(
    _ change: DocumentChange, serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction] {
    switch (change, own) {
    case (.clear, .clearing):
      own = .absent(until: now + timing.minimumAbsence)
      if successor != nil { ownsDocuments = false }
    case (.write, .writing):
      own = .present(since: now, serverTime: serverTime)
      ownsDocuments = true
    default: break
    }
    return []
  }

  package mutating func send(
    _ message: SignallingMessage, to participant: String, now: MonotonicInstant
  ) -> [LayoutAction] {
    guard participant == other.text else {
      return [.ignored("A message for \(participant.printable(utf8Bytes: 40)) is discarded: they are not in the room.")]
    }
    switch (message, role) {
    case (.offer(let sdp), .host): return describe(OutgoingDescription(.offer, sdp: sdp), now: now)
    case (.answer(let sdp), .guest):
      guard connection != nil else { return [.ignored("An answer is discarded, because its offer has vanished.")] }
      return describe(OutgoingDescription(.answer, sdp: sdp), now: now)
    case (.offer, .guest): return [.ignored("An offer is discarded, because the host of a room offers.")]
    case (.answer, .host): return [.ignored("An answer is discarded, because the guest of a room answers.")]
    case (.candidate(let candidate), _):
      guard let index = local?.add(candidate) else { return [] }
      switch own {
      case .writing, .present: return [.change(.add(candidate, index: index))]
      case .clearing, .absent: return []
      }
    }
  }
}

extension RoomSignalling {
  private mutating func describe(_ description: OutgoingDescription, now: MonotonicInstant) -> [LayoutAction] {
    if let former = local?.outgoing.usernameFragment, former == description.usernameFragment {
      return [.ignored("A description is discarded: a client of a room cannot negotiate a connection again.")]
    }
    local = LocalDescription(description, now: now)
    switch own {
    case .clearing, .absent: return advance(otherIsPresent: nil, now: now)
    case .writing, .present:
      // The other side must see that the former description is gone.
      own = .clearing
      if role == .host { connection = nil }
      return [.change(.clear)]
    }
  }

  private func isPresent(_ snapshot: Snapshot) -> Bool {
    guard case .present = snapshot.description else { return false }
    return !(snapshot.candidates ?? [:]).isEmpty
  }

  private func accepts(_ description: StoredDescription, now: MonotonicInstant) -> Bool {
    if let ignoredUpTo, description.updateTime <= ignoredUpTo { return false }
    switch (role, own, description.kind) {
    case (.host, .present(_, let serverTime), .answer): return description.updateTime > serverTime
    case (.guest, .absent(let until), .offer): return now >= until
    default: return false
    }
  }

  private func deliver(from connection: inout IncomingConnection, _ snapshot: Snapshot) -> [LayoutAction] {
    connection.newCandidates(in: snapshot.candidates).map { .event(.message(.candidate($0), from: other)) }
  }

  /// The other side has ended or restarted the connection.
  private mutating func reset() -> [LayoutAction] {
    connection = nil
    local = nil
    blockedSince = nil
    var actions: [LayoutAction] = []
    switch own {
    case .writing, .present:
      own = .clearing
      actions.append(.change(.clear))
    case .clearing, .absent: break
    }
    actions.append(.event(.participantLeft(other, isRejoinVerified: false)))
    if role == .host { actions.append(.event(.participantJoined(participant))) }
    return actions
  }

  /// - Parameter otherIsPresent: whether the other side's description and candidates exist; nil if that is not known
  ///   now.
  private mutating func advance(otherIsPresent: Bool?, now: MonotonicInstant) -> [LayoutAction] {
    switch own {
    case .absent(let until):
      guard now >= until, let local, local.isReady(waiting: timing.candidateWait, now: now) else { return [] }
      switch role {
      case .guest:
        guard connection != nil else { return [] }
      case .host:
        guard let otherIsPresent else { return [] }
        if otherIsPresent {
          let since = blockedSince ?? now
          blockedSince = since
          guard now - since >= timing.staleTimeout else { return [] }
        }
        blockedSince = nil
      }
      own = .writing
      return [.change(.write(local.outgoing))]
    case .present(let since, _):
      guard role == .host, connection == nil, now - since >= timing.answerTimeout else { return [] }
      own = .clearing
      var actions = [LayoutAction.change(.clear)]
      let remaining = timing.answerTimeout + timing.minimumAbsence
      if let offer = local, now + remaining - offer.receivedAt > timing.offerLifetime {
        local = nil
        actions.append(.event(.participantLeft(other, isRejoinVerified: false)))
        actions.append(.event(.participantJoined(participant)))
      }
      return actions
    case .clearing, .writing: return []
    }
  }
}
