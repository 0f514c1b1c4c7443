package import NIOCore

/// One whole message, its fragments joined (RFC 6455, 5.6).
package enum WebSocketMessage: Sendable, Hashable {
  case text(String)
  case binary(ByteBuffer)
}
