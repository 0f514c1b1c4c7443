internal import Media

/// Who must have been recorded for a call to count as a success.
public enum SessionRequirement: Sendable, Hashable {
  /// At least this many users.
  case users(Int)
  /// A user, by id or name.
  case user(String)
  /// A user, by id.
  case id(String)
  /// A user, by name.
  case name(String)

  /// - Parameter text: a number of users, up to ``SessionSummary/maximumUsers``; or the id or name of a user, with `id:` or `name:` before
  ///   it where it could be anything else. Nil if it is empty.
  public init?(_ text: String) {
    for (prefix, requirement) in [("id:", SessionRequirement.id), ("name:", SessionRequirement.name)] {
      guard text.hasPrefix(prefix) else { continue }
      let value = String(text.dropFirst(prefix.count))
      if value.isEmpty { return nil }
      self = requirement(value)
      return
    }
    if text.isEmpty { return nil }
    let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if isNumber, let count = Int(text), count <= SessionSummary.maximumUsers {
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
        let sum = "\(recordedUsers) of \(count) required users \(recordedUsers == 1 ? "was" : "were") recorded"
        let named = requirements.flatMap { requirement in users.filter { $0.satisfies(requirement) } }.map(\.id)
        clauses.append(sum + notRecorded(except: Set(named.map { UntrustedText($0) })))
      case .users: continue
      case .user(let text), .id(let text), .name(let text):
        let users = users.filter { $0.satisfies(requirement) }
        if users.contains(where: \.recorded) { continue }
        let reason = users.last.map { "was not recorded: \($0.clause)" } ?? absence
        clauses.append("“\(text.printable(utf8Bytes: 100))” \(reason)")
      }
    }
    guard !clauses.isEmpty else { return nil }
    let shown = clauses.prefix(5).joined(separator: "; ")
    let rest = clauses.count > 5 ? "; and \(clauses.count - 5) more" : ""
    let sentence = shown.prefix(1).uppercased() + shown.dropFirst() + rest
    return sentence.hasSuffix(".") ? sentence : sentence + "."
  }

  /// Who was there and was not recorded, with the reasons, as a part of a sentence; empty if that is nobody.
  ///
  /// - Parameter named: the ids of users of whom the sentence says it elsewhere.
  private func notRecorded(except named: Set<UntrustedText>) -> String {
    // A server that only receives is nobody who could be recorded.
    let others = users.filter { user in
      !user.recorded && user.reason != .mediaServer && !named.contains(UntrustedText(user.id))
    }
    guard !others.isEmpty else { return "" }
    let shown = others.prefix(Self.maximumNamed).map { user in
      "\(DisplayName.label(user.name, id: ParticipantID(user.id))): \(user.clause)"
    }
    let more = others.count - shown.count
    return " (not recorded: " + shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more)" : ")")
  }

  /// How many of those who were not recorded are named.
  private static let maximumNamed = 3

  /// What is known of a user who is not in ``users``.
  private var absence: String {
    usersOmitted == 0
      ? "was not in the room" : "is not among the first \(users.count) users, and the summary does not list others"
  }
}

extension SessionSummary.User {
  /// The explanation without a full stop, printable.
  fileprivate var clause: String {
    let text = (explanation ?? "").printable(utf8Bytes: 300)
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Whether this is the user that is required.
  fileprivate func satisfies(_ requirement: SessionRequirement) -> Bool {
    // Names come from others, so bytes are compared.
    func isName(_ text: String) -> Bool { name.map { UntrustedText($0) == UntrustedText(text) } ?? false }
    func isID(_ text: String) -> Bool { UntrustedText(id) == UntrustedText(text) }
    return switch requirement {
    case .users: false
    case .user(let text): isID(text) || isName(text)
    case .id(let text): isID(text)
    case .name(let text): isName(text)
    }
  }
}
