internal import Media

/// Writes chat as WebVTT subtitles (W3C WebVTT, 4). A file is only appended to, by whole cues, so that it is valid
/// after a crash too.
package struct WebVTTWriter: Sendable {
  private var isHeaderWritten: Bool
  /// The start of the last cue in milliseconds; no cue may start earlier.
  private var lastStart: Int64 = 0

  /// - Parameter isHeaderWritten: true to continue a file.
  package init(isHeaderWritten: Bool = false) {
    self.isHeaderWritten = isHeaderWritten
  }

  /// Returns what must be appended in one write: the cue of a message, which is shown for 5 s, and before the first cue
  /// the header.
  package mutating func text(appending entry: ChatEntry) -> String {
    // 10,000 hours are longer than any recording, and the numbers cannot overflow.
    let milliseconds = (entry.time * 1_000).rounded()
    let time = milliseconds.isFinite ? Int64(min(max(milliseconds, 0), 36e9)) : 0
    let start = max(time, lastStart)
    lastStart = start
    let end = start + DataMessageLimits.cueDuration.components.seconds * 1_000
    let header = isHeaderWritten ? "" : "WEBVTT\n\n"
    isHeaderWritten = true
    let name = entry.senderName ?? ""
    let voice = Self.lines(of: name.isEmpty ? entry.sender : name).joined(separator: " ")
    let text = Self.lines(of: entry.text.string).joined(separator: "\n")
    return header + "\(Self.timestamp(start)) --> \(Self.timestamp(end))\n<v \(voice)>\(text)\n\n"
  }

  /// `hh:mm:ss.mmm`
  private static func timestamp(_ milliseconds: Int64) -> String {
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = "\(value)"
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let seconds = milliseconds / 1_000
    return digits(seconds / 3_600, 2) + ":" + digits(seconds / 60 % 60, 2) + ":" + digits(seconds % 60, 2) + "."
      + digits(milliseconds % 1_000, 3)
  }

  /// Returns the escaped lines of a text without blank ones, which would end the cue. Without `>` there is no `-->`. Invisible
  /// characters are left out, among them those that turn the direction of the text around them; words and emoji need joiners.
  private static func lines(of text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    var hasInk = false
    func endLine() {
      if hasInk { lines.append(line) }
      (line, hasInk) = ("", false)
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n", "\r": endLine()
      case "&": line += "&amp;"
      case "<": line += "&lt;"
      case ">": line += "&gt;"
      case "\t": line += " "
      case "\u{200C}", "\u{200D}": line.unicodeScalars.append(scalar)
      case _ where scalar.isInvisible: continue
      default: line.unicodeScalars.append(scalar)
      }
      if !scalar.properties.isWhitespace { hasInk = true }
    }
    endLine()
    return lines
  }
}
