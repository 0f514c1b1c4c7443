internal import Media

/// Who must have been recorded for a call to count as a success.
public enum SessionRequirement: Sendable, Hashable {
  /// At least this many users.
  case users(Int)
  /// A user, by id or name.
  case user(String)

  /// - Parameter text: a number, or the id or name of a user; nil if it is empty.
  public init?(_ text: String) {
    if text.isEmpty { return nil }
    if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let count = Int(text) {
      self = .users(count)
    } else {
      self = .user(text)
    }
  }
}

extension SessionSummary {
  /// Returns what is missing of the requirements, as one sentence; nil if nothing is.
  public func missing(of requirements: [SessionRequirement]) -> String? {
    var clauses: [String] = []
    for requirement in requirements {
      switch requirement {
      case .users(let count) where recordedUsers < count:
        clauses.append("\(recordedUsers) of \(count) required users \(recordedUsers == 1 ? "was" : "were") recorded")
      case .user(let name):
        let users = users.filter { $0.isNamed(name) }
        if users.contains(where: \.recorded) { continue }
        let reason = users.last.map { "was not recorded: \($0.clause)" }
        clauses.append("“\(name.printable(utf8Bytes: 100))” \(reason ?? "was not in the room")")
      case .users: continue
      }
    }
    guard !clauses.isEmpty else { return nil }
    let shown = clauses.prefix(5).joined(separator: "; ")
    let rest = clauses.count > 5 ? "; and \(clauses.count - 5) more" : ""
    let sentence = shown.prefix(1).uppercased() + shown.dropFirst() + rest
    return sentence.hasSuffix(".") ? sentence : sentence + "."
  }
}

extension SessionSummary.User {
  /// The explanation without a full stop, printable.
  fileprivate var clause: String {
    let text = (explanation ?? "").printable(utf8Bytes: 300)
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Whether a text is the id or the name. Names come from others, so bytes are compared.
  fileprivate func isNamed(_ text: String) -> Bool {
    let text = UntrustedText(text)
    return UntrustedText(id) == text || name.map { UntrustedText($0) == text } ?? false
  }
}
