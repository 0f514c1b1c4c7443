import Media
import NIOCore

/// How a message is delivered.
package struct SCTPSendOptions: Sendable, Hashable {
  /// Whether it may overtake messages of its stream.
  package var isUnordered = false
  /// How long after `send` it may be transmitted or retransmitted; nil for ever (RFC 3758, 4.1).
  package var lifetime: Duration?
  /// How often a fragment of it may be retransmitted; nil for no limit (RFC 7496, 3.1).
  package var maximumRetransmissions: Int?

  package init(isUnordered: Bool = false, lifetime: Duration? = nil, maximumRetransmissions: Int? = nil) {
    self.isUnordered = isUnordered
    self.lifetime = lifetime
    self.maximumRetransmissions = maximumRetransmissions
  }
}

/// Why a message was not accepted for sending.
package enum SCTPSendError: Error, Sendable, Hashable, CustomStringConvertible {
  case closed
  case empty
  case tooLarge(bytes: Int, limit: Int)
  case bufferFull(limit: Int)
  case tooManyStreams(limit: Int)
  case streamIsResetting(UInt16)
  case invalidStream(UInt16, streams: Int)

  package var description: String {
    switch self {
    case .closed: "The SCTP association is closed or is shutting down."
    case .empty: "An SCTP message must have at least 1 byte."
    case .tooLarge(let bytes, let limit):
      "The message has \(bytes) bytes, but the peer accepts at most \(limit)."
    case .bufferFull(let limit): "The send buffer of \(limit) bytes is full."
    case .tooManyStreams(let limit): "At most \(limit) streams can be used at a time."
    case .streamIsResetting(let stream): "Stream \(stream) is being reset."
    case .invalidStream(let stream, let streams):
      "Stream \(stream) cannot be used: the peer accepts \(streams) streams."
    }
  }
}

/// A message that waits to be sent, or of which the first fragments were sent.
struct OutgoingMessage: Sendable {
  /// What the fragments of a message have in common.
  struct Reliability: Sendable {
    /// A number unique in the association.
    let message: UInt64
    let expiry: MonotonicInstant?
    let maximumRetransmissions: Int?

    func hasExpired(now: MonotonicInstant) -> Bool {
      expiry.map { $0 <= now } ?? false
    }
  }

  let reliability: Reliability
  let protocolID: UInt32
  let isUnordered: Bool
  /// The bytes that are not sent yet.
  var rest: ByteBuffer
  var streamSequenceNumber: UInt16 = 0
  var isStarted = false
}
