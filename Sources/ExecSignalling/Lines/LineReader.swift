/// Divides bytes into lines that end with a line feed; a carriage return before it is left out. Pure.
package struct LineReader: Sendable {
  /// The maximum size of a line in bytes.
  package let maximumBytes: Int
  /// The beginning of a line whose end has not been read yet.
  private var rest: [UInt8] = []
  /// Whether a line was longer than ``maximumBytes``. Nothing after it is read.
  package private(set) var isOverflown = false

  package init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// Returns the lines that end in these bytes, without empty ones.
  package mutating func lines(in bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var remaining = bytes[...]
    while !isOverflown, !remaining.isEmpty {
      let end = remaining.firstIndex(of: UInt8(ascii: "\n"))
      let piece = remaining[..<(end ?? remaining.endIndex)]
      guard piece.count <= maximumBytes - rest.count else {
        isOverflown = true
        rest = []
        break
      }
      rest += piece
      guard let end else { break }
      remaining = remaining[(end + 1)...]
      if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
      if !rest.isEmpty { lines.append(rest) }
      rest.removeAll(keepingCapacity: rest.count <= 4_096)
    }
    return lines
  }
}
