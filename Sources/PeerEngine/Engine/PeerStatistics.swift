public import Media

/// The statistics of one participant's connection.
public struct PeerStatistics: Sendable, Hashable {
  public var participant: ParticipantID
  public var state: ConnectionState
  /// The received tracks' counts.
  public var received: [TrackID: TrackStatistics] = [:]
  /// Frames sent, including those that were sent again for a keyframe request; without those that were skipped.
  public var framesSent: UInt64 = 0
  /// RTP packets sent, retransmissions included.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes sent.
  public var bytesSent: UInt64 = 0
  /// The fraction of packets that the remote side last reported as lost, 0 to 1.
  public var fractionLost: Double = 0
  /// The remote side's cumulative count of lost packets of ours; retransmitted ones are not subtracted.
  public var packetsLost: Int64 = 0
  /// The remote side's reception reports on what we sent (RFC 3550, 6.4.1), one for each track; without any, nothing is known of loss.
  public var receptionReports: UInt64 = 0
  /// Keyframe requests of the remote side, each counted.
  public var keyframeRequests: UInt64 = 0
  /// The bitrate that the path can carry in bits a second, as last reported by
  /// ``PeerEvent/targetBitrate(_:fractionLost:)``; nil before that.
  public var targetBitrate: Int?
  /// The round-trip time in seconds; nil before the first measurement.
  public var roundTripTime: Double?
  /// The addresses between which media flows, for example `10.0.0.1:5000`.
  public var localAddress: String?
  public var remoteAddress: String?
  /// The types of the candidates with these addresses; nil before ICE has selected a pair.
  public var candidateTypes: CandidateTypes?
  /// Why the participant cannot reach us, as a clause: we have no address yet; nil if we have one.
  public var unreachableReason: String?
  /// The SRTP protection profile's name (RFC 5764, 4.1.2; RFC 7714, 14.2).
  public var protectionProfile: String?
  /// Datagrams that were discarded: from no validated path, before the keys, forged, replayed or unreadable.
  public var datagramsRefused: UInt64 = 0
  /// The media sections that are rejected now, as last reported by ``PeerEvent/sectionRejected(_:)``, in m-line order.
  public var rejectedSections: [RejectedSection] = []
  /// Video packets that were discarded before decryption because this machine had no time for all that arrived.
  public var packetsDiscarded: UInt64 = 0

  /// What `Peer.Configuration.network` did to the participant's datagrams; nil without one.
  public var network: NetworkStatistics?
  /// How often `Peer.Configuration.interceptors` have intervened in the signalling or the course of the connection, together; 0
  /// when there was no occasion yet. Changes of RTP packets are not counted.
  public var interventions: UInt64 = 0

  public init(participant: ParticipantID, state: ConnectionState) {
    self.participant = participant
    self.state = state
  }
}
