extension Impairment {
  /// What kind a datagram is, by its first bytes (RFC 7983).
  public enum DatagramKind: String, Sendable, Hashable, CaseIterable {
    case rtp
    case rtcp
    case stun
    case dtls
    case other
  }

  /// What was done to a number of datagrams. Each that came was passed, lost or dropped.
  public struct Tally: Sendable, Hashable {
    /// All that came to the line.
    public var datagrams: UInt64 = 0
    /// Those that continued, at once or later; some of them may be on their way still.
    public var passed: UInt64 = 0
    /// Those that were lost by chance.
    public var lost: UInt64 = 0
    /// Those that found the queue full.
    public var droppedByQueue: UInt64 = 0
    /// Those among the passed that continued later than they came.
    public var delayed: UInt64 = 0
    /// Those among the delayed that had to wait for the line's rate.
    public var queued: UInt64 = 0
    /// Those among the delayed that a later one overtook.
    public var reordered: UInt64 = 0
    /// By how much the delayed were delayed, all together.
    public var delay: Duration = .zero

    public init() {}

    public static func + (one: Tally, other: Tally) -> Tally {
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

  /// What was done in one direction, by kind; a kind of which nothing came is not there.
  public struct Counts: Sendable, Hashable {
    public var byKind: [DatagramKind: Tally] = [:]

    public init() {}

    /// Of all kinds together.
    public var total: Tally { byKind.values.reduce(Tally(), +) }

    subscript(kind: DatagramKind) -> Tally {
      get { byKind[kind] ?? Tally() }
      _modify { yield &byKind[kind, default: Tally()] }
    }
  }

  /// What was done to one participant's datagrams.
  public struct Statistics: Sendable, Hashable {
    public var sent = Counts()
    public var received = Counts()
    /// When the script's clock started: with the first RTP packet; nil before that.
    public var clockStart: ContinuousClock.Instant?

    public init() {}
  }
}
