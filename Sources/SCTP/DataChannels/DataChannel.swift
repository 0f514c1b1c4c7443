/// A data channel: two streams with the same id, one in each direction (RFC 8831, 6).
package struct DataChannel: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Messages can be sent; the peer has not acknowledged the channel yet.
    case opening
    case open
    case closing
  }

  package let id: UInt16
  package let configuration: DataChannelConfiguration
  package internal(set) var state: State
  /// The threshold of ``DataChannelEvent/bufferedAmountLow(_:)`` in bytes.
  package var bufferedAmountLowThreshold = 0
  package internal(set) var messagesSent = 0
  package internal(set) var messagesReceived = 0
  package internal(set) var bytesSent = 0
  package internal(set) var bytesReceived = 0

  /// Whether the stream towards the peer, and the one from the peer, were reset.
  var isOutgoingReset = false
  var isIncomingReset = false
  /// Whether more than the threshold waits, so that falling to it is an event.
  var isAboveThreshold = false
  /// Whether an event that reports the fall waits to be taken: a second one would say nothing new.
  var isLowReported = false

  init(id: UInt16, configuration: DataChannelConfiguration, state: State) {
    self.id = id
    self.configuration = configuration
    self.state = state
  }
}

/// What a data channel transport dropped.
package struct DataChannelCounters: Sendable, Hashable {
  /// Messages on streams without a channel.
  package var messagesWithoutChannel = 0
  /// Messages with a payload protocol identifier that is not supported.
  package var unknownProtocolIDs = 0
  /// DCEP messages that could not be parsed or do not fit the state.
  package var invalidControlMessages = 0
  /// Channels of the peer beyond the limit.
  package var channelsRefused = 0

  package init() {}
}
