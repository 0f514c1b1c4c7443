package import Composition
internal import FileSource

/// The messages of a chat that are shown at a time, as one subtitle: subtitles do not overlap. Pure.
package struct ChatSubtitle: Sendable, Hashable {
  /// In milliseconds from the start of the composition.
  package let start: Int64
  package let end: Int64
  /// A line for each message.
  package let text: String

  /// The maximum number of messages that are shown at a time: the last ones.
  package static let maximumLines = 4

  /// - Parameter messages: in the order of their starts.
  package static func all(of messages: [PlannedMessage]) -> [ChatSubtitle] {
    let times = Set(messages.flatMap { [milliseconds($0.start), milliseconds($0.end)] }).sorted()
    var subtitles: [ChatSubtitle] = []
    var (first, shown) = (0, [PlannedMessage]())
    for (start, end) in zip(times, times.dropFirst()) {
      shown.removeAll { milliseconds($0.end) <= start }
      while first < messages.count, milliseconds(messages[first].start) <= start {
        if milliseconds(messages[first].end) > start { shown.append(messages[first]) }
        first += 1
      }
      guard !shown.isEmpty else { continue }
      let text = shown.suffix(maximumLines).map { "\($0.sender): \($0.text)" }.joined(separator: "\n")
      // What goes on without a change is one subtitle.
      if let last = subtitles.last, last.text == text, last.end == start {
        subtitles[subtitles.count - 1] = ChatSubtitle(start: last.start, end: end, text: text)
      } else {
        subtitles.append(ChatSubtitle(start: start, end: end, text: text))
      }
    }
    return subtitles
  }

  private static func milliseconds(_ time: Int64) -> Int64 { max(0, time) / (Int64(MediaTimebase.rate) / 1_000) }
}
