import HTTPTransport
import Media
import NIOCore

/// Limits the requests and the new sessions of all clients together and of each address, so that one address does not
/// use up what all share. Pure.
struct RequestRates: Sendable {
  private struct Rates {
    var requests: TokenBucket
    var sessions: TokenBucket
  }

  /// The number of addresses at which those that have been silent for ``retention`` are removed, or else all.
  private static let maximumAddresses = 4_096
  private static let retention = Duration.seconds(30)

  private let options: WHIPServer.Options
  private var all: Rates
  private var byAddress: [String: (rates: Rates, last: MonotonicInstant)] = [:]

  init(options: WHIPServer.Options) {
    self.options = options
    all = Rates(
      requests: TokenBucket(perSecond: options.requestsPerSecond, burst: options.requestBurst),
      sessions: TokenBucket(perSecond: options.sessionsPerSecond, burst: options.sessionBurst))
  }

  /// Counts a request. Returns false if there are too many.
  ///
  /// - Parameter address: empty for this machine, for which only the common limit applies.
  mutating func consumeRequest(of address: String, now: NIODeadline) -> Bool {
    consume(\.requests, of: address, now: MonotonicInstant(ofEventLoop: now))
  }

  /// Counts a new session. Returns false if there are too many.
  mutating func consumeSession(of address: String, now: NIODeadline) -> Bool {
    consume(\.sessions, of: address, now: MonotonicInstant(ofEventLoop: now))
  }

  private mutating func consume(
    _ bucket: WritableKeyPath<Rates, TokenBucket>, of address: String, now: MonotonicInstant
  ) -> Bool {
    if !address.isEmpty {
      var rates = byAddress[address]?.rates ?? newRates(now: now)
      let isAdmitted = rates[keyPath: bucket].consume(now: now)
      byAddress[address] = (rates, now)
      // What one address may not do takes nothing from the others.
      guard isAdmitted else { return false }
    }
    return all[keyPath: bucket].consume(now: now)
  }

  /// The rates of a new address, for which old ones are removed if there are very many.
  private mutating func newRates(now: MonotonicInstant) -> Rates {
    if byAddress.count >= Self.maximumAddresses {
      byAddress = byAddress.filter { now - $0.value.last < Self.retention }
      if byAddress.count >= Self.maximumAddresses { byAddress = [:] }
    }
    return Rates(
      requests: TokenBucket(perSecond: options.requestsPerSecondPerAddress, burst: options.requestBurstPerAddress),
      sessions: TokenBucket(perSecond: options.sessionsPerSecondPerAddress, burst: options.sessionBurstPerAddress))
  }
}
