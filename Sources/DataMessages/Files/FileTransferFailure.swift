import Media

/// Why a transfer failed after it was accepted or offered. Each description is one sentence.
package enum FileTransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
  // What the sender sent
  case tooManyBytes(announced: Int64)
  case wrongSize(received: Int64, announced: Int64)
  /// The data of the chunks joined does not begin as a data URL in base64.
  case invalidDataURL
  /// There is a character that is not valid in base64 after so many bytes.
  case invalidBase64(offset: Int64)
  /// The digest of the sender is not that of the received bytes.
  case wrongDigest(announced: String, computed: String)
  case unexpectedMessage(DataMessageError)
  case cancelledByPeer

  // What the receiver answered
  case refused
  case rejected(reason: String)
  case notAnswered(seconds: Int)

  // What happened to the connection
  case idle(seconds: Int)
  case channelClosed
  case channelNotOpened(reason: String)
  case disconnected

  // What happened here
  case cancelled
  /// Reading or writing the file failed.
  case file(reason: String)
  /// The file that is sent has become shorter.
  case fileTooShort(bytes: Int64, announced: Int64)

  package var description: String {
    switch self {
    case .tooManyBytes(let announced): "The sender sent more than the announced \(announced) bytes."
    case .wrongSize(let received, let announced):
      "The sender ended the file after \(received) bytes, but announced \(announced)."
    case .invalidDataURL: "The chunks are not a data URL in base64."
    case .invalidBase64(let offset): "The base64 of the chunks is invalid after \(offset) bytes of the file."
    case .wrongDigest(let announced, let computed):
      "The SHA-256 is \(computed), but the other side computed \(announced.printable(utf8Bytes: 64))."
    case .unexpectedMessage(let error): "The channel of the file had an unusable message: \(error)"
    case .cancelledByPeer: "The other side cancelled the transfer."
    case .refused: "The receiver refused the file."
    case .rejected(let reason): "The receiver did not store the file: \(reason.printable())"
    case .notAnswered(let seconds): "The receiver did not answer within \(seconds) s."
    case .idle(let seconds): "The transfer made no progress for \(seconds) s."
    case .channelClosed: "The channel of the file was closed before the transfer was complete."
    case .channelNotOpened(let reason): "A channel for the file could not be opened: \(reason)"
    case .disconnected: "The connection ended before the transfer was complete."
    case .cancelled: "The transfer was cancelled here."
    case .file(let reason): "The file could not be read or written: \(reason)"
    case .fileTooShort(let bytes, let announced):
      "The file has only \(bytes) bytes now, but \(announced) were announced."
    }
  }
}

/// Why an offered file is refused. Each description is one sentence.
package enum FileRefusal: Sendable, Hashable, CustomStringConvertible {
  case notAccepted
  case unusableName(FileName.Problem)
  case tooLarge(bytes: Int64, limit: Int64)
  /// The files of the participant would be larger together than allowed.
  case tooMuchTogether(bytes: Int64, left: Int64)
  case tooManyTransfers(transfers: Int, waiting: Int)
  case notCreated(reason: String)

  package var description: String {
    switch self {
    case .notAccepted: "Files are not accepted."
    case .unusableName(let problem): problem.description
    case .tooLarge(let bytes, let limit): "A file may have \(limit) bytes, but this one has \(bytes)."
    case .tooMuchTogether(let bytes, let left):
      "The file has \(bytes) bytes, but only \(left) are left for this participant."
    case .tooManyTransfers(let transfers, let waiting):
      "There are already \(transfers) transfers with this participant, and \(waiting) offers wait."
    case .notCreated(let reason): "The file could not be created: \(reason)"
    }
  }
}

/// Why a file cannot be offered. Each description is one sentence.
package enum FileOfferError: Error, Sendable, Hashable, CustomStringConvertible {
  case tooManyTransfers(limit: Int)
  case unusableName(FileName.Problem)
  case unusableSize(Int64)
  case unusableSendID

  package var description: String {
    switch self {
    case .tooManyTransfers(let limit): "At most \(limit) transfers with a participant are possible at a time."
    case .unusableName(let problem): problem.description
    case .unusableSize(let bytes): "\(bytes) is not a possible size of a file."
    case .unusableSendID:
      "The id of a transfer must be new and have 1 to \(DataMessageLimits.maximumSendIDBytes) bytes."
    }
  }
}
