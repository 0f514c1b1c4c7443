package import NIOCore
package import NIOWebSocket

/// Joins fragments to messages and checks every frame against RFC 6455, sections 5.1 to 5.6 and 7.4. Pure.
package struct WebSocketAssembler {
  /// What a frame amounts to.
  package enum Outcome: Sendable, Hashable {
    /// A fragment; more will come.
    case incomplete
    case message(WebSocketMessage)
    /// To be answered by a pong with the same data.
    case ping(ByteBuffer)
    case pong
    case close(code: UInt16?, reason: String)
  }

  private let side: WebSocketSide
  private let maximumBytes: Int
  private var unfinished: (opcode: WebSocketOpcode, data: ByteBuffer)?

  /// - Parameters:
  ///   - side: which end we are; frames from the other must be masked or not accordingly.
  ///   - maximumBytes: bytes of the largest message taken.
  package init(side: WebSocketSide, maximumBytes: Int) {
    self.side = side
    self.maximumBytes = maximumBytes
  }

  /// Takes the next frame of the other side.
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

  /// Adds a fragment to the unfinished message, in its place: what was joined before is not copied.
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
      throw .protocolError("A close frame with a body needs 2 bytes, but only \(data.readableBytes) came.")
    }
    guard Self.mayBeSent(code) else { throw .protocolError("The close code \(code) must not be sent.") }
    guard let reason = String(validating: data.readableBytesView, as: UTF8.self) else {
      throw .notText("The reason in a close frame is not valid UTF-8.")
    }
    return .close(code: code, reason: reason)
  }

  /// Whether a close code may stand in a frame (RFC 6455, 7.4.1 and 7.4.2, and the registry it founded).
  private static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

/// Which end of a WebSocket we are: a client masks what it sends, a server must not (RFC 6455, 5.1).
package enum WebSocketSide: Sendable, Hashable {
  case client
  case server
}

/// A breach of RFC 6455 by the other side, with the code that it is told (section 7.4.1).
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

/// One whole message, its fragments joined (RFC 6455, 5.6).
package enum WebSocketMessage: Sendable, Hashable {
  case text(String)
  case binary(ByteBuffer)

  /// Bytes of its data.
  package var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let data): data.readableBytes
    }
  }
}

/// How much one WebSocket may cost in memory and how long it may be silent.
package struct WebSocketLimits: Sendable {
  /// Bytes of the largest message taken, fragments joined; a single frame may be no larger either.
  package var maximumMessageBytes = 256 * 1024
  /// Frames a second that are taken in the long run, and at once after a pause; nil for any number.
  package var maximumFrameRate: (perSecond: Int, burst: Int)?
  /// Bytes that may wait to be sent; a connection that needs more is dropped, because its reader is too slow.
  package var maximumOutgoingBytes = 1024 * 1024
  /// A ping is sent after this much silence of the other side; nil sends none.
  package var pingInterval: Duration? = .seconds(15)
  /// The connection is lost when a ping brings no byte back for this long.
  package var pingTimeout: Duration = .seconds(10)
  /// The other side's answer to our close, and the end of its TCP stream, are awaited for this long.
  package var closeTimeout: Duration = .seconds(2)

  package init() {}
}
