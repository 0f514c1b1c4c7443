import Media
import NIOCore

/// What the client knows about one peer address.
struct TURNPeer: Sendable {
  /// A channel number that was assigned to the peer, bound or not.
  struct Channel: Sendable {
    let number: UInt16
    /// The end of the binding; nil until the first success.
    var expiry: MonotonicInstant?
    /// The time of the next ChannelBind request; nil while one is in progress.
    var nextRequest: MonotonicInstant?
    var isInFlight = false

    func isBound(_ now: MonotonicInstant) -> Bool { expiry.map { now < $0 } ?? false }
  }

  /// Datagrams that wait for the permission; the oldest is dropped.
  static let maximumQueue = 4

  /// The time of the last datagram to or from the peer.
  var lastUsed: MonotonicInstant
  var channel: Channel?
  var queue: [ByteBuffer] = []
  private var windowStart: MonotonicInstant
  private var sentInWindow = 0

  init(now: MonotonicInstant) {
    lastUsed = now
    windowStart = now
  }

  /// Counts a datagram to the peer and returns whether media flows to it.
  mutating func countSent(now: MonotonicInstant) -> Bool {
    if now - windowStart > TURNTiming.mediaWindow {
      windowStart = now
      sentInWindow = 0
    }
    sentInWindow += 1
    return sentInWindow >= TURNTiming.mediaDatagrams
  }
}

/// The permission of one peer IP address (RFC 8656, 9).
struct TURNPermission: Sendable {
  /// The end of the permission; nil until it is installed.
  var expiry: MonotonicInstant?
  /// The time of the next CreatePermission request; nil while one is in progress or after a refusal.
  var nextRequest: MonotonicInstant?
  var isInFlight = false
  /// Whether the address is requested alone, because a request with several was refused.
  var isAlone = false
  /// No request until then.
  var refusedUntil: MonotonicInstant?
  /// The last time that the caller asked for the permission.
  var lastRequested: MonotonicInstant

  init(now: MonotonicInstant) {
    lastRequested = now
    nextRequest = now
  }

  func isInstalled(_ now: MonotonicInstant) -> Bool { expiry.map { now < $0 } ?? false }
}
