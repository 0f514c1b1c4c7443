/// Which users of a recorder are paused: nothing that they send is recorded.
///
/// A user is named by their id, or by the name that the signalling knows. It says as well who will be paused that is not there yet,
/// such as a user who left and comes back.
public struct PausedUsers: Sendable, Hashable, Codable {
  /// Whether everybody is paused, except ``resumed``.
  public var all = false
  /// The ids and names of the users who are paused while not everybody is.
  public var users: Set<String> = []
  /// The ids and names of the users who are recorded while everybody else is paused.
  public var resumed: Set<String> = []

  /// How many ids and names each set has at most. A further user to pause pauses everybody; a further one to resume stays paused.
  static let maximum = 10_000

  /// Nobody is paused.
  public static let nobody = PausedUsers()
  /// Everybody is paused until they are resumed.
  public static let everybody = PausedUsers(all: true)

  public init(all: Bool = false, users: Set<String> = [], resumed: Set<String> = []) {
    self.all = all
    self.users = users
    self.resumed = resumed
  }

  /// Whether a user is paused who comes now.
  ///
  /// - Parameter name: the name that the signalling knows; nil if it knows none.
  public func contains(_ id: String, name: String? = nil) -> Bool {
    let listed = all ? resumed : users
    return all != (listed.contains(id) || name.map(listed.contains) ?? false)
  }

  /// Pauses a user, by id or name.
  mutating func pause(_ user: String) {
    if all {
      resumed.remove(user)
    } else if users.count < Self.maximum {
      users.insert(user)
    } else if !users.contains(user) {
      self = .everybody
    }
  }

  /// Resumes a user, by id or name.
  mutating func resume(_ user: String) {
    if !all {
      users.remove(user)
    } else if resumed.count < Self.maximum {
      resumed.insert(user)
    }
  }
}
