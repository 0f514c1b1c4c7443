public import SCTP

/// Which data channels (RFC 8831) a connection has.
public struct DataChannelOptions: Sendable, Hashable {
  /// The channels that we open to each participant to whom we send the first offer. With at least one, our offers have a
  /// section for data channels.
  public var opened: [DataChannelConfiguration]
  /// Whether we open the same channels where the participant sent the first offer.
  public var opensWhenAnswering: Bool
  /// The largest message that we receive, in bytes, at most 16 MiB (`a=max-message-size`, RFC 8841).
  public var maximumMessageBytes: Int

  public init(
    opened: [DataChannelConfiguration] = [], opensWhenAnswering: Bool = false, maximumMessageBytes: Int = 256 << 10
  ) {
    self.opened = opened
    self.opensWhenAnswering = opensWhenAnswering
    self.maximumMessageBytes = maximumMessageBytes
  }
}

/// What happened on the data channels of one participant. A stream id names a channel until it is closed.
package enum DataChannelAction: Sendable, Hashable {
  /// A channel of ours was announced; messages can be sent. The token is that of the request for it, if there was one.
  case opening(UInt16, DataChannelConfiguration, token: Int?, limits: DataChannelLimits)
  /// The participant has acknowledged a channel of ours.
  case opened(UInt16)
  /// The participant has opened a channel.
  case openedByParticipant(UInt16, DataChannelConfiguration, limits: DataChannelLimits)
  case message(UInt16, DataChannelMessage)
  /// The bytes of a channel's messages that were not sent even once.
  case bufferedAmount(UInt16, Int)
  case closed(UInt16)
  /// The requested channel cannot be opened; one sentence.
  case refused(token: Int, String)
}

/// The limits of what can be sent on a channel.
package struct DataChannelLimits: Sendable, Hashable {
  /// The largest message that the participant accepts, in bytes.
  package var maximumMessageBytes: Int
}
