internal import Media

/// Whether a participant's video is suspended because this machine has no time for it, and since when.
///
/// What gives way before and after that: "Overload" in docs/architecture.md.
struct VideoSuspension: Sendable {
  enum Verdict {
    /// The packet is processed as always.
    case accepted
    case discarded
    /// The packet is discarded after it was decrypted: SRTP must see some.
    case decrypted(source: UInt32, number: UInt16)
  }

  /// How many packets of each source are discarded before one is decrypted all the same: SRTP counts the rollovers of
  /// sequence numbers (RFC 3711, 3.3.1), and must see at least one packet in 32,768.
  private static let maximumUndecrypted: UInt16 = 4_096
  private static let maximumSources = 128

  /// Since when video is suspended; nil if it is not.
  private(set) var since: MonotonicInstant?
  /// When video was last resumed.
  private(set) var lastResumed: MonotonicInstant?
  /// How many packets were discarded.
  private(set) var packetsDiscarded: UInt64 = 0
  /// The sequence number of the last packet of each source that was decrypted while the video was suspended.
  private var lastDecryptedNumbers: [UInt32: UInt16] = [:]

  mutating func begin(now: MonotonicInstant) { since = now }

  mutating func end(now: MonotonicInstant) {
    since = nil
    lastResumed = now
  }

  /// Counts a packet as discarded.
  mutating func discard(_ number: UInt16, of source: UInt32) -> Verdict {
    packetsDiscarded &+= 1
    guard let last = lastDecryptedNumbers[source] else { return .decrypted(source: source, number: number) }
    return number &- last >= Self.maximumUndecrypted ? .decrypted(source: source, number: number) : .discarded
  }

  mutating func decrypted(_ number: UInt16, of source: UInt32) {
    if lastDecryptedNumbers.count > Self.maximumSources { lastDecryptedNumbers.removeAll() }
    lastDecryptedNumbers[source] = number
  }
}
