internal import Media

/// The layout of a status line. Pure.
extension StatusLine {
  /// How much of a part is shown. Of a user `short` leaves out the frame rate when packets are lost, and the loss when none is.
  private enum Detail: CaseIterable {
    case full, short, least
  }

  /// A line, and what is in it.
  package struct Layout: Sendable, Hashable {
    /// Without control characters.
    package var text: String
    /// The number of users in it, counted from ``StatusLine/first``.
    package var shownUsers: Int
  }

  /// The line without control characters.
  ///
  /// - Parameter columns: The maximum width, or nil for no limit.
  package func text(columns: Int? = nil) -> String { layout(columns: columns).text }

  /// Chooses what fits: all of the line, or a shorter beginning and the next users, of whom at least one is shown as soon as that is
  /// possible. The others are counted; the caller moves ``first`` on, so that each has their turn.
  ///
  /// - Parameter columns: The maximum width, or nil for no limit.
  package func layout(columns: Int?) -> Layout {
    guard let columns else { return Layout(text: joined(head(.full), users.count, .full), shownUsers: users.count) }
    for detail in users.isEmpty ? Detail.allCases : [] where DisplayText.width(head(detail)) <= columns {
      return Layout(text: head(detail), shownUsers: 0)
    }
    for (headDetail, detail) in Self.details {
      let head = head(headDetail)
      var shown = 0
      while shown < users.count, DisplayText.width(joined(head, shown + 1, detail)) <= columns { shown += 1 }
      if shown > 0 { return Layout(text: joined(head, shown, detail), shownUsers: shown) }
    }
    let text = DisplayText.cut(joined(head(.least), min(1, users.count), .least), to: columns)
    return Layout(text: text, shownUsers: min(1, users.count))
  }

  /// What is shown of the beginning and of each user, from the most to the least.
  private static let details: [(head: Detail, user: Detail)] = [
    (.full, .full), (.full, .short), (.short, .full), (.short, .short), (.least, .short), (.least, .least),
  ]

  /// The beginning, some users, and the number of the others.
  private func joined(_ head: String, _ count: Int, _ detail: Detail) -> String {
    guard count > 0 else { return head }
    let shown = (0..<count).map { Self.text(users[(max(0, first) + $0) % users.count], detail) }
    let rest = users.count - count
    return head + ": " + shown.joined(separator: ", ")
      + (rest > 0 ? detail == .full ? ", \(rest) more" : " +\(rest)" : "")
  }

  private func head(_ detail: Detail) -> String {
    var parts: [String] = []
    var begin = elapsed.map { Self.clock($0) + " " } ?? ""
    if let recording {
      let verb =
        recording.isStalled
        ? "DISK STALLED" : recording.isPaused ? "PAUSED" : detail == .full ? "recording" : "rec"
      begin += "\(verb) \(Self.size(recording.bytes))"
      if detail != .least, let free = recording.freeBytes { begin += ", \(Self.size(free)) free" }
      parts.append(begin)
      begin = ""
    }
    let people = users.count == 1 ? "1 user" : "\(users.count) users"
    if detail == .full || recording == nil && detail == .short {
      parts.append("\(begin)room \(DisplayText.plain(room, longest: Self.maximumRoom))")
      begin = ""
    }
    parts.append(begin + people)
    if detail != .least, let transfers { parts.append(transfers) }
    return parts.joined(separator: ", ")
  }

  private static func text(_ user: User, _ detail: Detail) -> String {
    let name =
      user.givenName.map {
        "\(DisplayText.plain($0, longest: maximumGivenNameLength)) \(DisplayText.plain(user.name, longest: shortIDLength))"
      } ?? DisplayText.plain(user.name, longest: maximumNameLength)
    var words = [name, user.state.rawValue]
    if detail == .least { return words.joined(separator: " ") }
    if let flow = user.received { words.append("↓\(text(flow, detail))") }
    if let flow = user.sent { words.append("↑\(text(flow, detail))") }
    if !user.rejected.isEmpty {
      let shown = user.rejected.prefix(detail == .full ? 3 : 1).joined(separator: ", ")
      words.append("(\(shown))")
    }
    return words.joined(separator: " ")
  }

  private static func text(_ flow: Flow, _ detail: Detail) -> String {
    var words = [DisplayText.bitrate(flow.bitrate)]
    let loss = "\(DisplayText.tenths(flow.loss * 100)) % lost"
    let hasLoss = flow.loss >= 0.000_5
    if let rate = flow.framesPerSecond, detail == .full || !hasLoss { words.append("\(DisplayText.whole(rate)) fps") }
    if detail == .full || hasLoss { words.append(loss) }
    return words.joined(separator: " ")
  }

  /// Hours, minutes and seconds.
  private static func clock(_ elapsed: Duration) -> String {
    let seconds = DisplayText.whole(elapsed.seconds)
    func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(seconds / 3_600):\(digits(seconds / 60 % 60)):\(digits(seconds % 60))"
  }

  /// In decimal units, as disks are sold: `850 B`, `12.3 MB`.
  private static func size(_ bytes: Int64) -> String {
    switch Double(bytes) {
    case 999.95e9...: "\(DisplayText.tenths(Double(bytes) / 1e12)) TB"
    case 999.95e6...: "\(DisplayText.tenths(Double(bytes) / 1e9)) GB"
    case 999.95e3...: "\(DisplayText.tenths(Double(bytes) / 1e6)) MB"
    case 1_000...: "\(DisplayText.tenths(Double(bytes) / 1e3)) kB"
    default: "\(max(0, bytes)) B"
    }
  }
}
