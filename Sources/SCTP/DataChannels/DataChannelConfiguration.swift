/// What both sides of a data channel agree on (RFC 8832, 5.1).
public struct DataChannelConfiguration: Sendable, Hashable {
  /// How hard a channel tries to deliver a message.
  public enum Reliability: Sendable, Hashable {
    case reliable
    /// The maximum number of retransmissions of a message.
    case retransmissions(UInt32)
    /// How long a message may be transmitted or retransmitted, in milliseconds.
    case lifetime(milliseconds: UInt32)
  }

  public var label: String
  /// The subprotocol, a name of the registry of WebSocket subprotocols; often empty.
  public var subprotocol: String
  public var isOrdered: Bool
  public var reliability: Reliability
  /// 128 below normal, 256 normal, 512 high, 1,024 extra high (RFC 8831, 6.4). It is kept, but does not change the order
  /// of sending.
  public var priority: UInt16

  public init(
    label: String = "", subprotocol: String = "", isOrdered: Bool = true, reliability: Reliability = .reliable,
    priority: UInt16 = 256
  ) {
    self.label = label
    self.subprotocol = subprotocol
    self.isOrdered = isOrdered
    self.reliability = reliability
    self.priority = priority
  }

  /// The options of its messages.
  ///
  /// - Parameter isOrdered: whether the message must be in order although the channel is unordered.
  func sendOptions(isOrdered forced: Bool) -> SCTPSendOptions {
    var options = SCTPSendOptions(isUnordered: !isOrdered && !forced)
    switch reliability {
    case .reliable: break
    case .retransmissions(let count): options.maximumRetransmissions = Int(count)
    case .lifetime(let milliseconds): options.lifetime = .milliseconds(Int64(milliseconds))
    }
    return options
  }
}
