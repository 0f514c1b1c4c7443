package import Media

/// The status line of a call on a terminal: how long it lasts, what is recorded, the room, and the media from and to each user.
///
///     0:05:12 recording 12.3 MB, 45.1 GB free, room 100, 2 users: Ann 3f2a91 live ↓1.2 Mb/s 30 fps 0.1 % lost, 77b1c0de connecting
package struct StatusLine: Sendable, Hashable {
  package var room: String
  /// How long the call lasts; nil is not shown.
  package var elapsed: Duration?
  /// What is recorded; nil if nothing is to be.
  package var recording: Recording?
  package var users: [User]
  /// The index of the user who is shown first.
  package var first = 0
  /// The progress of file transfers; nil if there are none.
  package var transfers: String?

  package init(
    room: String, elapsed: Duration? = nil, recording: Recording? = nil, users: [User], transfers: String? = nil
  ) {
    self.room = room
    self.elapsed = elapsed
    self.recording = recording
    self.users = users
    self.transfers = transfers
  }

  /// What is recorded.
  package struct Recording: Sendable, Hashable {
    /// Bytes written so far, of all users.
    package var bytes: Int64
    /// Bytes that are free where the folder is; nil if that is not known.
    package var freeBytes: Int64?
    /// Whether the disk accepts nothing at the moment.
    package var isStalled: Bool
    /// Whether nothing is recorded at the moment, because the recording is paused.
    package var isPaused: Bool

    package init(bytes: Int64, freeBytes: Int64?, isStalled: Bool = false, isPaused: Bool = false) {
      self.bytes = bytes
      self.freeBytes = freeBytes
      self.isStalled = isStalled
      self.isPaused = isPaused
    }
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
    /// Connected, but no media has arrived yet, or only just now.
    case connected
    /// Media flows.
    case live
    /// Media flowed before, but not recently.
    case stalled

    /// How long a call may be connected until media is missed, since rates are known only after a while.
    package static let patience = Duration.seconds(2)

    /// The state of a call that is connected.
    ///
    /// - Parameters:
    ///   - time: how long it has been connected.
    ///   - flows: whether media arrives or is sent at the moment.
    ///   - hasFlowed: whether any media arrived or was sent.
    package init(connectedFor time: Duration, flows: Bool, hasFlowed: Bool) {
      self = flows ? .live : hasFlowed && time >= Self.patience ? .stalled : .connected
    }
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
}

extension StatusLine {
  /// What was rejected, in a few words: `refused video H264`, `our video refused`.
  package static func words(of section: RejectedSection) -> String {
    if section.reason == .rejectedByParticipant { return "our \(DisplayText.plain(section.kind, longest: 12)) refused" }
    let offered = section.offered.first.map { " " + DisplayText.plain($0, longest: 12) } ?? ""
    return "refused \(DisplayText.plain(section.kind, longest: 12))\(offered)"
  }
}
