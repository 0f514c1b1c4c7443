internal import ICE
internal import Media

/// How many checks of all participants together are verified on paths that no check has validated yet, and how many of them
/// from one address.
///
/// Addresses share ``slots`` limiters, so that senders of many addresses, also forged ones, use no memory.
struct UnknownCheckAllowance: Sendable {
  static let slots = 256
  static let burstOfAddress = 200
  static let intervalOfAddress = Duration.milliseconds(5)
  static let burst = 2_000
  static let interval = Duration.microseconds(200)

  private var all = TokenBucket(burst: burst, interval: interval)
  private var byAddress = Array(
    repeating: TokenBucket(burst: burstOfAddress, interval: intervalOfAddress), count: slots)

  mutating func take(from ip: IPAddress, now: MonotonicInstant) -> Bool {
    var hasher = Hasher()
    switch ip {
    case .v4(let value): hasher.combine(value)
    // A host has a whole /64.
    case .v6(let high, _): hasher.combine(high)
    }
    let slot = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.slots))
    return byAddress[slot].consume(now: now) && all.consume(now: now)
  }
}
