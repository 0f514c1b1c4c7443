package import Media

extension JanusSession {
  /// What to join, and what to do there.
  package struct Configuration: Sendable, CustomStringConvertible {
    package var room: JanusID
    /// The room's PIN. Never log it.
    package var pin: String?
    /// Our name for people.
    package var display: String?
    /// Whether we publish: a participant who receives our media is announced.
    package var publishes = false
    /// Whether we subscribe to the feeds of the room.
    package var receives = true
    /// The codecs that we publish, as the server names them.
    package var audioCodec = Codec.preferred(for: .audio)
    package var videoCodec = Codec.preferred(for: .video)
    /// The API secret of the server. Never log it.
    package var apiSecret: String?
    /// The token of the server's token authentication. Never log it.
    package var token: String?
    /// The token of the room's access control. Never log it.
    package var roomToken: String?
    /// The layers of simulcast and temporal scalability to receive, each 0 to 2.
    package var substream = 2
    package var temporal = 2
    package var joinTimeout: Duration = .seconds(10)
    package var responseTimeout: Duration = .seconds(10)
    package var keepaliveInterval: Duration = .seconds(25)
    package var maximumParticipants = 256

    package init(room: JanusID) {
      self.room = room
    }

    /// Without secrets.
    package var description: String { "room \(room), publishes: \(publishes), receives: \(receives)" }
  }
}
