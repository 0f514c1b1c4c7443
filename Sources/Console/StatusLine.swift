package import Media

/// The status line of a call on a terminal: the room, and the media from and to each user.
///
///     room 100, 2 users: Ann 3f2a91 live ↓1.2 Mb/s 30 fps 0.1 % lost, 77b1c0de connecting
package struct StatusLine: Sendable, Hashable {
  package var room: String
  package var users: [User]
  /// The progress of file transfers; nil if there are none.
  package var transfers: String?

  package init(room: String, users: [User], transfers: String? = nil) {
    self.room = room
    self.users = users
    self.transfers = transfers
  }

  /// A user of the room.
  package struct User: Sendable, Hashable {
    /// The id that the server assigned; shown shortened and without control characters.
    package var name: String
    /// The name that the user gave itself; shown before the beginning of the id.
    package var givenName: String?
    package var state: State
    /// The media received from the user, or nil if there is none.
    package var received: Flow?
    /// The media sent to the user, or nil if there is none.
    package var sent: Flow?
    /// What was rejected by us or by the user, each a few words.
    package var rejected: [String] = []

    package init(
      name: String, givenName: String? = nil, state: State, received: Flow? = nil, sent: Flow? = nil,
      rejected: [String] = []
    ) {
      self.name = name
      self.givenName = givenName
      self.state = state
      self.received = received
      self.sent = sent
      self.rejected = rejected
    }
  }

  /// The state of the call with a user.
  package enum State: String, Sendable, Hashable {
    /// Offer, answer, ICE or DTLS is under way.
    case connecting
    /// Connected, but no media has arrived yet.
    case connected
    /// Media flows.
    case live
    /// Media flowed before, but not recently.
    case stalled
  }

  /// Media in one direction.
  package struct Flow: Sendable, Hashable {
    /// In bits per second, audio and video together.
    package var bitrate: Double
    /// In frames per second, or nil without video.
    package var framesPerSecond: Double?
    /// The fraction of packets lost, 0 to 1.
    package var loss: Double

    package init(bitrate: Double, framesPerSecond: Double?, loss: Double) {
      self.bitrate = bitrate
      self.framesPerSecond = framesPerSecond
      self.loss = loss
    }
  }

  /// The maximum length of a name, in characters.
  package static let maximumNameLength = 8
  package static let maximumGivenNameLength = 16
  package static let shortIDLength = 6
  package static let maximumRoom = 24

  /// The line with control characters that overwrite the previous one.
  ///
  /// - Parameter columns: The terminal's width; the line never wraps.
  package func onTerminal(columns: Int) -> String {
    // The last column stays empty, because some terminals wrap when it is written.
    "\r\(text(columns: columns - 1))\u{1b}[K"
  }

  /// The line without control characters.
  ///
  /// - Parameter columns: The maximum width, or nil for no limit. Users for whom there is no room are only counted.
  package func text(columns: Int? = nil) -> String {
    let people = users.count == 1 ? "1 user" : "\(users.count) users"
    var head = "room \(DisplayText.plain(room, longest: Self.maximumRoom)), \(people)"
    if let transfers { head += ", \(transfers)" }
    let limit = columns ?? .max
    var line = head
    for (index, user) in users.enumerated() {
      let next = line + (index == 0 ? ": " : ", ") + Self.text(user)
      let others = users.count - index - 1
      let tail = others == 0 ? "" : ", \(others) more"
      guard DisplayText.width(next) + tail.count <= limit else {
        let remaining = users.count - index
        let counted = index == 0 ? "" : ", \(remaining) more"
        return DisplayText.cut(line + counted, to: limit)
      }
      line = next
    }
    return DisplayText.cut(line, to: limit)
  }

  private static func text(_ user: User) -> String {
    let name =
      user.givenName.map {
        "\(DisplayText.plain($0, longest: maximumGivenNameLength)) \(DisplayText.plain(user.name, longest: shortIDLength))"
      } ?? DisplayText.plain(user.name, longest: maximumNameLength)
    var words = [name, user.state.rawValue]
    if let flow = user.received { words.append("↓\(text(flow))") }
    if let flow = user.sent { words.append("↑\(text(flow))") }
    if !user.rejected.isEmpty { words.append("(\(user.rejected.prefix(3).joined(separator: ", ")))") }
    return words.joined(separator: " ")
  }

  private static func text(_ flow: Flow) -> String {
    var words = [DisplayText.bitrate(flow.bitrate)]
    if let rate = flow.framesPerSecond { words.append("\(DisplayText.whole(rate)) fps") }
    words.append("\(DisplayText.tenths(flow.loss * 100)) % lost")
    return words.joined(separator: " ")
  }
}

extension StatusLine {
  /// What was rejected, in a few words: `refused video H264`, `our video refused`.
  package static func words(of section: RejectedSection) -> String {
    if section.reason == .rejectedByParticipant { return "our \(DisplayText.plain(section.kind, longest: 12)) refused" }
    let offered = section.offered.first.map { " " + DisplayText.plain($0, longest: 12) } ?? ""
    return "refused \(DisplayText.plain(section.kind, longest: 12))\(offered)"
  }
}
