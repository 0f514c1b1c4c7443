internal import Logging
internal import Media
internal import ObjectStore
internal import Synchronization

/// Sends operations: signs them, tries them again, and notes what the store refuses.
final class S3Caller: Sendable {
  let addressing: S3Addressing
  let bucket: String
  let region: String
  private let credentials: CredentialsCache
  private let transport: any S3Transport
  private let timing: S3Timing
  private let logger: Logger
  private let observe: @Sendable (S3Observation) -> Void
  /// What was refused: the sentence for each operation.
  private let refused = Mutex<[String: String]>([:])

  init(
    _ configuration: S3Configuration, environment: [String: String], hasFile: (String) -> Bool,
    transport: any S3Transport,
    timing: S3Timing, logger: Logger, observe: @escaping @Sendable (S3Observation) -> Void
  ) throws(S3Configuration.Problem) {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let region = configuration.region ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1"
    guard S3Configuration.isRegion(region) else {
      throw S3Configuration.Problem(
        description: "The region \(region.printable()) has something else than letters, digits and hyphens.")
    }
    self.region = region
    bucket = configuration.bucket
    addressing = try S3Addressing(
      configuration, region: region, url: variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL"))
    let source = try CredentialsSource(configuration, environment: environment, region: region, hasFile: hasFile)
    credentials = CredentialsCache(source, transport: transport, timing: timing)
    self.transport = transport
    self.timing = timing
    self.logger = logger
    self.observe = observe
  }

  /// A sentence of what the store refuses.
  var problem: String? { refused.withLock { $0.min { $0.key < $1.key }?.value } }

  func note(_ observation: S3Observation) { observe(observation) }

  /// The pauses after which somebody should know that the store is away.
  private static let reportedAfter = Duration.seconds(10)

  /// Carries out an operation.
  ///
  /// - Parameters:
  ///   - patience: how long it is tried again after failures that may pass; nil: for as long as the task is not cancelled.
  ///   - check: called before each further try after one without an answer; what it throws ends the tries. A server may refuse a
  ///     request before it has read the body, and close the connection, so that its answer is lost each time. So something without a
  ///     body is asked then.
  /// - Throws: an ``S3Failure``, what `check` throws, or `CancellationError`.
  func perform(
    _ operation: S3Operation, patience: Duration?, check: (() async throws -> Void)? = nil
  ) async throws -> S3Response {
    var backoff = Backoff()
    var waited = Duration.zero
    var isReported = false
    while true {
      let start = MonotonicInstant.now
      do {
        let response = try await attempt(operation)
        if isReported { logger.notice("\(operation.name) works again after \(waited.components.seconds) s.") }
        return response
      } catch let failure as S3Failure {
        guard case .again(let asked) = failure.consequence else { throw failure }
        let delay = backoff.delay(random: timing.random(), asked: asked)
        // A store that takes connections and does not answer uses up the time as well.
        waited += delay + (MonotonicInstant.now - start)
        if let patience, waited > patience { throw failure }
        if !isReported, waited > Self.reportedAfter {
          isReported = true
          logger.warning("\(failure.description) It is tried again.")
        }
        try await timing.sleep(delay)
        if failure.isUnanswered { try await check?() }
      }
    }
  }

  /// Waits before something is tried again that consists of several operations.
  func pause(_ backoff: inout Backoff) async throws {
    try await timing.sleep(backoff.delay(random: timing.random(), asked: nil))
  }

  /// Tries an operation once, and once more with other credentials.
  private func attempt(_ operation: S3Operation) async throws -> S3Response {
    let own = try await current()
    do {
      return try await send(operation, own)
    } catch let failure as S3Failure {
      guard failure.mayBeCredentials, let other = try await credentials.replacement(of: own) else {
        note(failure, of: operation.name)
        throw failure
      }
      do {
        return try await send(operation, other)
      } catch let again as S3Failure {
        note(again, of: operation.name)
        throw again
      }
    }
  }

  /// - Parameter name: of an operation.
  private func note(_ failure: S3Failure, of name: String) {
    switch failure.consequence {
    case .refused:
      let isNew = refused.withLock { $0.updateValue(failure.problem, forKey: name) != failure.problem }
      if isNew { logger.error("\(failure.description)") }
    // The store would not say so if it refused the operation.
    case .missing, .uploadGone, .exists: refused.withLock { $0[name] = nil }
    case .again, .unsupported, .failed: break
    }
  }

  private static let credentialsName = "credentials"

  private func current() async throws -> S3Credentials {
    do {
      let found = try await credentials.credentials()
      refused.withLock { $0[Self.credentialsName] = nil }
      return found
    } catch let failure as CredentialsCache.Failure {
      let described = S3Failure(failure.isTransient ? .again(after: nil) : .refused, failure.description)
      note(described, of: Self.credentialsName)
      throw described
    }
  }

  private func send(_ operation: S3Operation, _ credentials: S3Credentials) async throws -> S3Response {
    let signed = signable(operation)
    let headers = SignatureV4(credentials, region: region).headers(
      of: signed, payload: operation.digest, at: timing.now())
    let request = S3Request(
      method: operation.method, url: signed.url, headers: headers.map { ($0.name, $0.value) }, body: operation.body,
      limit: operation.limit, maximumAnswer: operation.maximumAnswer, pacer: operation.pacer)
    let start = MonotonicInstant.now
    do {
      let response = try await transport.send(request)
      observe(.request(operation: operation.name, status: response.status, duration: .now - start))
      if operation.expected.contains(response.status) {
        refused.withLock { $0[operation.name] = nil }
        return response
      }
      throw S3Failure(response, operation: operation.name, bucket: bucket, region: region)
    } catch let error as S3TransportError {
      observe(.request(operation: operation.name, status: 0, duration: .now - start))
      throw S3Failure(error)
    }
  }

  private func signable(_ operation: S3Operation) -> SignatureV4.Request {
    SignatureV4.Request(
      method: operation.method, endpoint: addressing.endpoint,
      path: operation.key.map(addressing.path) ?? addressing.bucketPath, query: operation.query,
      headers: operation.headers)
  }

  /// Returns a link to an object.
  func link(_ operation: S3Operation, seconds: Int) async throws -> String {
    let credentials = try await current()
    var request = signable(operation)
    request.headers = []
    return SignatureV4(credentials, region: region).url(for: request, validFor: seconds, at: timing.now())
  }
}
