import Media

/// The results of finished queries: at most 256, each for a limited time.
struct MDNSCache: Sendable {
  private struct Entry {
    /// Empty when the query failed.
    var addresses: [IPAddress]
    var expiry: MonotonicInstant
  }

  private var entries: [MDNSName: Entry] = [:]

  static let maximumEntries = 256
  private static let lifetime = Duration.seconds(60)
  private static let failureLifetime = Duration.seconds(10)

  var count: Int { entries.count }

  /// Returns the addresses of a name, none when its query failed, or nil when there is no recent result.
  func addresses(of name: MDNSName, now: MonotonicInstant) -> [IPAddress]? {
    guard let entry = entries[name], now < entry.expiry else { return nil }
    return entry.addresses
  }

  /// Stores a result. When the cache is full, the result that expires first is removed.
  mutating func store(_ addresses: [IPAddress], for name: MDNSName, now: MonotonicInstant) {
    if entries[name] == nil, entries.count >= Self.maximumEntries,
      let first = entries.min(by: { $0.value.expiry < $1.value.expiry })
    {
      entries[first.key] = nil
    }
    let lifetime = addresses.isEmpty ? Self.failureLifetime : Self.lifetime
    entries[name] = Entry(addresses: addresses, expiry: now + lifetime)
  }
}
