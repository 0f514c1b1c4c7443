internal import Media

/// Decides which rejected media sections of a connection are reported: each once, and again when it changes.
struct RejectionReporter: Sendable {
  /// The sections that are rejected now, as they were reported, in m-line order.
  private(set) var reported: [RejectedSection] = []
  /// A participant whose offers alternate must not fill a log.
  private var limiter = TokenBucket(burst: 16, interval: .seconds(10))

  /// Notes the rejected sections of an exchange, and returns those that must be reported. When there are very many, some
  /// are reported after a later exchange.
  mutating func update(_ rejected: [RejectedSection], now: MonotonicInstant) -> [RejectedSection] {
    let former = reported
    var new: [RejectedSection] = []
    reported = []
    for section in rejected where section.isUnexpected {
      if !former.contains(section) {
        guard limiter.consume(now: now) else { continue }
        new.append(section)
      }
      reported.append(section)
    }
    return new
  }
}
