import Media

/// The measurements of the connection to a peer, in both directions.
public struct ConnectionReport: Sendable, Hashable, Codable {
  /// The addresses that media used, for example `10.0.0.1:5000`.
  public var localAddress: String?
  public var remoteAddress: String?
  /// The types of the candidates with these addresses; `relay` is an address on a TURN server.
  public var localCandidateType: CandidateKind?
  public var remoteCandidateType: CandidateKind?
  /// The SRTP protection profile.
  public var protectionProfile: String?
  /// The round-trip time in seconds.
  public var roundTripTime: Spread?
  /// The received packets of the peer's first stream, by track; nil if nothing was counted.
  public var audio: Received?
  public var video: Received?
  /// The sent packets; nil if nothing was counted.
  public var sent: Sent?
  /// The packets that the impairment affected, by direction and kind.
  public var impairment: Impairment?

  /// The packets of a received track.
  public struct Received: Sendable, Hashable, Codable {
    /// Media packets that the sender sent.
    public var sent: UInt64
    /// Packets that arrived, including retransmissions.
    public var received: UInt64
    /// Packets that arrived only after retransmission.
    public var recovered: UInt64
    /// Packets that never arrived.
    public var lost: UInt64
    public var duplicated: UInt64
    /// Bytes of media payload.
    public var bytes: UInt64
    /// The sampled interarrival jitter in seconds (RFC 3550, 6.4.1).
    public var jitter: Spread?
    /// Frames that stayed incomplete or depended on an incomplete frame.
    public var framesDropped: UInt64
    /// Keyframes that we requested.
    public var keyframeRequests: UInt64

    /// The share of packets that did not arrive at the first attempt, 0 to 1.
    public var loss: Double
    /// The share of packets that never arrived, 0 to 1.
    public var finalLoss: Double
  }

  /// What we sent, and what the peer reported about it.
  public struct Sent: Sendable, Hashable, Codable {
    public var packets: UInt64
    public var bytes: UInt64
    public var frames: UInt64
    /// RTP payload bits per second, from the first sample to the last.
    public var bitrate: Double?
    /// Packets that the peer reported as lost, including lost retransmissions.
    public var packetsLost: UInt64
    /// The lost packets as a share of `packets`, 0 to 1.
    public var loss: Double
    /// Keyframes that the peer requested.
    public var keyframeRequests: UInt64
    /// The last target bitrate, in bits per second.
    public var targetBitrate: Int?
  }

  /// The number of affected packets by effect, for example `dropped`.
  public struct Impairment: Sendable, Hashable, Codable {
    public var send: [String: UInt64]
    public var receive: [String: UInt64]

    package init(send: [String: UInt64] = [:], receive: [String: UInt64] = [:]) {
      self.send = send
      self.receive = receive
    }

    /// Whether no packet was affected.
    package var isEmpty: Bool { send.isEmpty && receive.isEmpty }
  }

  init() {}

  subscript(kind: MediaKind) -> Received? {
    get { kind == .audio ? audio : video }
    set { if kind == .audio { audio = newValue } else { video = newValue } }
  }
}

/// An interval without a connection to the room server.
public struct SignallingLoss: Sendable, Hashable, Codable {
  public var start: Double
  public var duration: Double
  /// Whether the connection was restored; otherwise it was lost to the end.
  public var restored: Bool
  /// The reported reason.
  public var reason: String

  private enum CodingKeys: String, CodingKey {
    case start, duration
    case restored = "regained"
    case reason
  }

  package init(start: Double, duration: Double, restored: Bool, reason: String) {
    self.start = start
    self.duration = duration
    self.restored = restored
    self.reason = reason
  }
}
