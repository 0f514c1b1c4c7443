package import Media
internal import Signalling

/// What a program writes to its standard error, as lines for the log. Pure.
///
/// Lines are cut, control characters are escaped, and the rate is limited: a program that writes without end does not fill the
/// log.
package struct DiagnosticLines: Sendable {
  /// A line for the log.
  package struct Line: Sendable, Hashable {
    package var text: String
    /// The number of lines before this one that were left out.
    package var suppressedCount: Int
  }

  /// The number of bytes of a line that are kept.
  package static let maximumBytes = 1_024
  /// The number of bytes of a line that are shown.
  package static let shownBytes = 300

  /// The last line that was not blank, also if it is not for the log.
  package private(set) var last: String?
  private var rest: [UInt8] = []
  private var rate = LogRateLimiter(perSecond: 5, burst: 50)

  package init() {}

  /// Returns the lines that end in these bytes.
  package mutating func lines(in bytes: [UInt8], now: MonotonicInstant) -> [Line] {
    var found: [Line] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        if let line = end(now: now) { found.append(line) }
      } else if rest.count < Self.maximumBytes {
        rest.append(byte)
      }
    }
    return found
  }

  /// Returns the line that the program has not ended.
  package mutating func end(now: MonotonicInstant) -> Line? {
    defer { rest.removeAll(keepingCapacity: true) }
    while let byte = rest.last, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t") {
      rest.removeLast()
    }
    guard !rest.isEmpty else { return nil }
    guard let suppressedCount = rate.consume(now: now) else {
      last = shown
      return nil
    }
    let text = shown
    last = text
    return Line(text: text, suppressedCount: suppressedCount)
  }

  private var shown: String { UntrustedText(decoding: rest).string.printable(utf8Bytes: Self.shownBytes) }
}
