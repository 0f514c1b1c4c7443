/// What a data channel of ours to the peer carried. The peer must send the messages back, as a bot with `--loopback` does.
public struct DataReport: Sendable, Hashable, Codable {
  /// The time from asking for the channel until the peer acknowledged it, in seconds; nil if it never did.
  public var open: Double?
  /// The messages that were sent.
  public var sent = 0
  /// Those of them that came back, each counted once.
  public var returned = 0
  /// Those that did not come back, although they had 2 s.
  public var lost = 0
  /// Messages that came back after one that was sent later, or a second time.
  public var disordered = 0
  /// The payload that came back, in bits a second, from the first to the last message.
  public var throughput: Double?
  /// The time from sending a message to its return, in seconds.
  public var roundTrip: Spread?

  package init() {}
}
