import Firestore
import Media
import Signalling

/// A layout of documents with an owner that carries out its changes at once, and a peer that offers and answers at
/// once.
struct StoredCall<Layout: SignallingLayout> {
  /// What is in the database.
  var documents: [DocumentPath: FirestoreDocument] = [:]
  var now = MonotonicInstant.now
  private var layout: Layout
  private var ledger = SignallingLedger()
  private var serverTime = FirestoreTimestamp(seconds: 1_795_000_000)
  private var connectionCount = 0

  init(_ layout: Layout) {
    self.layout = layout
  }

  mutating func start() throws(InvariantViolation) {
    try perform(layout.started(serverTime: serverTime, removedAny: false, now: now))
  }

  mutating func poll() throws(InvariantViolation) {
    let plan = layout.plan(now: now)
    var snapshot = Snapshot(description: .absent)
    if let document = documents[layout.incoming.description] {
      snapshot.description = (try? StoredDescription(parsing: document)).map { .present($0) } ?? .unusable
    }
    if plan.readsCandidates {
      var candidates: [FirestoreID: StoredCandidate] = [:]
      for document in list(layout.incoming.candidates) {
        candidates[document.path.id] = try? StoredCandidate(parsing: document)
      }
      snapshot.candidates = candidates
    }
    if plan.readsOutgoing { snapshot.outgoingExists = documents[layout.outgoing.description] != nil }
    try perform(layout.polled(snapshot, now: now))
  }

  private func list(_ collection: CollectionPath) -> [FirestoreDocument] {
    documents.values.filter { $0.path.ids.dropLast() == collection.ids[...] }
  }

  private mutating func perform(_ actions: [LayoutAction]) throws(InvariantViolation) {
    var waiting = actions
    var performed = 0
    while !waiting.isEmpty {
      performed += 1
      try require(performed < 2_048, "An input leads to actions without end.")
      switch waiting.removeFirst() {
      case .ignored(let text): try sentence(text)
      case .change(let change): waiting += try carryOut(change)
      case .event(let event):
        try ledger.note(event)
        waiting += react(to: event)
      }
    }
  }

  private mutating func carryOut(_ change: DocumentChange) throws(InvariantViolation) -> [LayoutAction] {
    serverTime = FirestoreTimestamp(seconds: serverTime.seconds + 1)
    let existing = list(layout.outgoing.candidates).map(\.path)
    var writes: [FirestoreWrite]
    switch change {
    case .clear:
      writes = []
      for side in layout.cleared { writes += side.clearing(existing: list(side.candidates).map(\.path)) }
    case .write(let description):
      try require(description.candidates.count <= IncomingConnection.maximumCandidates, "Too many candidates of ours.")
      writes = layout.outgoing.replacing(with: description, existing: existing)
    case .add(let candidate, let index):
      try require((0..<IncomingConnection.maximumCandidates).contains(index), "A candidate has the index \(index).")
      writes = [layout.outgoing.adding(candidate, index: index)]
    }
    let count = documents.count
    for write in writes {
      switch write {
      case .delete(let path): documents[path] = nil
      case .set(let path, let fields), .create(let path, let fields):
        documents[path] = FirestoreDocument(path: path, fields: fields, updateTime: serverTime)
      }
    }
    return layout.completed(change, serverTime: serverTime, removedAny: documents.count < count, now: now)
  }

  private mutating func react(to event: SignallingEvent) -> [LayoutAction] {
    switch event {
    case .joined(_, let others): return others.flatMap { offer(to: $0) }
    case .participantJoined(let other): return offer(to: other)
    case .message(.offer, let id): return layout.send(.answer(description()), to: id.text, now: now)
    case .message(.candidate(let candidate), let id):
      // A candidate of ours with the text of theirs.
      return layout.send(.candidate(candidate), to: id.text, now: now)
    default: return []
    }
  }

  private mutating func offer(to other: SignalledParticipant) -> [LayoutAction] {
    guard other.offerer == .local else { return [] }
    return layout.send(.offer(description()), to: other.id.text, now: now)
  }

  private mutating func description() -> String {
    connectionCount += 1
    return "v=0\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=ice-ufrag:bot\(connectionCount)\r\n"
      + "a=candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host\r\n"
  }
}
