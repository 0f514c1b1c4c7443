/// How far sound and pictures are apart, in seconds: above 0 the sound is late, below it is early.
public struct SkewReport: Sendable, Hashable, Codable {
  /// How it was told.
  public var source: Source
  /// As it arrives: once a second.
  public var total: Spread
  /// What of it was there when the sender stamped its packets: its own clocks against the pattern. Nil without the pattern or
  /// without sender reports.
  public var sender: Double?
  /// What of it was added on the way, by the sender's stamps against the arrivals. Nil without sender reports.
  public var network: Double?
  /// What of it was added here, by frames that waited for those before them.
  public var receiver: Double?

  public enum Source: String, Sendable, Hashable, Codable {
    /// The marks of the pattern's sound against the pattern's pictures: exact.
    case pattern
    /// The arrivals against the sender's own clock (RTCP sender reports): an estimate, which cannot see what went wrong before
    /// the sender stamped its packets.
    case senderReports
  }
}
