import CallCheck

/// Whom some of the rules are about: the room, or one peer.
///
/// Peers are called by the order in which they came, as "peer 1": a server gives them other ids in every call, and a case of a
/// test report is followed over many calls by its name.
struct ReportParty {
  /// The place of the peer in the report; nil for the room.
  var index: Int?
  /// `room`, or `peer 1`.
  var name: String
  /// The peer's id, fit to be shown; nil for the room.
  var id: String?
  /// Nil for the room, and for a peer of which nothing but results is known.
  var peer: PeerReport?
  var results: [RuleResult]
}

extension CheckReport {
  /// The room and every peer, in the order in which they came, with what was found for each.
  var parties: [ReportParty] {
    var parties = [ReportParty(name: "room", results: [])]
    var positions: [String: Int] = [:]
    func position(of id: String, _ peer: PeerReport?) -> Int {
      if let position = positions[id] { return position }
      positions[id] = parties.count
      parties.append(
        ReportParty(
          index: parties.count - 1, name: "peer \(parties.count)", id: ReportText.line(id, limit: 48), peer: peer,
          results: []))
      return parties.count - 1
    }
    for peer in peers { _ = position(of: peer.id, peer) }
    for result in results {
      parties[result.peer.map { position(of: $0, nil) } ?? 0].results.append(result)
    }
    return parties
  }

  /// The short name of the peer with an id.
  func name(ofPeer id: String?) -> String {
    guard let id else { return "room" }
    return peers.firstIndex { $0.id == id }.map { "peer \($0 + 1)" } ?? ReportText.line(id, limit: 48)
  }
}

extension RuleResult.Outcome {
  /// In a word.
  var word: String {
    switch self {
    case .held: "held"
    case .failed: "failed"
    case .notMeasured: "not measured"
    case .inconclusive: "inconclusive"
    }
  }

  var mark: String {
    switch self {
    case .held: "\u{2713}"
    case .failed: "\u{2717}"
    case .notMeasured: "\u{2013}"
    case .inconclusive: "?"
    }
  }
}

extension CheckReport.Verdict {
  /// The outcome that it is shown as.
  var outcome: RuleResult.Outcome {
    switch self {
    case .held: .held
    case .failed: .failed
    case .inconclusive: .inconclusive
    }
  }
}
