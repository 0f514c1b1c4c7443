internal import FileSource
internal import Inspection
internal import Media

extension PlannedMessage {
  /// How long a message is shown: 5 s.
  private static let shown = 5 * Int64(MediaTimebase.rate)
  /// Files beside two recordings have the same message at times that differ by less than this: 500 ms. Their clocks are rounded, or are those of
  /// two machines.
  private static let tolerance = Int64(MediaTimebase.rate) / 2
  /// The most messages of a composition.
  private static let maximumCount = 100_000

  /// The messages of a call, in order. Each is in the file of every recording that it was heard in, and counts once.
  ///
  /// - Parameters:
  ///   - parts: the users, as their numbers say.
  ///   - range: the part of the call that is composed.
  static func messages(
    of parts: [UserParts], users: [PlannedUser], range: Range<Int64>, chat: (FoundRecording) -> [RecordedChat.Message]
  ) -> [PlannedMessage] {
    var labels: [UntrustedText: String] = [:]
    for user in users {
      for id in user.ids where labels[id] == nil { labels[id] = user.label }
    }
    // The recordings that have a text of a sender first.
    var known: [Key: Int] = [:]
    var messages: [PlannedMessage] = []
    var recording = 0
    for member in parts.flatMap(\.members) {
      recording += 1
      for message in chat(member.recording) where message.time.isFinite && (0...1e9).contains(message.time) {
        guard let time = RecordedTime.units(message.time), messages.count < maximumCount else { continue }
        let start = member.offset + time
        let key = Key(
          sender: UntrustedText(message.from), text: UntrustedText(message.text), interval: start / tolerance)
        if key.isNear(known, except: recording) { continue }
        if known[key] == nil { known[key] = recording }
        guard range.contains(start) else { continue }
        let name = UntrustedText(message.name.flatMap { $0.isEmpty ? nil : $0 } ?? message.from)
        messages.append(
          PlannedMessage(
            start: start - range.lowerBound, end: min(start + shown, range.upperBound) - range.lowerBound,
            sender: labels[key.sender] ?? ShownText.name(name), text: ShownText.message(key.text)))
      }
    }
    return messages.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
  }

  private struct Key: Hashable {
    let sender: UntrustedText
    let text: UntrustedText
    /// The number of the interval in which it was heard.
    var interval: Int64

    /// Whether another recording has the text in this interval, or in the one before or after it.
    func isNear(_ known: [Key: Int], except recording: Int) -> Bool {
      ([-1, 0, 1] as [Int64]).contains { distance in
        var key = self
        key.interval += distance
        return known[key].map { $0 != recording } ?? false
      }
    }
  }
}

/// A text of the subtitle track. Two do not overlap.
package struct PlannedSubtitle: Sendable, Hashable {
  package var start: Int64
  package var end: Int64
  /// Lines without markup, in which `<` and `&` stand for themselves.
  package var lines: [String]

  package init(start: Int64, end: Int64, lines: [String]) {
    (self.start, self.end, self.lines) = (start, end, lines)
  }
}

extension CompositionPlan {
  /// The most messages that are seen at once: the newest.
  private static let maximumLines = 3

  /// The messages as texts of a subtitle track, each with those that are still seen.
  package var subtitles: [PlannedSubtitle] {
    let borders = Set(messages.flatMap { [$0.start, $0.end] }).sorted()
    var subtitles: [PlannedSubtitle] = []
    var seen: [PlannedMessage] = []
    var next = 0
    for (start, end) in zip(borders, borders.dropFirst()) {
      seen.removeAll { $0.end <= start }
      while next < messages.count, messages[next].start <= start {
        if messages[next].end > start { seen.append(messages[next]) }
        next += 1
      }
      if seen.count > Self.maximumLines { seen.removeFirst(seen.count - Self.maximumLines) }
      if seen.isEmpty { continue }
      let lines = seen.map { "\($0.sender): \($0.text)" }
      if let last = subtitles.last, last.end == start, last.lines == lines {
        subtitles[subtitles.count - 1].end = end
      } else {
        subtitles.append(PlannedSubtitle(start: start, end: end, lines: lines))
      }
    }
    return subtitles
  }
}
