package import Media
package import Signalling

/// The other side's description that is in use, and which of its candidates were delivered.
package struct IncomingConnection: Sendable, Hashable {
  package let description: StoredDescription
  package let acceptedAt: MonotonicInstant
  private var delivered: Set<TrickledCandidate> = []
  /// Whether candidates of the other side have been there.
  package private(set) var hadCandidates = false

  /// The maximum number of candidates delivered for one description.
  package static let maximumCandidates = 256

  package init(_ description: StoredDescription, now: MonotonicInstant) {
    self.description = description
    acceptedAt = now
  }

  /// Returns the candidates that belong to the description and were not delivered yet, in the order of their
  /// documents' ids.
  package mutating func newCandidates(in stored: [FirestoreID: StoredCandidate]?) -> [TrickledCandidate] {
    guard let stored else { return [] }
    if !stored.isEmpty { hadCandidates = true }
    var new: [TrickledCandidate] = []
    // Firestore orders ids by their bytes.
    let sorted = stored.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    for (_, entry) in sorted where entry.belongs(to: description) {
      guard delivered.count < Self.maximumCandidates else { break }
      if delivered.insert(entry.candidate).inserted { new.append(entry.candidate) }
    }
    return new
  }
}

/// The local peer's description, and when it came.
package struct LocalDescription: Sendable, Hashable {
  package var outgoing: OutgoingDescription
  package let receivedAt: MonotonicInstant

  package init(_ outgoing: OutgoingDescription, now: MonotonicInstant) {
    self.outgoing = outgoing
    receivedAt = now
  }

  /// Whether it can be written: with candidates, or after `wait` without.
  package func isReady(waiting wait: Duration, now: MonotonicInstant) -> Bool {
    !outgoing.candidates.isEmpty || now - receivedAt >= wait
  }

  /// Adds a candidate that came after the description.
  ///
  /// - Returns: its index, or nil if it is empty, known, of another connection, or one too many.
  package mutating func add(_ candidate: TrickledCandidate) -> Int? {
    let fragment = outgoing.usernameFragment
    if let named = CandidateText.usernameFragment(of: candidate.candidate), let fragment, named != fragment {
      return nil
    }
    var candidate = candidate
    candidate.candidate = CandidateText.naming(fragment, in: candidate.candidate)
    guard candidate.candidate.hasPrefix("candidate:"),
      outgoing.candidates.count < IncomingConnection.maximumCandidates,
      !outgoing.candidates.contains(where: { $0.candidate == candidate.candidate })
    else { return nil }
    outgoing.candidates.append(candidate)
    return outgoing.candidates.count - 1
  }
}
