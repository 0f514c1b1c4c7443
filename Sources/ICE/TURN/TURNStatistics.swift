/// Counters of a TURN client since its creation.
package struct TURNStatistics: Sendable, Hashable {
  /// Allocations that succeeded.
  package var allocations: UInt64 = 0
  /// Requests sent, including retransmissions.
  package var requestsSent: UInt64 = 0
  /// Datagrams to peers in ChannelData and in Send indications.
  package var sentOnChannels: UInt64 = 0
  package var sentInIndications: UInt64 = 0
  /// Datagrams from peers in ChannelData and in Data indications.
  package var receivedOnChannels: UInt64 = 0
  package var receivedInIndications: UInt64 = 0
  /// Datagrams to peers that were dropped: no allocation, refused permission, full queue, too many peers, too long.
  package var sendsDropped: UInt64 = 0
  /// Data that was dropped: from an unbound channel, from a peer without permission, malformed, or empty.
  package var dataDropped: UInt64 = 0
  /// Messages that were dropped: malformed, not authentic, or an answer to no request.
  package var messagesRejected: UInt64 = 0
  /// Actions that were dropped because the caller does not poll.
  package var actionsDropped: UInt64 = 0

  package init() {}
}
