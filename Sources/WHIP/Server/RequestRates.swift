import HTTPTransport
import NIOCore

/// Limits the requests and the new sessions of all clients together and of each address, so that one address does not
/// use up what all share. Pure.
struct RequestRates: Sendable {
  private struct Rates {
    var requests: TokenBucket
    var sessions: TokenBucket
    var last: NIODeadline
  }

  /// The number of addresses at which those that have been silent for ``retention`` are removed, or else all.
  private static let maximumAddresses = 4_096
  private static let retention: TimeAmount = .seconds(30)

  private let options: WHIPServer.Options
  private var all: Rates
  private var byAddress: [String: Rates] = [:]

  init(options: WHIPServer.Options, now: NIODeadline) {
    self.options = options
    all = Rates(
      requests: TokenBucket(perSecond: options.requestsPerSecond, burst: options.requestBurst, now: now),
      sessions: TokenBucket(perSecond: options.sessionsPerSecond, burst: options.sessionBurst, now: now), last: now)
  }

  /// Counts a request. Returns false if there are too many.
  ///
  /// - Parameter address: empty for this machine, for which only the common limit applies.
  mutating func consumeRequest(of address: String, now: NIODeadline) -> Bool {
    consume(\.requests, of: address, now: now)
  }

  /// Counts a new session. Returns false if there are too many.
  mutating func consumeSession(of address: String, now: NIODeadline) -> Bool {
    consume(\.sessions, of: address, now: now)
  }

  private mutating func consume(
    _ bucket: WritableKeyPath<Rates, TokenBucket>, of address: String, now: NIODeadline
  ) -> Bool {
    if !address.isEmpty {
      var rates = byAddress[address] ?? newRates(now: now)
      rates.last = now
      let isAdmitted = rates[keyPath: bucket].consume(now: now)
      byAddress[address] = rates
      // What one address may not do takes nothing from the others.
      guard isAdmitted else { return false }
    }
    return all[keyPath: bucket].consume(now: now)
  }

  /// The rates of a new address, for which old ones are removed if there are very many.
  private mutating func newRates(now: NIODeadline) -> Rates {
    if byAddress.count >= Self.maximumAddresses {
      byAddress = byAddress.filter { now - $0.value.last < Self.retention }
      if byAddress.count >= Self.maximumAddresses { byAddress = [:] }
    }
    return Rates(
      requests: TokenBucket(
        perSecond: options.requestsPerSecondPerAddress, burst: options.requestBurstPerAddress, now: now),
      sessions: TokenBucket(
        perSecond: options.sessionsPerSecondPerAddress, burst: options.sessionBurstPerAddress, now: now), last: now)
  }
}
