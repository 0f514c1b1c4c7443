/// What an association sent, received and dropped since it was made.
package struct SCTPCounters: Sendable, Hashable {
  package var packetsReceived = 0
  package var packetsSent = 0
  package var messagesReceived = 0
  package var messagesSent = 0
  package var chunksSent = 0
  package var chunksRetransmitted = 0
  /// How often a loss was detected by SACKs, and by the retransmission timer.
  package var fastRetransmissions = 0
  package var retransmissionTimeouts = 0
  /// Packets sent because an acknowledgement stayed away for two round trips.
  package var tailLossProbes = 0
  /// Messages given up because of their lifetime or number of retransmissions.
  package var messagesAbandoned = 0

  /// Packets that could not be parsed, or had the wrong checksum, ports or verification tag.
  package var malformedPackets = 0
  package var wrongPorts = 0
  package var wrongTags = 0
  /// Packets and chunks without a meaning in the state of the association.
  package var unexpectedChunks = 0
  package var unknownChunks = 0
  /// State cookies that this association did not make, or that are too old.
  package var invalidCookies = 0
  /// DATA chunks that arrived again.
  package var duplicateChunks = 0
  /// DATA chunks dropped because the receive window, or another limit on waiting chunks, was exhausted.
  package var chunksBeyondWindow = 0
  /// Received messages dropped: larger than allowed, on too many streams, or with a sequence number used before.
  package var oversizedMessages = 0
  package var messagesOnRefusedStreams = 0
  package var staleMessages = 0
  /// Partly received messages that the sender abandoned.
  package var skippedMessages = 0
  /// SACKs that acknowledge what was never sent.
  package var invalidAcks = 0
  /// Answers that were not sent because too many were waiting.
  package var answersDropped = 0

  package init() {}
}
