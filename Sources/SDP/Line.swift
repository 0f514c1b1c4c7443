/// One line of a session description (RFC 8866, 5), stored so that it can be written back byte for byte.
package struct Line: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// `a=name` or `a=name:value` (RFC 8866, 5.13), in ASCII. `a=name:` has an empty value, `a=name` has none.
    case attribute(name: String, value: String?)
    /// Any other `x=value`. The type is an ASCII character. Also an attribute that is not ASCII: none with a meaning here is, and
    /// such text takes long to compare.
    case other(type: Unicode.Scalar, value: String)
    /// An empty line, which the RFC does not allow but some programs send.
    case blank
  }

  /// The line break.
  package enum Ending: String, Sendable, Hashable {
    case carriageReturnLineFeed = "\r\n"
    case lineFeed = "\n"
    /// The last line of the description, without a line break.
    case none = ""
  }

  package var content: Content
  package var ending: Ending

  package init(_ content: Content, ending: Ending = .carriageReturnLineFeed) {
    self.content = content
    self.ending = ending
  }

  /// Parses a line without its ending; nil if it is not of the form `x=value`.
  init?(parsing text: Substring, ending: Ending) {
    self.ending = ending
    let bytes = text.utf8
    guard let first = bytes.first else {
      content = .blank
      return
    }
    guard first < 0x80, bytes.dropFirst().first == UInt8(ascii: "=") else { return nil }
    let value = String(text[bytes.index(bytes.startIndex, offsetBy: 2)...])
    if first != UInt8(ascii: "a") || !value.utf8.allSatisfy({ $0 < 0x80 }) {
      content = .other(type: Unicode.Scalar(first), value: value)
    } else if let (name, rest) = value.cut(at: ":") {
      content = .attribute(name: name, value: rest)
    } else {
      content = .attribute(name: value, value: nil)
    }
  }

  func write(into text: inout String) {
    switch content {
    case .attribute(let name, let value?): text += "a=\(name):\(value)"
    case .attribute(let name, nil): text += "a=\(name)"
    case .other(let type, let value): text += "\(type)=\(value)"
    case .blank: break
    }
    text += ending.rawValue
  }
}
