public import NIOCore

/// A message of a data channel.
public enum DataChannelMessage: Sendable, Hashable {
  /// UTF-8; invalid sequences of a received message are replaced.
  case text(String)
  case binary(ByteBuffer)

  /// Returns nil for a payload protocol identifier that is not one of messages.
  init?(_ message: SCTPMessage) {
    switch message.protocolID {
    case DataChannelProtocolID.text: self = .text(String(buffer: message.payload))
    case DataChannelProtocolID.binary: self = .binary(message.payload)
    // SCTP cannot transport nothing: an empty message has one byte, which is ignored (RFC 8831, 6.6).
    case DataChannelProtocolID.emptyText: self = .text("")
    case DataChannelProtocolID.emptyBinary: self = .binary(ByteBuffer())
    default: return nil
    }
  }

  var encoded: (protocolID: UInt32, payload: ByteBuffer) {
    switch self {
    // Not `case .text("")`: comparing normalises the text.
    case .text(let text):
      text.isEmpty
        ? (DataChannelProtocolID.emptyText, ByteBuffer(integer: UInt8(0)))
        : (DataChannelProtocolID.text, ByteBuffer(string: text))
    case .binary(let bytes):
      bytes.readableBytes == 0
        ? (DataChannelProtocolID.emptyBinary, ByteBuffer(integer: UInt8(0)))
        : (DataChannelProtocolID.binary, bytes)
    }
  }
}

/// What a data channel transport reports.
package enum DataChannelEvent: Sendable, Hashable {
  /// The association is set up.
  case connected
  /// The peer has opened a channel, which can be used now.
  case openedByPeer(UInt16, DataChannelConfiguration)
  /// The peer has acknowledged a channel of ours, or the association of a negotiated channel is set up.
  case opened(UInt16)
  case message(UInt16, DataChannelMessage)
  /// The bytes that wait to be sent fell to the channel's threshold.
  case bufferedAmountLow(UInt16)
  /// Both directions of the channel are closed, and its id can be used again.
  case closed(UInt16)
  /// The association has ended, and all channels with it; the last event.
  case disconnected(SCTPCloseReason)
}

/// Why a channel could not be opened or used.
package enum DataChannelError: Error, Sendable, Hashable, CustomStringConvertible {
  case tooManyChannels(limit: Int)
  case idInUse(UInt16)
  case invalidID(UInt16)
  case nameTooLong(bytes: Int, limit: Int)
  case unknownChannel(UInt16)
  case closing(UInt16)
  case notSent(SCTPSendError)

  package var description: String {
    switch self {
    case .tooManyChannels(let limit): "At most \(limit) data channels can be open at a time."
    case .idInUse(let id): "Data channel \(id) is already open."
    case .invalidID(let id): "\(id) is not the id of a data channel: they are 0 to 65,534."
    case .nameTooLong(let bytes, let limit):
      "A label or protocol of a data channel may have \(limit) bytes, but this one has \(bytes)."
    case .unknownChannel(let id): "There is no data channel \(id)."
    case .closing(let id): "Data channel \(id) is closing."
    case .notSent(let error): error.description
    }
  }
}
