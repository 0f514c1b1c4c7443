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
