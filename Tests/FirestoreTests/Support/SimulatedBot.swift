import Firestore
import Media
import Signalling

/// A layout with a local peer that offers and answers at once, on a database in memory.
struct SimulatedBot<Layout: SignallingLayout> {
  private(set) var layout: Layout
  private(set) var events: [SignallingEvent] = []
  private var connectionCount = 0
  private(set) var localFragment: String?
  private(set) var remoteFragment: String?
  private(set) var hasCandidates = false
  private var changes: [DocumentChange] = []
  private let name: String

  /// - Parameter name: the beginning of the local peer's ICE user name fragments.
  init(_ layout: Layout, name: String = "bot", database: inout MemoryDatabase, now: MonotonicInstant) {
    self.layout = layout
    self.name = name
    let (serverTime, removedAny) = Self.clear(layout, &database)
    perform(self.layout.started(serverTime: serverTime, removedAny: removedAny, now: now), now: now)
    carryOut(&database, now: now)
  }

  mutating func poll(_ database: inout MemoryDatabase, now: MonotonicInstant) {
    carryOut(&database, now: now)
    let plan = layout.plan(now: now)
    var snapshot = Snapshot(description: .absent)
    if let document = database[layout.incoming.description] {
      snapshot.description = (try? StoredDescription(parsing: document)).map { .present($0) } ?? .unusable
    }
    if plan.readsCandidates, snapshot.description != .absent {
      var candidates: [FirestoreID: StoredCandidate] = [:]
      for document in database.list(layout.incoming.candidates) {
        candidates[document.path.id] = try? StoredCandidate(parsing: document)
      }
      snapshot.candidates = candidates
    }
    if plan.readsOutgoing { snapshot.outgoingExists = database[layout.outgoing.description] != nil }
    perform(layout.polled(snapshot, now: now), now: now)
    carryOut(&database, now: now)
  }

  mutating func leave(_ database: inout MemoryDatabase) { _ = Self.clear(layout, &database) }

  private static func clear(_ layout: Layout, _ database: inout MemoryDatabase) -> (FirestoreTimestamp, Bool) {
    let existing = layout.cleared.map { (side: $0, candidates: database.list($0.candidates).map(\.path)) }
    let removedAny = existing.contains { !$0.candidates.isEmpty || database[$0.side.description] != nil }
    return (database.commit(existing.flatMap { $0.side.clearing(existing: $0.candidates) }), removedAny)
  }

  private mutating func carryOut(_ database: inout MemoryDatabase, now: MonotonicInstant) {
    while !changes.isEmpty {
      let change = changes.removeFirst()
      var removedAny = false
      let serverTime: FirestoreTimestamp
      switch change {
      case .clear: (serverTime, removedAny) = Self.clear(layout, &database)
      case .write(let description):
        let existing = database.list(layout.outgoing.candidates).map(\.path)
        serverTime = database.commit(layout.outgoing.replacing(with: description, existing: existing))
      case .add(let candidate, let index):
        serverTime = database.commit([layout.outgoing.adding(candidate, index: index)])
      }
      perform(layout.completed(change, serverTime: serverTime, removedAny: removedAny, now: now), now: now)
    }
  }

  private mutating func perform(_ actions: [LayoutAction], now: MonotonicInstant) {
    for action in actions {
      switch action {
      case .change(let change): changes.append(change)
      case .ignored: break
      case .event(let event):
        events.append(event)
        react(to: event, now: now)
      }
    }
  }

  private mutating func react(to event: SignallingEvent, now: MonotonicInstant) {
    switch event {
    case .joined(_, let others):
      for other in others { begin(other, now: now) }
    case .participantJoined(let other): begin(other, now: now)
    case .participantLeft:
      localFragment = nil
      remoteFragment = nil
      hasCandidates = false
    case .message(.offer(let sdp), let id):
      remoteFragment = SessionDescriptionLines.usernameFragment(of: sdp)
      connectionCount += 1
      localFragment = "\(name)\(connectionCount)"
      send(.answer(TestDescription.sdp(localFragment ?? "", candidates: TestDescription.lines)), to: id, now: now)
    case .message(.answer(let sdp), _): remoteFragment = SessionDescriptionLines.usernameFragment(of: sdp)
    case .message(.candidate(let candidate), _):
      if let remoteFragment, candidate.candidate.contains("ufrag \(remoteFragment)") { hasCandidates = true }
    case .iceServers, .connectionLost, .rejected, .closed: break
    }
  }

  private mutating func begin(_ other: SignalledParticipant, now: MonotonicInstant) {
    guard other.offerer == .local else { return }
    connectionCount += 1
    localFragment = "\(name)\(connectionCount)"
    send(.offer(TestDescription.sdp(localFragment ?? "", candidates: TestDescription.lines)), to: other.id, now: now)
  }

  mutating func send(_ message: SignallingMessage, to id: ParticipantID, now: MonotonicInstant) {
    perform(layout.send(message, to: id.text, now: now), now: now)
  }
}
