import Media

/// The one line that a terminal shows while a call runs: the room, and what flows to and from each user.
///
///     room 100, 2 users: 3f2a91c0 live ↓1.2 Mb/s 30 fps 0.1 % lost, 77b1c0de connecting
struct StatusLine: Sendable, Hashable {
  var room: String
  var users: [User]

  /// A user of the room.
  struct User: Sendable, Hashable {
    /// The id that the server gave, or a name; shown without what could steer a terminal, and shortened.
    var name: String
    var state: State
    /// What comes from the user; nil when nothing does.
    var received: Flow?
    /// What goes to the user; nil when nothing does.
    var sent: Flow?
  }

  /// How far a call with a user has come.
  enum State: String, Sendable, Hashable {
    /// Offer, answer, ICE or DTLS is under way.
    case connecting
    /// Connected, and no media has come yet.
    case connected
    /// Media flows.
    case live
    /// Media has flowed, but not lately.
    case stalled
  }

  /// Media in one direction.
  struct Flow: Sendable, Hashable {
    /// Bits a second, audio and video together.
    var bitrate: Double
    /// Frames a second; nil when there are none.
    var framesPerSecond: Double?
    /// Packets lost of all, 0 to 1.
    var loss: Double
  }

  /// The longest part of a name that is shown.
  static let longestName = 8
  static let maximumRoom = 24

  /// The line for a terminal: it takes the place of the one before it.
  ///
  /// - Parameter columns: the terminal's width; the line never wraps.
  func onTerminal(columns: Int) -> String {
    // The last column stays free: some terminals wrap when it is written.
    "\r\(text(columns: columns - 1))\u{1b}[K"
  }

  /// The line without any control character.
  ///
  /// - Parameter columns: where there is not room for every user, the last ones are only counted; nil for no limit.
  func text(columns: Int? = nil) -> String {
    let people = users.count == 1 ? "1 user" : "\(users.count) users"
    let head = "room \(Self.plain(room, longest: Self.maximumRoom)), \(people)"
    let limit = columns ?? .max
    var line = head
    for (index, user) in users.enumerated() {
      let next = line + (index == 0 ? ": " : ", ") + Self.text(user)
      let others = users.count - index - 1
      let tail = others == 0 ? "" : ", \(others) more"
      guard Self.width(next) + tail.count <= limit else {
        let remaining = users.count - index
        let counted = index == 0 ? "" : ", \(remaining) more"
        return Self.cut(line + counted, to: limit)
      }
      line = next
    }
    return Self.cut(line, to: limit)
  }

  private static func text(_ user: User) -> String {
    var words = [plain(user.name, longest: longestName), user.state.rawValue]
    if let flow = user.received { words.append("↓\(text(flow))") }
    if let flow = user.sent { words.append("↑\(text(flow))") }
    return words.joined(separator: " ")
  }

  private static func text(_ flow: Flow) -> String {
    var words = [bitrate(flow.bitrate)]
    if let rate = flow.framesPerSecond { words.append("\(whole(rate)) fps") }
    words.append("\(tenths(flow.loss * 100)) % lost")
    return words.joined(separator: " ")
  }
}
