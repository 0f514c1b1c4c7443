package import Signalling

/// Where one side's description and candidates are stored.
package struct ConnectionDocuments: Sendable, Hashable {
  package var description: DocumentPath
  package var candidates: CollectionPath

  package init(description: DocumentPath, candidates: CollectionPath) {
    self.description = description
    self.candidates = candidates
  }

  /// What a participant of a room writes: `rooms/ID/ROLE/sdp` and `rooms/ID/ROLE/candidates/candidate`.
  package static func room(_ room: FirestoreID, role: FirestoreID) -> ConnectionDocuments {
    let collection = CollectionPath("rooms").document(room).collection(role)
    return ConnectionDocuments(
      description: collection.document("sdp"),
      candidates: collection.document("candidates").collection("candidate"))
  }

  /// What is written for a person: `NAME/sdp` and `NAME/candidate/candidates`.
  package static func person(_ name: FirestoreID) -> ConnectionDocuments {
    let collection = CollectionPath(name)
    return ConnectionDocuments(
      description: collection.document("sdp"),
      candidates: collection.document("candidate").collection("candidates"))
  }

  /// The id of the candidate at a place in the order of preference: `0000`, `0001`. A client that reads only the first
  /// document in the order of ids gets the best one.
  static func candidateID(_ index: Int) -> FirestoreID {
    let digits = String(index)
    return FirestoreID(stringLiteral: String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits)
  }

  /// The writes that replace all documents at once. A reader never sees the description without its
  /// candidates.
  ///
  /// - Parameters:
  ///   - existing: the candidates' documents that are there now.
  ///   - isNew: whether nothing may be written if there is a description already.
  package func replacing(
    with outgoing: OutgoingDescription, existing: [DocumentPath], isNew: Bool = false
  ) -> [FirestoreWrite] {
    var writes: [FirestoreWrite] = []
    var written: Set<DocumentPath> = []
    for (index, candidate) in outgoing.candidates.enumerated() {
      let path = candidates.document(Self.candidateID(index))
      written.insert(path)
      writes.append(.set(path, StoredCandidate.fields(candidate)))
    }
    writes += existing.filter { !written.contains($0) }.map { .delete($0) }
    let fields = StoredDescription.fields(outgoing.kind, sdp: outgoing.sdp)
    writes.append(isNew ? .create(description, fields) : .set(description, fields))
    return writes
  }

  /// The write that adds a candidate to a description that is there.
  package func adding(_ candidate: TrickledCandidate, index: Int) -> FirestoreWrite {
    .set(candidates.document(Self.candidateID(index)), StoredCandidate.fields(candidate))
  }

  /// The writes that delete all documents.
  package func clearing(existing: [DocumentPath]) -> [FirestoreWrite] {
    [.delete(description)] + existing.map { .delete($0) }
  }
}

/// A description of the local peer with all candidates known so far, in order of preference.
package struct OutgoingDescription: Sendable, Hashable {
  package var kind: StoredDescription.Kind
  package var sdp: String
  package var candidates: [TrickledCandidate]

  package init(_ kind: StoredDescription.Kind, sdp: String) {
    self.kind = kind
    self.sdp = sdp
    candidates = SessionDescriptionLines.candidates(of: sdp)
  }

  var usernameFragment: String? { SessionDescriptionLines.usernameFragment(of: sdp) }
}
