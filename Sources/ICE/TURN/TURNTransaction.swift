import Media
import NIOCore

/// A request to the TURN server that is not answered yet, and its retransmissions (RFC 8489, 6.2.1).
struct TURNTransaction: Sendable {
  enum Purpose: Sendable, Hashable {
    case allocate
    /// Ends an allocation of a former attempt that the server still has for this 5-tuple.
    case clear
    case refresh
    case leave
    case permissions([IPAddress])
    case channel(UInt16, TransportAddress)
  }

  let purpose: Purpose
  /// The request without credentials and with another transaction id at each repetition.
  let request: STUNMessage
  let datagram: ByteBuffer
  /// The number of the key with which the request was authenticated; nil if it was not.
  let epoch: Int?
  /// How often the server has refused the request with 401 or 438.
  let challenges: Int
  let firstSent: MonotonicInstant
  let expiry: MonotonicInstant
  private var timeout: Duration
  private let maximumTimeout: Duration
  /// Nil on a stream.
  private(set) var nextTransmission: MonotonicInstant?

  init(
    _ purpose: Purpose, request: STUNMessage, datagram: ByteBuffer, epoch: Int?, challenges: Int, isStream: Bool,
    now: MonotonicInstant
  ) {
    self.purpose = purpose
    self.request = request
    self.datagram = datagram
    self.epoch = epoch
    self.challenges = challenges
    firstSent = now
    let isKeepalive = purpose == .refresh
    timeout = isKeepalive ? TURNTiming.keepaliveTimeout : TURNTiming.firstTimeout
    maximumTimeout = isKeepalive ? TURNTiming.keepaliveTimeout : TURNTiming.maximumTimeout
    nextTransmission = isStream ? nil : now + timeout
    let lifetime: Duration =
      switch purpose {
      case .leave: TURNTiming.leaving
      case _ where isStream: TURNTiming.streamRequestLifetime
      case .refresh: TURNTiming.keepaliveLifetime
      default: TURNTiming.requestLifetime
      }
    expiry = now + lifetime
  }

  var lifetime: Duration { expiry - firstSent }

  var deadline: MonotonicInstant { min(expiry, nextTransmission ?? expiry) }

  /// Records a retransmission and doubles the timeout up to its limit.
  mutating func sentAgain(now: MonotonicInstant) {
    timeout = max(timeout, min(timeout * 2, maximumTimeout))
    nextTransmission = now + timeout
  }
}
