package import NIOCore

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
