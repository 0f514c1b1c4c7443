public import Media
public import NetworkEmulation

/// One participant's connection at a glance.
public struct PeerStatistics: Sendable, Hashable {
  public var participant: ParticipantID
  public var state: ConnectionState
  /// The received tracks' counts by kind.
  public var received: [MediaKind: TrackStatistics] = [:]
  /// Frames handed to the connection for sending.
  public var framesSent: UInt64 = 0
  /// RTP packets sent, retransmissions included.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes sent.
  public var bytesSent: UInt64 = 0
  /// The remote side's newest report of what it lost, 0 to 1.
  public var fractionLost: Double = 0
  /// The remote side's count of packets of ours that it lost for good or for a while: those sent again are not subtracted.
  public var packetsLost: Int64 = 0
  /// Keyframes that the remote side has requested, each request counted.
  public var keyframeRequests: UInt64 = 0
  /// What the path carries of what we send, in bits a second, as ``PeerEvent/targetBitrate(_:fractionLost:)`` told it last; nil
  /// before that.
  public var targetBitrate: Int?
  /// Seconds for the way there and back; nil before the first measurement.
  public var roundTripTime: Double?
  /// The addresses that media flows between, for example `10.0.0.1:5000`.
  public var localAddress: String?
  public var remoteAddress: String?
  /// The SRTP protection profile's name (RFC 5764, 4.1.2; RFC 7714, 14.2).
  public var protectionProfile: String?
  /// Datagrams that were thrown away: no validated sender, no keys yet, forged, replayed or unreadable.
  public var datagramsRefused: UInt64 = 0
  /// Packets of video that were left unread, because this machine had no time for all that came.
  public var packetsUnread: UInt64 = 0

  /// What was done to the participant's datagrams on purpose; nil without ``Peer/Configuration/impairment``.
  public var impairment: Impairment.Statistics?
  /// How often ``Peer/Configuration/fault`` has been injected for the participant; 0 when there was no occasion yet.
  public var faultsInjected: UInt64 = 0

  public init(participant: ParticipantID, state: ConnectionState) {
    self.participant = participant
    self.state = state
  }
}
