/// How much one WebSocket may cost in memory and how long it may be silent.
package struct WebSocketLimits: Sendable, Hashable {
  /// Bytes of the largest message taken, fragments joined; a single frame may be no larger either.
  package var maximumMessageBytes = 256 * 1024
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
