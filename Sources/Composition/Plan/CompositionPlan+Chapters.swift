internal import FileSource

extension CompositionPlan {
  /// What happens within this time is one chapter: 1 s.
  private static let together = Int64(MediaTimebase.rate)
  /// The most names in a title.
  private static let maximumNames = 5

  /// A chapter for each joining and leaving. The first one begins at zero, as players expect it.
  static func chapters(of users: [PlannedUser], duration: Int64) -> [PlannedChapter] {
    var events: [(time: Int64, isJoining: Bool, label: String)] = []
    for user in users {
      for range in user.presence {
        events.append((range.lowerBound, true, user.label))
        if range.upperBound < duration { events.append((range.upperBound, false, user.label)) }
      }
    }
    let inOrder = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
      \.element)
    var groups: [(start: Int64, joined: [String], left: [String])] = []
    for event in inOrder {
      if groups.last.map({ event.time - $0.start >= together }) ?? true { groups.append((event.time, [], [])) }
      if event.isJoining {
        groups[groups.count - 1].joined.append(event.label)
      } else {
        groups[groups.count - 1].left.append(event.label)
      }
    }
    var chapters = groups.map { group in
      let parts = [names(group.left, "left"), names(group.joined, "joined")].compactMap(\.self)
      return PlannedChapter(start: group.start, title: parts.joined(separator: ", "))
    }
    if let first = chapters.first, first.start > 0 {
      if first.start < together {
        chapters[0].start = 0
      } else {
        chapters.insert(PlannedChapter(start: 0, title: "Start"), at: 0)
      }
    }
    return chapters
  }

  private static func names(_ names: [String], _ verb: String) -> String? {
    guard let last = names.last else { return nil }
    if names.count == 1 { return "\(last) \(verb)" }
    if names.count > maximumNames {
      return names.prefix(maximumNames - 1).joined(separator: ", ")
        + " and \(names.count - maximumNames + 1) others \(verb)"
    }
    return names.dropLast().joined(separator: ", ") + " and \(last) \(verb)"
  }
}
