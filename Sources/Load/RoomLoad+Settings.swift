public import BotPeer
public import Logging
public import Signalling

extension RoomLoad {
  /// What a ``RoomLoad`` does.
  public struct Settings: Sendable {
    /// The server and the room, as the report names them.
    public var server: String
    public var room: String
    /// Returns the signalling client of the participant with an index, counted from 0: publishers, then viewers. It is not
    /// connected yet, and logs with the logger.
    public var makeClient: @Sendable (_ index: Int, _ log: Logger) throws -> any SignallingClient
    /// The configuration of each participant's peer. Ports other than 0 are those of the first participant; each further one has
    /// the next. The load itself decides which media are sent and received, and how keyframe requests are answered.
    public var peer = Peer.Configuration()
    /// The number of publishers, at least 1 if there are no viewers.
    public var publishers = 1
    /// The number of viewers: they send nothing, and measure what they receive without decoding it. They join after the publishers.
    public var viewers = 0
    /// How fast they join.
    public var ramp = RampRate(perSecond: 10)
    /// Whether the publishers receive what others send, and call each other. What they receive is counted and discarded.
    public var receives = false
    /// The payload in bits per second of the messages that each publisher sends to each participant on a data channel; nil for none.
    /// The participant must send them back, as publishers do.
    public var dataBitrate: Int?
    /// How long each of them waits for a server that cannot be reached; without it there is one attempt.
    public var waitForServer: Duration = .zero
    /// A sentence that follows the error of a server that cannot be reached, such as how to start it; nil for none.
    public var unreachableHint: String?
    /// When to leave, counted from the start of the last participant; nil to stay.
    public var duration: Duration?
    /// Whether the source starts only when all participants are connected, because it does not play in a loop.
    public var waitsForConnections = false

    public init(
      server: String, room: String,
      makeClient: @escaping @Sendable (_ index: Int, _ log: Logger) throws -> any SignallingClient
    ) {
      self.server = server
      self.room = room
      self.makeClient = makeClient
    }

    /// The number of publishers and viewers.
    var participants: Int { publishers + viewers }

    /// All participants with a verb, to begin a sentence: `All 50 publishers and the viewer are`.
    package var who: String {
      let parts = [(publishers, "publisher"), (viewers, "viewer")].filter { $0.0 > 0 }.map {
        $0.0 == 1 ? "the \($0.1)" : "all \($0.0) \($0.1)s"
      }
      let text = parts.joined(separator: " and ")
      return "\(text.prefix(1).uppercased())\(text.dropFirst()) \(participants == 1 ? "is" : "are")"
    }

    /// The role of the participant with an index.
    func role(of index: Int) -> LoadRole { index < publishers ? .publisher : .viewer }

    /// The number of a participant among publishers or among viewers, from 1.
    package func number(of index: Int) -> Int { (index < publishers ? index : index - publishers) + 1 }

    /// The configuration of a participant's peer: with its own ports, and with credentials of TURN servers that are valid from now.
    package func peerConfiguration(of index: Int) -> Peer.Configuration {
      var configuration = peer
      configuration.udpPort = Self.port(peer.udpPort, of: index)
      configuration.tcpPort = Self.port(peer.tcpPort, of: index)
      if let renewal = peer.iceServerRenewal { configuration.iceServers = renewal.servers() }
      if dataBitrate != nil, peer.dataChannels == nil { configuration.dataChannels = DataChannelOptions() }
      return configuration
    }

    private static func port(_ first: UInt16, of index: Int) -> UInt16 {
      first == 0 ? 0 : UInt16(clamping: Int(first) + index)
    }
  }
}

/// What a participant of a load does.
package enum LoadRole: String, Sendable, Hashable {
  /// It sends the source.
  case publisher
  /// It only receives.
  case viewer
}
