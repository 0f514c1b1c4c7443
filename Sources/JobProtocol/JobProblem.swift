/// What is wrong with a value of a job.
package struct JobProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where the value is (RFC 6901), for example `/record/segment`.
  package var pointer: String
  /// One sentence.
  package var sentence: String

  package init(_ pointer: String, _ sentence: String) {
    self.pointer = pointer
    self.sentence = sentence
  }

  package var description: String { "\(pointer): \(sentence)" }

  /// The pointer to a name or an index below another pointer.
  package static func pointer(_ base: String, _ token: String) -> String {
    var escaped = ""
    for scalar in token.unicodeScalars {
      switch scalar {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return "\(base)/\(escaped)"
  }
}
