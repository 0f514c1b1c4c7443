import Media

/// What the line to a peer did, both ways.
public struct ConnectionReport: Sendable, Hashable, Codable {
  /// The addresses between which media went, for example `10.0.0.1:5000`.
  public var localAddress: String?
  public var remoteAddress: String?
  /// The SRTP protection profile.
  public var protectionProfile: String?
  /// There and back, in seconds.
  public var roundTripTime: Spread?
  /// What came, by track; nil when nothing was counted.
  public var audio: Received?
  public var video: Received?
  /// What we sent; nil when nothing was counted.
  public var sent: Sent?
  /// What was done to packets on purpose, by direction and kind.
  public var impairment: Impairment?

  /// A received track's packets.
  public struct Received: Sendable, Hashable, Codable {
    /// Packets with media that the sender sent.
    public var sent: UInt64
    /// Packets that came, those at the second try included.
    public var received: UInt64
    /// Packets that came only after they were requested again.
    public var recovered: UInt64
    /// Packets that never came.
    public var lost: UInt64
    public var duplicated: UInt64
    /// Bytes of media payload.
    public var bytes: UInt64
    /// Interarrival jitter in seconds (RFC 3550, 6.4.1), as it was sampled.
    public var jitter: Spread?
    /// Frames that were begun but not completed, or depended on one that was not.
    public var framesDropped: UInt64
    /// Keyframes that we requested.
    public var keyframeRequests: UInt64

    /// What did not come at the first try, 0 to 1.
    public var loss: Double
    /// What never came, 0 to 1.
    public var finalLoss: Double
  }

  /// What we sent, and what the peer said of it.
  public struct Sent: Sendable, Hashable, Codable {
    public var packets: UInt64
    public var bytes: UInt64
    public var frames: UInt64
    /// Bits of RTP payload a second, from the first sample to the last.
    public var bitrate: Double?
    /// Packets that the peer reported as lost, those sent again included.
    public var packetsLost: UInt64
    /// The same as a share of `packets`, 0 to 1.
    public var loss: Double
    /// Keyframes that the peer requested.
    public var keyframeRequests: UInt64
    /// What the line was last said to take, in bits a second.
    public var targetBitrate: Int?
  }

  /// Counts of what was done to packets on purpose, by what it was, for example `dropped`.
  public struct Impairment: Sendable, Hashable, Codable {
    public var send: [String: UInt64]
    public var receive: [String: UInt64]

    public init(send: [String: UInt64] = [:], receive: [String: UInt64] = [:]) {
      self.send = send
      self.receive = receive
    }

    /// Whether nothing was done.
    public var isEmpty: Bool { send.isEmpty && receive.isEmpty }
  }

  init() {}

  subscript(kind: MediaKind) -> Received? {
    get { kind == .audio ? audio : video }
    set { if kind == .audio { audio = newValue } else { video = newValue } }
  }
}

/// A time without the room's server.
public struct SignallingLoss: Sendable, Hashable, Codable {
  public var start: Double
  public var duration: Double
  /// Whether the server was there again; else it was lost to the end.
  public var regained: Bool
  /// What was said about it.
  public var reason: String

  public init(start: Double, duration: Double, regained: Bool, reason: String) {
    self.start = start
    self.duration = duration
    self.regained = regained
    self.reason = reason
  }
}
