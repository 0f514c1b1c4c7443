package import NIOCore

/// A message of the peer.
package struct SCTPMessage: Sendable, Hashable {
  package let stream: UInt16
  /// The payload protocol identifier.
  package let protocolID: UInt32
  package let payload: ByteBuffer
  package let isUnordered: Bool
}

/// What an association reports.
package enum SCTPEvent: Sendable, Hashable {
  /// Messages can be sent; those sent before are on their way.
  case connected
  /// The peer has started again: what was sent before and not acknowledged is lost, and all streams begin again.
  case restarted
  case message(SCTPMessage)
  /// A message was dropped because it exceeds the configured size.
  case messageTooLarge(stream: UInt16)
  /// The peer has reset streams towards us: no message of before follows. Nil stands for all streams.
  case incomingStreamsReset([UInt16]?)
  /// The peer has performed our reset of streams.
  case outgoingStreamsReset([UInt16])
  /// The peer has refused our reset of streams, or supports none.
  case streamResetRefused([UInt16])
  /// The peer has reported errors that do not end the association.
  case errorReported([ErrorCause])
  /// The last event.
  case closed(SCTPCloseReason)
}

/// Why an association ended.
package enum SCTPCloseReason: Error, Sendable, Hashable, CustomStringConvertible {
  /// Both sides have shut down; everything sent was delivered.
  case shutDown
  case abortedLocally
  case abortedByPeer([ErrorCause])
  /// The peer did not answer the INIT or the COOKIE ECHO.
  case setupTimedOut(attempts: Int)
  /// The peer did not acknowledge this number of retransmissions in a row.
  case unreachable(timeouts: Int)
  /// The peer's answer to the INIT cannot be used.
  case setupRefused(String)
  case peerViolatedProtocol(String)
  /// The peer made us keep more than the receive window.
  case outOfMemory(limit: Int)

  package var description: String {
    switch self {
    case .shutDown: "The SCTP association was shut down."
    case .abortedLocally: "The SCTP association was aborted by this side."
    case .abortedByPeer(let causes):
      causes.isEmpty
        ? "The peer aborted the SCTP association without a cause."
        : "The peer aborted the SCTP association: \(causes.prefix(4).map(\.description).joined(separator: ", "))."
    case .setupTimedOut(let attempts): "The peer answered none of \(attempts) attempts to set up an SCTP association."
    case .unreachable(let timeouts): "The peer acknowledged nothing after \(timeouts) retransmission timeouts."
    case .setupRefused(let reason): "The SCTP association could not be set up: \(reason)."
    case .peerViolatedProtocol(let what): "The peer violated the SCTP protocol: \(what)."
    case .outOfMemory(let limit): "The peer's incomplete messages exceed the receive window of \(limit) bytes."
    }
  }
}
