package import Media
import Synchronization

/// Who may do what, and how often: tokens, failures of addresses, and rates of tokens.
package final class APIAccess: Sendable {
  private struct State {
    var failures: FailureLimiter
    var buckets: [SHA256Digest: TokenBucket] = [:]
  }

  private let tokens: TokenFile
  /// Requests a second of a token.
  private let rate: Int
  private let state: Mutex<State>

  /// More tokens than a file has; then all begin again.
  private static let maximumBuckets = 10_000

  package init(tokens: TokenFile, requestsPerSecond: Int, failuresPerMinute: Int = 10) {
    self.tokens = tokens
    rate = requestsPerSecond
    state = Mutex(State(failures: FailureLimiter(maximumFailures: failuresPerMinute)))
  }

  /// What is wrong with the file of tokens; nil if it is used.
  package var problem: String? { tokens.problem }

  /// Whether a token that was accepted is accepted still.
  package func isValid(_ token: AccessToken) -> Bool { tokens.contains(token) }

  /// The token that a request has in its header or cookie.
  package enum Credential: Sendable {
    case missing
    /// The header has another scheme or several words.
    case malformed
    case header(String)
    case cookie(String)
  }

  /// Returns the token of a request.
  ///
  /// A right token is accepted also from an address with too many failures: tokens have 128 random bits and more, and others
  /// behind the same address must not be locked out by one.
  ///
  /// - Throws: a problem if it is missing, wrong, too frequent or of a lower role.
  package func authorize(
    _ credential: Credential, role: TokenRole, address: String, now: MonotonicInstant = .now
  ) throws(APIProblem) -> AccessToken {
    let token = try authenticate(credential, address: address, now: now)
    let isWithinRate = state.withLock { state in
      if state.buckets.count >= Self.maximumBuckets, state.buckets[token.digest] == nil { state.buckets = [:] }
      return state.buckets[token.digest, default: TokenBucket(perSecond: rate, burst: rate)].consume(now: now)
    }
    guard isWithinRate else {
      var problem = APIProblem(.tooManyRequests, "A token has at most \(rate) requests a second.")
      problem.retryAfter = 1
      throw problem
    }
    // A request that is refused counts as well.
    guard token.role >= role else {
      throw APIProblem(.forbidden, "This needs the role \(role.rawValue), and the token has \(token.role.rawValue).")
    }
    return token
  }

  /// Returns the token; counts a wrong one.
  package func authenticate(
    _ credential: Credential, address: String, now: MonotonicInstant = .now
  ) throws(APIProblem) -> AccessToken {
    let text: String
    switch credential {
    case .missing: throw APIProblem(.unauthorized, "The request has no token.")
    case .malformed: text = ""
    case .header(let given), .cookie(let given): text = given
    }
    if let token = tokens.token(withText: text) { return token }
    let wait = state.withLock { state in
      let wait = state.failures.wait(address, now: now)
      if wait == nil { state.failures.failed(address, now: now) }
      return wait
    }
    guard let wait else { throw APIProblem(.unauthorized, "The token is not valid.") }
    var problem = APIProblem(.tooManyFailures, "There were too many wrong tokens from this address.")
    problem.retryAfter = max(1, Int(wait.components.seconds) + 1)
    throw problem
  }
}
