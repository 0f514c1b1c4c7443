internal import Media

/// The lines at the bottom of a terminal that are rewritten: a status line or a table. Pure.
///
/// The cursor stays at the end of the last line. When the terminal has become narrower meanwhile, it has wrapped the lines, so that
/// they occupy more rows than they had.
package struct TerminalBlock: Sendable, Hashable {
  /// The width of each line that is shown.
  package private(set) var widths: [Int] = []

  package init() {}

  package var isEmpty: Bool { widths.isEmpty }

  /// Returns the sequence that erases the lines, after which nothing is shown.
  ///
  /// - Parameter columns: the terminal's present width; nil if it is not known.
  package mutating func erase(columns: Int?) -> String {
    guard !widths.isEmpty else { return "" }
    let rows = widths.reduce(0) { $0 + Self.rows(of: $1, columns: columns) }
    widths = []
    return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
  }

  /// Returns the sequence that shows lines instead of the present ones.
  ///
  /// - Parameters:
  ///   - lines: without control characters; what is too long is cut.
  ///   - columns: the terminal's present width.
  package mutating func show(_ lines: [String], columns: Int) -> String {
    let eraser = erase(columns: columns)
    // The last column stays empty, because some terminals wrap when it is written.
    let cut = lines.map { DisplayText.cut($0, to: columns - 1) }
    widths = cut.map(DisplayText.width)
    return (eraser.isEmpty ? "\r\u{1B}[K" : eraser) + cut.joined(separator: "\n")
  }

  private static func rows(of width: Int, columns: Int?) -> Int {
    guard let columns, columns > 0 else { return 1 }
    return max(1, (width + columns - 1) / columns)
  }
}
