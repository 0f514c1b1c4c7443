package import RTP

/// The counts of one participant's datagrams on a network that is not plain sockets, such as an emulated one.
public struct NetworkStatistics: Sendable, Hashable {
  public var sent = Counts()
  public var received = Counts()
  /// When the network's clock started, with the first RTP packet; nil before that.
  public var clockStart: ContinuousClock.Instant?

  public init() {}

  /// The kind of a datagram, by its first byte (RFC 7983).
  public enum DatagramKind: String, Sendable, Hashable, CaseIterable {
    case rtp
    case rtcp
    case stun
    case dtls
    case other

    package init(_ kind: PacketKind) {
      switch kind {
      case .rtp: self = .rtp
      case .rtcp: self = .rtcp
      case .stun: self = .stun
      case .dtls: self = .dtls
      case .unknown: self = .other
      }
    }
  }

  /// The counts of what happened to datagrams. Each datagram was passed, lost or dropped.
  public struct DatagramCounts: Sendable, Hashable {
    /// All datagrams that entered the path.
    public var datagrams: UInt64 = 0
    /// The datagrams that were passed on, at once or later; some of them may still be in flight.
    public var passed: UInt64 = 0
    /// The datagrams that were lost at random.
    public var lost: UInt64 = 0
    /// The datagrams that were dropped because the queue was full.
    public var droppedByQueue: UInt64 = 0
    /// The passed datagrams that were delayed.
    public var delayed: UInt64 = 0
    /// The delayed datagrams that waited for the bottleneck's bitrate.
    public var queued: UInt64 = 0
    /// The delayed datagrams that a later one overtook.
    public var reordered: UInt64 = 0
    /// The sum of all delays.
    public var delay: Duration = .zero

    public init() {}

    public static func + (one: DatagramCounts, other: DatagramCounts) -> DatagramCounts {
      var sum = one
      sum.datagrams += other.datagrams
      sum.passed += other.passed
      sum.lost += other.lost
      sum.droppedByQueue += other.droppedByQueue
      sum.delayed += other.delayed
      sum.queued += other.queued
      sum.reordered += other.reordered
      sum.delay += other.delay
      return sum
    }
  }

  /// The counts of one direction, by kind; a kind without datagrams is missing.
  public struct Counts: Sendable, Hashable {
    public var byKind: [DatagramKind: DatagramCounts] = [:]

    public init() {}

    /// The counts of all kinds together.
    public var total: DatagramCounts { byKind.values.reduce(DatagramCounts(), +) }

    package subscript(kind: DatagramKind) -> DatagramCounts {
      get { byKind[kind] ?? DatagramCounts() }
      _modify { yield &byKind[kind, default: DatagramCounts()] }
    }
  }
}
