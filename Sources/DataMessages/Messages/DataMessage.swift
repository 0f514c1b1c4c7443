package import Media
package import NIOCore

/// A message of the data channel between two SkyRTC pages: chat, or the signalling of a file transfer.
///
/// The offerer creates one ordered and reliable channel. Each message is a text with one JSON object. Every type
/// besides `__file` is chat.
package enum DataMessage: Sendable, Hashable {
  /// `{"type":"__msg","data":text}`
  case chat(UntrustedText)
  /// `{"type":"__file","signal":"ask","name":…,"size":…,"sendId":…}`, with `"binary":1` for the binary mode.
  case fileOffer(FileOffer)
  /// `{"type":"__file","signal":"accept","sendId":…}`, with `"binary":1` for the binary mode.
  case fileAccepted(sendID: String, isBinary: Bool)
  /// `{"type":"__file","signal":"refuse","sendId":…}`
  case fileRefused(sendID: String)
  /// `{"type":"__file","signal":"chunk","sendId":…,"last":…,"data":…,"percent":…}`
  case fileChunk(FileChunk)
  /// `{"type":"__file","signal":"close","sendId":…}`: the transfer is cancelled. The page knows the signal, sends it
  /// without `sendId`, and ignores it.
  case fileClosed(sendID: String?)

  /// Parses a text message.
  package init(parsing text: String) throws(DataMessageError) {
    let wire = try JSONText.decode(
      DataMessageWire.self, from: text, maximumBytes: DataMessageLimits.maximumMessageBytes)
    guard wire.type?.ascii == "__file" else {
      guard let data = wire.data else { throw .unusable(message: "chat", field: "data") }
      self = .chat(data)
      return
    }
    guard let text = wire.signal else { throw .unusable(message: "__file", field: "signal") }
    guard let signal = text.ascii else { throw .unknownSignal(text.description) }
    func sendID() throws(DataMessageError) -> String {
      guard let id = wire.sendID?.ascii, (1...DataMessageLimits.maximumSendIDBytes).contains(id.utf8.count) else {
        throw .unusable(message: signal, field: "sendId")
      }
      return id
    }
    switch signal {
    case "ask":
      guard let name = wire.name else { throw .unusable(message: signal, field: "name") }
      guard let size = wire.size, (0...DataMessageLimits.maximumFileBytes).contains(size) else {
        throw .unusable(message: signal, field: "size")
      }
      self = .fileOffer(FileOffer(name: name, size: size, sendID: try sendID(), isBinary: wire.isBinary))
    case "accept":
      self = .fileAccepted(sendID: try sendID(), isBinary: wire.isBinary)
    case "refuse":
      self = .fileRefused(sendID: try sendID())
    case "chunk":
      guard let data = wire.data else { throw .unusable(message: signal, field: "data") }
      self = .fileChunk(
        FileChunk(sendID: try sendID(), data: data, isLast: wire.isLast ?? false, percent: wire.percent))
    case "close":
      self = .fileClosed(sendID: wire.sendID == nil ? nil : try sendID())
    default:
      throw .unknownSignal(signal.printable(utf8Bytes: 40))
    }
  }

  /// Reads a binary message as chat: some clients send the UTF-8 of a text without JSON on a channel `WebRTCData`.
  package init(chatIn message: ByteBuffer) throws(DataMessageError) {
    let bytes = message.readableBytes
    guard bytes <= DataMessageLimits.maximumMessageBytes else {
      throw .tooLarge(bytes: bytes, limit: DataMessageLimits.maximumMessageBytes)
    }
    guard let text = UntrustedText(validating: message.readableBytesView) else { throw .notText(bytes: bytes) }
    self = .chat(text)
  }

  /// The message in JSON.
  package var text: String {
    switch self {
    case .chat(let text):
      #"{"type":"__msg","data":\#(JSONText.quoted(text))}"#
    case .fileOffer(let offer):
      #"{"type":"__file","signal":"ask","name":\#(JSONText.quoted(offer.name)),"size":\#(offer.size),"#
        + #""sendId":\#(JSONText.quoted(offer.sendID))\#(offer.isBinary ? #","binary":1"# : "")}"#
    case .fileAccepted(let sendID, let isBinary):
      #"{"type":"__file","signal":"accept","sendId":\#(JSONText.quoted(sendID))\#(isBinary ? #","binary":1"# : "")}"#
    case .fileRefused(let sendID):
      #"{"type":"__file","signal":"refuse","sendId":\#(JSONText.quoted(sendID))}"#
    case .fileChunk(let chunk):
      #"{"type":"__file","signal":"chunk","sendId":\#(JSONText.quoted(chunk.sendID)),"last":\#(chunk.isLast),"#
        + #""data":\#(JSONText.quoted(chunk.data))"#
        + (chunk.percent.map { #","percent":\#(JSONText.number($0))}"# } ?? "}")
    case .fileClosed(let sendID):
      #"{"type":"__file","signal":"close"\#(sendID.map { #","sendId":\#(JSONText.quoted($0))"# } ?? "")}"#
    }
  }
}
