/// Who is paused: everybody, or some users.
///
/// It is stored before a pause is acknowledged, and every process of a job begins with it.
package struct PauseState: Sendable, Hashable, Codable {
  /// Whether everybody is paused, also users who come later, except ``resumedUsers``.
  package var all: Bool
  /// The ids of paused users, in order. They remain paused if they leave and come again.
  package var users: [String]
  /// The ids of users who record although ``all`` is set, in order.
  package var resumedUsers: [String]

  /// The maximum number of ids in each list.
  package static let maximumUsers = 1_000
  /// The maximum bytes of all ids as JSON, so that a request, a status and a line of the journal have room for them.
  package static let maximumBytes = 24_576

  package init(all: Bool = false, users: [String] = [], resumedUsers: [String] = []) {
    self.all = all
    self.users = users
    self.resumedUsers = resumedUsers
  }

  /// Nobody is paused.
  package static let none = PauseState()

  /// Whether somebody is paused.
  package var isPaused: Bool { all || !users.isEmpty }

  /// Whether a user is paused.
  package func isPaused(_ user: String) -> Bool {
    func contains(_ list: [String]) -> Bool { list.contains { $0.utf8.elementsEqual(user.utf8) } }
    return all ? !contains(resumedUsers) : contains(users)
  }

  /// Pauses users.
  ///
  /// - Parameter who: their ids; nil for everybody, also those who come later.
  package mutating func pause(_ who: [String]?) {
    guard let who else {
      self = PauseState(all: true)
      return
    }
    if all { remove(who, from: \.resumedUsers) } else { add(who, to: \.users) }
  }

  /// Resumes users; nil for everybody.
  package mutating func resume(_ who: [String]?) {
    guard let who else {
      self = PauseState()
      return
    }
    if all { add(who, to: \.resumedUsers) } else { remove(who, from: \.users) }
  }

  /// Whether no list is too long.
  package var isWithinLimits: Bool {
    users.count <= Self.maximumUsers && resumedUsers.count <= Self.maximumUsers
      && Self.bytes(of: users) + Self.bytes(of: resumedUsers) <= Self.maximumBytes
  }

  /// Whether a request can name these users.
  package static func areWithinLimits(_ users: [String]) -> Bool {
    users.count <= maximumUsers && bytes(of: users) <= maximumBytes
  }

  /// The bytes of ids as JSON: with quotation marks and a comma, and with characters that are escaped.
  private static func bytes(of users: [String]) -> Int {
    var sum = 0
    for user in users {
      sum += 3
      for byte in user.utf8 {
        switch byte {
        case 0..<0x20: sum += 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): sum += 2
        default: sum += 1
        }
      }
    }
    return sum
  }

  private mutating func add(_ who: [String], to list: WritableKeyPath<PauseState, [String]>) {
    remove(who, from: list)
    self[keyPath: list].append(contentsOf: who)
    self[keyPath: list].sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private mutating func remove(_ who: [String], from list: WritableKeyPath<PauseState, [String]>) {
    let bytes = Set(who.map { Array($0.utf8) })
    self[keyPath: list].removeAll { bytes.contains(Array($0.utf8)) }
  }
}

extension PauseState {
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    all = try fields.decodeIfPresent(Bool.self, forKey: .all) ?? false
    users = try fields.decodeIfPresent([String].self, forKey: .users) ?? []
    resumedUsers = try fields.decodeIfPresent([String].self, forKey: .resumedUsers) ?? []
  }
}
