/// One media section: an `m=` line and all lines up to the next one (RFC 8866, 5.14).
package struct MediaSection: Sendable, Hashable, AttributeLines {
  package var mediaLine: MediaLine
  /// What ended the `m=` line.
  package var ending: Line.Ending
  /// The lines after the `m=` line.
  package var lines: [Line]

  package init(_ mediaLine: MediaLine, ending: Line.Ending = .carriageReturnLineFeed, lines: [Line] = []) {
    self.mediaLine = mediaLine
    self.ending = ending
    self.lines = lines
  }

  /// The section's name in the session (RFC 5888), by which bundles and candidates refer to it; nil without a name, and with one
  /// of more than ``MediaLine/maximumNameLength`` bytes.
  package var mid: String? {
    attribute("mid").map { $0.trimmed }.flatMap { $0.utf8.count <= MediaLine.maximumNameLength ? $0 : nil }
  }

  func write(into text: inout String) {
    text += "m=\(mediaLine.text)\(ending.rawValue)"
    for line in lines {
      line.write(into: &text)
    }
  }
}
