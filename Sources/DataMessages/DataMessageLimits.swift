/// Limits on what one participant can send on data channels or make us keep. The numbers of the wire are those of the
/// SkyRTC page.
package enum DataMessageLimits {
  // MARK: Messages

  /// The maximum size of a message in bytes of UTF-8.
  package static let maximumMessageBytes = 256 << 10
  /// The maximum nesting depth and number of values of a message in JSON. The messages of the page have one level and
  /// at most 6 values.
  package static let maximumJSONDepth = 8
  package static let maximumJSONValues = 256
  /// The maximum length of a name in a JSON object, in bytes. The decoder hashes names.
  package static let maximumJSONNameBytes = 64
  /// The maximum size of a `sendId` in bytes. The page makes ids of about 20.
  package static let maximumSendIDBytes = 128
  /// The maximum announced size of a file: the largest whole number that JavaScript expresses exactly.
  package static let maximumFileBytes: Int64 = 1 << 53

  // MARK: Transfers

  /// The maximum number of transfers with one participant at a time, in both directions together.
  package static let maximumTransfers = 16
  /// The maximum number of offers that wait until a transfer ends.
  package static let maximumWaitingOffers = 4
  /// A transfer without progress for this long has failed.
  package static let idleTimeout: Duration = .seconds(60)
  /// How long an offer waits for the answer of the peer, who may be a person.
  package static let offerTimeout: Duration = .seconds(600)
  /// How long the sender waits for the answer to the last message of the binary mode. All waiting bytes must be
  /// delivered first.
  package static let receiptTimeout: Duration = .seconds(300)
  /// How long a receiver waits for the sender to close the channel of a complete transfer.
  package static let closeTimeout: Duration = .seconds(10)

  // MARK: Chunks in JSON

  /// The number of characters of the data URL in a chunk.
  package static let chunkCharacters = 1_000
  /// The time between two chunks of a file.
  package static let chunkInterval: Duration = .milliseconds(10)
  /// The maximum size of what precedes the comma of a data URL, in bytes.
  package static let maximumDataURLHeaderBytes = 512
  /// The number of bytes that a sender of chunks requests at a time: those of 64 chunks.
  static let chunkReadBytes = 64 * 750
  /// A sender of chunks requests the next bytes when at most this many characters are left.
  static let chunkRefillCharacters = 8 * chunkCharacters

  // MARK: Binary messages

  /// The subprotocol of a data channel that carries one file.
  package static let fileSubprotocol = "skyrtc-file"
  /// The maximum size of a binary message of a file.
  package static let maximumBinaryMessageBytes = 64 << 10
  /// The binary mode is not offered to a peer that receives only smaller messages.
  package static let minimumBinaryMessageBytes = 1 << 10
  /// The sender continues when the channel's buffered amount is at most this.
  package static let bufferedAmountLowThreshold = 1 << 20
  /// The number of messages that a sender requests the bytes of at a time.
  static let messagesPerRead = 4
  /// The maximum size of a text message on a channel of a file, in bytes.
  package static let maximumFileTextBytes = 4 << 10
  /// The maximum number of completed channels that wait to be closed by the sender.
  static let maximumClosingChannels = 16

  // MARK: Chat

  /// The maximum size of a text in the logs, in bytes; a longer one is cut.
  package static let maximumLoggedTextBytes = 16 << 10
  /// The maximum size of a participant's name in the logs, in bytes; a longer one is cut.
  package static let maximumLoggedNameBytes = 256
  /// The number of messages of one participant that are logged in a second, and at once after a pause.
  package static let loggedTextsPerSecond = 20
  package static let loggedTextBurst = 200
  /// How long a cue is shown.
  package static let cueDuration: Duration = .seconds(5)
}
