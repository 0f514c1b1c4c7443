/// Limits on what one peer can make an association keep or do. What exceeds a limit is dropped and counted in
/// ``SCTPCounters``, or ends the association where dropping would break the delivery of messages.
package enum SCTPLimits {
  /// The maximum length of a datagram with a protected packet: the usual path MTU of data channels (RFC 8831, 5).
  package static let maximumDatagramBytes = 1_200
  /// The bytes that a DTLS 1.2 record with AES-GCM adds (header 13, nonce 8, tag 16), rounded up.
  package static let recordOverhead = 40
  /// The maximum number of streams in use in each direction. A stream id may have any value below 65,535.
  package static let maximumStreams = 1_024
  /// The maximum message size that can be configured for receiving.
  package static let maximumMessageBytes = 16 << 20
  /// The message size that descriptions announce by default (`a=max-message-size`, RFC 8841).
  package static let announcedMessageBytes = 256 << 10
  /// The maximum memory for fragments, messages that wait for earlier ones, and messages that were not taken yet.
  package static let maximumReceiveWindow = 32 << 20
  /// The memory of a fragment or message beyond its payload, as it counts against the receive window.
  static let entryOverhead = 96
  /// The maximum distance of a received TSN from the cumulative TSN, and so the number of chunks out of order.
  static let maximumTSNDistance: Int64 = 16_384
  /// The maximum number of ranges of chunks out of order.
  static let maximumGaps = 2_048
  /// The maximum number of gap blocks and of duplicates that one SACK reports.
  static let maximumGapBlocks = 160
  static let maximumReportedDuplicates = 32
  /// The maximum number of partly received messages, or pieces of them.
  static let maximumPartialMessages = 4_096
  /// The maximum number of messages that the sender queues, and of their bytes by default.
  static let maximumQueuedMessages = 65_536
  package static let sendBufferBytes = 32 << 20
  /// The maximum number of sent chunks that are not acknowledged, and the maximum congestion window in bytes.
  static let maximumOutstandingChunks = 8_192
  static let maximumCongestionWindow = 4 << 20
  /// The number of waiting events beyond which only messages are added.
  static let maximumEvents = 4_096
  /// The maximum number of control chunks, and of complete packets, that wait to be sent.
  static let maximumPendingChunks = 64
  static let maximumPendingPackets = 32
  /// The maximum number of SACK, SHUTDOWN, FORWARD TSN and RE-CONFIG chunks of one packet that are processed. Each can
  /// make the receiver look at all that it keeps; usual senders put one of each into a packet.
  package static let maximumCostlyChunks = 8
  /// The maximum number of streams that one reset request names.
  static let maximumResetStreams = 256
}
