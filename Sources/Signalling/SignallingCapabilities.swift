/// What a signalling system can do, and what it expects of a program. The defaults are those of SkyRTC, apart from its data
/// channel and ``announcesLostParticipants``.
///
/// ```swift
/// if !client.capabilities.tricklesCandidates { await peer.gatheringEnded(within: .seconds(1)) }
/// ```
public struct SignallingCapabilities: Sendable, Hashable {
  /// Whether candidates may be sent after the description (trickle ICE, RFC 8838). If not, the first description must contain
  /// all of them.
  public var tricklesCandidates = true
  /// Whether the other side accepts an offer during a call, and so an ICE restart (RFC 8445, 9).
  public var restartsICE = true
  /// The data channels between users; nil if calls have none.
  public var dataChannels: DataChannels? = DataChannels()
  /// Whether the system may assign STUN and TURN servers, with ``SignallingEvent/iceServers(_:)``.
  public var assignsICEServers = true
  /// Whether ``SignallingClient/hangUp(_:)`` must be called for a connection that the participant has closed, too: the
  /// system's own message about it may have been lost with the connection to the server. If not, it is called only for
  /// connections that we ended or that failed.
  public var requiresHangUpWhenClosedByParticipant = false
  /// Whether the system itself reports that a media server has ended a connection. A media server that sends nothing is then
  /// not given up early, because an ICE restart may continue the connection.
  public var reportsEndedConnections = false
  /// Whether the server tells the others that we have left when our connection to it is lost, and tells us the same of them. They
  /// then end calls that are not established, so such a call begins again after we have joined again.
  public var announcesLostParticipants = false
  /// Whether users have names for people, in ``SignalledParticipant/name``.
  public var namesUsers = false

  /// Whether calls have data channels.
  public var carriesDataChannels: Bool { dataChannels != nil }

  public init() {}

  /// The data channels that clients of a system open and expect.
  public struct DataChannels: Sendable, Hashable {
    /// The labels (RFC 8832, 5.1) of the channels that the side opens that sends the first offer.
    public var labels: [String]
    /// Whether the other side opens the same channels too.
    public var opensWhenAnswering: Bool

    public init(labels: [String] = [], opensWhenAnswering: Bool = false) {
      self.labels = labels
      self.opensWhenAnswering = opensWhenAnswering
    }
  }
}
