package import Media
package import Signalling

/// The state of signalling through documents, in one arrangement of them. Pure: what polls read and calls of the owner
/// come in with the current time; events and changes of documents go out.
package protocol SignallingLayout: Sendable {
  /// Where the other side writes.
  var incoming: ConnectionDocuments { get }
  /// Where we write.
  var outgoing: ConnectionDocuments { get }
  /// The documents that are deleted at the start, at a reset and at the end.
  var cleared: [ConnectionDocuments] { get }
  /// The room's document, if the layout has rooms.
  var room: DocumentPath? { get }
  /// What replaces this layout if another program has written ``outgoing``; nil if ours replaces theirs.
  var successor: (any SignallingLayout)? { get }

  /// What the next poll reads.
  func plan(now: MonotonicInstant) -> PollPlan

  /// Old documents have been deleted. The first action is the event `joined`.
  ///
  /// - Parameters:
  ///   - serverTime: the server's time of the deletion.
  ///   - removedAny: whether documents of ours were there.
  mutating func started(
    serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction]

  /// The server is reachable again. Returns the event `joined` with those who are in a call with us.
  func rejoined() -> SignallingEvent

  mutating func polled(_ snapshot: Snapshot, now: MonotonicInstant) -> [LayoutAction]

  /// A change that was asked for is done. Changes are carried out in order.
  mutating func completed(
    _ change: DocumentChange, serverTime: FirestoreTimestamp, removedAny: Bool, now: MonotonicInstant
  ) -> [LayoutAction]

  /// The local peer sends a message.
  mutating func send(
    _ message: SignallingMessage, to participant: String, now: MonotonicInstant
  ) -> [LayoutAction]
}

/// What a poll reads besides the other side's description.
package struct PollPlan: Sendable, Hashable {
  package var readsCandidates = false
  /// Whether our own description is still there.
  package var readsOutgoing = false

  package init(readsCandidates: Bool = false, readsOutgoing: Bool = false) {
    self.readsCandidates = readsCandidates
    self.readsOutgoing = readsOutgoing
  }
}

/// What a poll read.
package struct Snapshot: Sendable, Hashable {
  package enum Description: Sendable, Hashable {
    case absent
    /// There is a document, but not one of a description.
    case unusable
    case present(StoredDescription)
  }

  package var description: Description
  /// The usable candidates by document id; nil if they were not read.
  package var candidates: [FirestoreID: StoredCandidate]?
  /// Whether our own description exists; nil if it was not read.
  package var outgoingExists: Bool?

  package init(
    description: Description, candidates: [FirestoreID: StoredCandidate]? = nil, outgoingExists: Bool? = nil
  ) {
    self.description = description
    self.candidates = candidates
    self.outgoingExists = outgoingExists
  }
}

/// A change of documents, carried out in one commit.
package enum DocumentChange: Sendable, Hashable {
  /// Deletes everything in ``SignallingLayout/cleared``.
  case clear
  /// Replaces everything in ``SignallingLayout/outgoing``.
  case write(OutgoingDescription)
  /// Adds a candidate to ``SignallingLayout/outgoing``.
  case add(TrickledCandidate, index: Int)
}

/// What the owner of a layout does next.
package enum LayoutAction: Sendable, Hashable {
  case event(SignallingEvent)
  case change(DocumentChange)
  /// A message or document has no effect, for this reason.
  case ignored(String)
}

/// The times of a layout.
package struct LayoutTiming: Sendable, Hashable {
  /// How long an offer of ours stays without an answer before it is deleted and written again. A guest of the
  /// Firestore room protocol waits for that deletion before it starts.
  package var answerTimeout: Duration = .seconds(4)
  /// How long our documents stay absent after they were deleted, so that a client that polls every 200 ms notices.
  package var minimumAbsence: Duration = .seconds(1)
  /// How long documents that the other side left behind are waited for to vanish.
  package var staleTimeout: Duration = .seconds(3)
  /// The age of an offer at our start up to which its sender may still wait for the answer.
  package var offerAge: Duration = .seconds(15)
  /// The age of our own unanswered offer at which it is replaced by a new one, because the local peer's attempt to
  /// connect ends after 30 s.
  package var offerLifetime: Duration = .seconds(20)
  /// How long a description without candidates waits for the first one.
  package var candidateWait: Duration = .milliseconds(500)
  /// How long candidates are read in every poll after the description arrived.
  package var candidateSpan: Duration = .seconds(30)

  package init() {}
}
