package import NIOCore
package import NIOWebSocket

/// Joins fragments into messages and checks every frame against RFC 6455, sections 5.1 to 5.6 and 7.4. Pure.
package struct WebSocketAssembler {
  /// The result of a frame.
  package enum Outcome: Sendable, Hashable {
    /// A fragment of an unfinished message.
    case incomplete
    case message(WebSocketMessage)
    /// Must be answered by a pong with the same data.
    case ping(ByteBuffer)
    case pong
    case close(code: UInt16?, reason: String)
  }

  private let side: WebSocketSide
  private let maximumBytes: Int
  private var unfinished: (opcode: WebSocketOpcode, data: ByteBuffer)?

  /// - Parameters:
  ///   - side: our side; frames of the other side must be masked or unmasked accordingly.
  ///   - maximumBytes: the maximum size of a message in bytes.
  package init(side: WebSocketSide, maximumBytes: Int) {
    self.side = side
    self.maximumBytes = maximumBytes
  }

  /// Processes the next frame of the other side.
  package mutating func received(_ frame: WebSocketFrame) throws(WebSocketViolation) -> Outcome {
    if frame.rsv1 || frame.rsv2 || frame.rsv3 {
      throw .protocolError("A reserved bit is set, but no extension was agreed to.")
    }
    guard (frame.maskKey != nil) == (side == .server) else {
      throw .protocolError(
        side == .server ? "A client's frame must be masked." : "A server's frame must not be masked.")
    }
    let data = frame.unmaskedData
    switch frame.opcode {
    case .text, .binary:
      guard unfinished == nil else { throw .protocolError("A new message began inside an unfinished one.") }
      unfinished = (frame.opcode, ByteBuffer())
      return try append(data, isLast: frame.fin)
    case .continuation:
      guard unfinished != nil else { throw .protocolError("A message cannot begin with a continuation frame.") }
      return try append(data, isLast: frame.fin)
    case .ping:
      return .ping(data)
    case .pong:
      return .pong
    case .connectionClose:
      return try close(data)
    default:
      throw .protocolError("Frames with the opcode \(UInt8(webSocketOpcode: frame.opcode)) are not known.")
    }
  }

  /// Appends a fragment to the unfinished message in place, without copying the earlier fragments.
  private mutating func append(_ data: ByteBuffer, isLast: Bool) throws(WebSocketViolation) -> Outcome {
    let before = unfinished?.data.readableBytes ?? 0
    let size = before + data.readableBytes
    guard size <= maximumBytes else {
      unfinished = nil
      throw .tooBig("A message may have \(maximumBytes) bytes, but this one has \(size) or more.")
    }
    if before == 0 {
      unfinished?.data = data
    } else {
      unfinished?.data.writeImmutableBuffer(data)
    }
    guard isLast, let joined = unfinished else { return .incomplete }
    unfinished = nil
    if joined.opcode == .binary { return .message(.binary(joined.data)) }
    guard let text = String(validating: joined.data.readableBytesView, as: UTF8.self) else {
      throw .notText("A text message of \(size) bytes is not valid UTF-8.")
    }
    return .message(.text(text))
  }

  private func close(_ data: ByteBuffer) throws(WebSocketViolation) -> Outcome {
    var data = data
    if data.readableBytes == 0 { return .close(code: nil, reason: "") }
    guard let code = data.readInteger(as: UInt16.self) else {
      throw .protocolError("A close frame with a body needs 2 bytes, but only \(data.readableBytes) arrived.")
    }
    guard Self.mayBeSent(code) else { throw .protocolError("The close code \(code) must not be sent.") }
    guard let reason = String(validating: data.readableBytesView, as: UTF8.self) else {
      throw .notText("The reason in a close frame is not valid UTF-8.")
    }
    return .close(code: code, reason: reason)
  }

  /// Whether a close frame may carry this code (RFC 6455, 7.4.1 and 7.4.2, and the IANA registry).
  private static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

/// The side of a WebSocket: a client masks the frames that it sends, a server must not (RFC 6455, 5.1).
package enum WebSocketSide: Sendable, Hashable {
  case client
  case server
}

/// A violation of RFC 6455 by the other side, with the close code to answer it with (section 7.4.1).
package struct WebSocketViolation: Error, Sendable, Hashable, CustomStringConvertible {
  package var code: UInt16
  package var description: String

  package init(code: UInt16, _ description: String) {
    self.code = code
    self.description = description
  }

  static func protocolError(_ text: String) -> WebSocketViolation { .init(code: 1002, text) }
  static func notText(_ text: String) -> WebSocketViolation { .init(code: 1007, text) }
  static func tooOften(_ text: String) -> WebSocketViolation { .init(code: 1008, text) }
  static func tooBig(_ text: String) -> WebSocketViolation { .init(code: 1009, text) }
}

/// A complete message with its fragments joined (RFC 6455, 5.6).
package enum WebSocketMessage: Sendable, Hashable {
  case text(String)
  case binary(ByteBuffer)

  /// The size of its data in bytes.
  package var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let data): data.readableBytes
    }
  }
}

/// The limits of memory and silence of one WebSocket.
package struct WebSocketLimits: Sendable {
  /// The maximum size of a message with its fragments joined, and of a single frame, in bytes.
  package var maximumMessageBytes = 256 * 1024
  /// The sustained rate of received frames, and the burst after a pause; nil for no limit.
  package var maximumFrameRate: (perSecond: Int, burst: Int)?
  /// The bytes that may wait to be sent. A connection with more is dropped, because its reader is too slow.
  package var maximumOutgoingBytes = 1024 * 1024
  /// The silence of the other side after which a ping is sent; nil sends none.
  package var pingInterval: Duration? = .seconds(15)
  /// The time without any received byte after a ping until the connection counts as lost.
  package var pingTimeout: Duration = .seconds(10)
  /// The timeout for the other side's answer to our close frame, and for the end of its TCP stream.
  package var closeTimeout: Duration = .seconds(2)

  package init() {}
}
