package import Media
package import NIOCore

/// A transfer of one ``FileTransfers``, unlike a `sendId` never used twice.
package struct FileTransferID: Sendable, Hashable, CustomStringConvertible {
  package let number: UInt64

  package var description: String { "\(number)" }
}

/// What the owner of a ``FileTransfers`` must do, in this order.
package enum FileTransferAction: Sendable, Hashable {
  // MARK: To the peer

  /// Send a text on the main channel.
  case send(String)
  /// Open an ordered and reliable channel with this label, the subprotocol `skyrtc-file` and the low threshold
  /// ``DataMessageLimits/bufferedAmountLowThreshold``; then call `channelOpened` or `channelNotOpened`.
  case openChannel(label: String)
  /// Send a binary message; then call `bufferedAmountChanged`, at least after the last one of several.
  case sendBinary(UInt16, ByteBuffer)
  case sendText(UInt16, String)
  case closeChannel(UInt16)

  // MARK: To the files

  /// Create a file exclusively, under `name` or a numbered name; then call `fileCreated` or `fileFailed`. The offer is
  /// accepted only then.
  case createFile(FileTransferID, FileName, FileOffer)
  case write(FileTransferID, ByteBuffer)
  /// All bytes have been given to `write`, and their digest is this. Call `fileStored` or `fileFailed` when they are
  /// stored.
  case finish(FileTransferID, sha256: String)
  /// The transfer failed. The bytes given to `write` are the beginning of the file; this is their number and digest.
  case abandon(FileTransferID, FileTransferFailure, bytes: Int64, sha256: String)
  /// Read at most `upTo` bytes of the file at `offset`; then call `fileRead`, or `fileFailed`.
  case readNeeded(FileTransferID, offset: Int64, upTo: Int)

  // MARK: For information

  /// The number of bytes that were received or given to the channel.
  case progress(FileTransferID, bytes: Int64, of: Int64)
  /// All bytes were sent. In the binary mode the receiver has confirmed them; with chunks nobody can.
  case sent(FileTransferID, sha256: String)
  case sendFailed(FileTransferID, FileTransferFailure)
  /// An offer was refused. A refusal because a file could not be created has its transfer too.
  case refused(FileTransferID?, name: UntrustedText, FileRefusal)
}
