/// An error in parsed bytes: one sentence, with the numbers that were found.
package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
  /// `part` ends before its fields do.
  case tooShort(_ part: String, needs: Int, found: Int)
  /// `part` does not have version 2, the only one in use (RFC 3550, 5.1).
  case wrongVersion(_ part: String, found: Int)
  /// `part` announces padding that is empty or longer than itself (RFC 3550, 5.1).
  case wrongPadding(_ part: String, announced: Int, available: Int)
  /// A field of `part` has an invalid value.
  case wrongValue(_ part: String, expected: String, found: Int)

  package var description: String {
    switch self {
    case .tooShort(let part, let needs, let found):
      found == 0
        ? "\(part) needs \(bytes(needs)), but none arrived."
        : "\(part) needs \(bytes(needs)), but only \(found) arrived."
    case .wrongVersion(let part, let found):
      "\(part) must be of version 2, but this one is of version \(found)."
    case .wrongPadding(let part, let announced, let available):
      "\(part) announces \(bytes(announced)) of padding, but \(bytes(available)) could be padding."
    case .wrongValue(let part, let expected, let found):
      "\(part) must be \(expected), but it is \(found)."
    }
  }

  private func bytes(_ count: Int) -> String {
    count == 1 ? "1 byte" : "\(count) bytes"
  }
}
