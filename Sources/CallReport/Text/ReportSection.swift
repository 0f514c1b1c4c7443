import CallCheck

/// A part of a report: the room or one peer, with the results of its rules.
///
/// Peers are named by the order in which they joined, as "peer 1": a server assigns other ids in every call, but a case
/// of a test report is followed over many calls by its name.
struct ReportSection {
  /// The index of the peer in the report; nil for the room.
  var index: Int?
  /// `room`, or `peer 1`.
  var name: String
  /// The peer's name, if it has one, and its id, sanitized for display; nil for the room.
  var id: String?
  /// The peer's report; nil for the room, and for a peer with results only.
  var peer: PeerReport?
  var results: [RuleResult]
}

extension CheckReport {
  /// The room and every peer, in the order in which they joined, with their results.
  var sections: [ReportSection] {
    var sections = [ReportSection(name: "room", results: [])]
    var positions: [String: Int] = [:]
    func position(of id: String, _ peer: PeerReport?) -> Int {
      if let position = positions[id] { return position }
      positions[id] = sections.count
      sections.append(
        ReportSection(
          index: sections.count - 1, name: "peer \(sections.count)", id: Self.label(of: id, peer), peer: peer,
          results: []))
      return sections.count - 1
    }
    for peer in peers { _ = position(of: peer.id, peer) }
    for result in results {
      sections[result.peer.map { position(of: $0, nil) } ?? 0].results.append(result)
    }
    return sections
  }

  private static func label(of id: String, _ peer: PeerReport?) -> String {
    [peer?.name.map { ReportText.line($0, limit: 64) }, ReportText.line(id, limit: 48)].compactMap(\.self)
      .joined(separator: " ")
  }

  /// Returns the short name of a peer.
  func name(ofPeer id: String?) -> String {
    guard let id else { return "room" }
    return peers.firstIndex { $0.id == id }.map { "peer \($0 + 1)" } ?? ReportText.line(id, limit: 48)
  }
}

extension RuleResult.Outcome {
  /// The outcome as a word.
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
  /// The rule outcome with the same mark.
  var outcome: RuleResult.Outcome {
    switch self {
    case .held: .held
    case .failed: .failed
    case .inconclusive: .inconclusive
    }
  }
}
