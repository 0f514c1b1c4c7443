internal import PeerEngine
internal import Signalling

/// Says that it has another certificate than it has.
struct WrongFingerprint: FaultInjector {
  private(set) var timesInjected: UInt64 = 0

  mutating func outgoing(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    switch message {
    case .offer(let sdp):
      timesInjected += 1
      return .offer(Self.forged(sdp))
    case .answer(let sdp):
      timesInjected += 1
      return .answer(Self.forged(sdp))
    case .candidate:
      return message
    }
  }

  /// The description with every digest's last digit changed (RFC 8122, 5).
  private static func forged(_ sdp: String) -> String {
    let lines = sdp.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      guard line.hasPrefix("a=fingerprint:"), let last = line.last else { return String(line) }
      return line.dropLast() + (last == "0" ? "1" : "0")
    }
    return lines.joined(separator: "\r\n")
  }
}
