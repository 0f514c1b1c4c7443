package import NIOCore

/// What the sender of a connection may send before a check has shown that they know our ICE password: nothing but checks, and
/// few of them.
///
/// RFC 6544, 7.1: the side that opens a connection begins with a check, and sends nothing else until one has succeeded. A check
/// is sent again every 50 ms at most until the response arrives.
package struct StreamAdmission: Sendable {
  package static let maximumChecks = 16
  /// The sizes of a check: a STUN header, and what fits into a packet.
  package static let checkBytes = 20...1_500

  private var checks = 0

  package init() {}

  /// Returns whether the connection may go on after a frame; it is closed otherwise.
  ///
  /// - Parameter isCheck: whether the frame is a Binding request to a username fragment of ours.
  package mutating func admits(_ frame: ByteBuffer, isCheck: (ByteBuffer) -> Bool) -> Bool {
    checks += 1
    return checks <= Self.maximumChecks && admits(announced: frame.readableBytes) && isCheck(frame)
  }

  /// Returns whether a frame of this length, which is not complete yet, may be a check.
  package func admits(announced length: Int) -> Bool { Self.checkBytes.contains(length) }
}
