internal import Media
internal import ObjectStore
internal import OptionValues

/// Credentials, renewed before they end. A file is read again, so that a changed one is used without a restart.
actor CredentialsCache {
  /// Why there are no credentials.
  struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence without a secret.
    let description: String
    /// Whether it may work in a moment.
    let isTransient: Bool
  }

  private let source: CredentialsSource
  private let transport: any S3Transport
  private let timing: S3Timing
  private var current: S3Credentials?
  private var fetchedAt: UTCTime?
  private var fetching: Task<S3Credentials, any Error>?
  /// When renewing failed last; until then is waited before the next try, as long as the old ones are valid.
  private var failedAt: UTCTime?

  /// The time before their end at which credentials are renewed.
  static let margin: Int64 = 10 * 60_000
  /// How long the content of a file counts as current.
  private static let fileAge: Int64 = 5_000
  private static let retryAfter: Int64 = 30_000
  private static let maximumFileBytes = 1 << 20

  init(_ source: CredentialsSource, transport: any S3Transport, timing: S3Timing) {
    self.source = source
    self.transport = transport
    self.timing = timing
  }

  /// Returns credentials that are valid now.
  ///
  /// - Throws: a ``Failure``, or `CancellationError`.
  func credentials() async throws -> S3Credentials {
    let now = timing.now()
    if let current, !isDue(current, now) { return current }
    do {
      return try await fetch()
    } catch let failure as Failure {
      failedAt = now
      // They are renewed early, so that there is time for more tries.
      if let current, let end = current.expiresAt, end.milliseconds > now.milliseconds + 1_000 { return current }
      throw failure
    }
  }

  /// Returns other credentials than those that a server refused; nil if there are none.
  func replacement(of refused: S3Credentials) async throws -> S3Credentials? {
    if case .environment = source { return nil }
    if let current, current != refused { return current }
    guard let found = try? await fetch() else {
      try Task.checkCancellation()
      return nil
    }
    return found == refused ? nil : found
  }

  private func isDue(_ credentials: S3Credentials, _ now: UTCTime) -> Bool {
    if case .file = source {
      let age = now.milliseconds - (fetchedAt?.milliseconds ?? 0)
      return age < 0 || age >= Self.fileAge
    }
    guard let end = credentials.expiresAt else { return false }
    if end.milliseconds <= now.milliseconds { return true }
    if let failedAt, now.milliseconds - failedAt.milliseconds < Self.retryAfter { return false }
    // Credentials that live shortly are renewed in the last third of their life.
    let life = end.milliseconds - (fetchedAt?.milliseconds ?? 0)
    return end.milliseconds - now.milliseconds < min(Self.margin, max(0, life) / 3)
  }

  /// Fetches credentials once for all who wait.
  private func fetch() async throws -> S3Credentials {
    if let fetching { return try await fetching.value }
    let (source, transport, now) = (source, transport, timing.now())
    let task = Task { try await Self.fetch(source, transport) }
    fetching = task
    defer { fetching = nil }
    let found = try await task.value
    current = found
    fetchedAt = now
    failedAt = nil
    return found
  }

  private static func fetch(_ source: CredentialsSource, _ transport: any S3Transport) async throws -> S3Credentials {
    switch source {
    case .environment(let credentials): return credentials
    case .file(let path, let profile):
      let bytes = try await read(path)
      guard let found = SharedCredentialsFile.credentials(of: profile, in: bytes) else {
        throw Failure(
          description: "\(path.printable()) has no profile “\(profile.printable())” with a key.", isTransient: false)
      }
      return found
    case .webIdentity(let file, let role, let session, let service):
      let token = String(decoding: try await read(file), as: UTF8.self)
      let form = [
        ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
        ("RoleSessionName", session), ("WebIdentityToken", token.trimmingLineEnd),
      ].map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
      let request = S3Request(
        method: "POST", url: "\(service)/",
        headers: [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/xml")],
        body: .bytes(Array(form.utf8)), limit: .seconds(20), maximumAnswer: 65_536)
      return try await answer(to: request, transport, "The Security Token Service", CredentialsAnswer.webIdentity)
    case .container(let url, let token):
      var headers: [(name: String, value: String)] = [("accept", "application/json")]
      switch token {
      case .text(let text): headers.append(("authorization", text))
      case .file(let path):
        headers.append(("authorization", String(decoding: try await read(path), as: UTF8.self).trimmingLineEnd))
      case nil: break
      }
      guard headers.allSatisfy({ $0.value.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) else {
        throw Failure(description: "The token of the container has a line end.", isTransient: false)
      }
      let request = S3Request(method: "GET", url: url, headers: headers, limit: .seconds(10), maximumAnswer: 65_536)
      return try await answer(to: request, transport, "The credentials server", CredentialsAnswer.container)
    }
  }

  private static func answer(
    to request: S3Request, _ transport: any S3Transport, _ name: String, _ parse: ([UInt8]) -> S3Credentials?
  ) async throws -> S3Credentials {
    let response: S3Response
    do {
      response = try await transport.send(request)
    } catch let error as S3TransportError {
      throw Failure(description: "\(name) cannot be reached: \(error)", isTransient: true)
    }
    guard response.status == 200 else {
      let code = S3ErrorBody(parsing: response.body).map { " (\($0.code))" } ?? ""
      throw Failure(
        description: "\(name) answered with the status \(response.status)\(code).",
        isTransient: response.status >= 500 || response.status == 429)
    }
    guard let found = parse(response.body) else {
      throw Failure(description: "\(name) gave an answer without credentials.", isTransient: true)
    }
    return found
  }

  private static func read(_ path: String) async throws -> [UInt8] {
    do {
      return try await BlockingWork.run("credentials", within: .seconds(10)) {
        Array(try BoundedFile.read(path, longest: maximumFileBytes))
      }
    } catch let error as BoundedFile.ReadError {
      throw Failure(description: error.sentence.printable(utf8Bytes: 400), isTransient: false)
    } catch let error as ObjectStoreError {
      throw Failure(description: error.description, isTransient: true)
    }
  }
}

extension String {
  fileprivate var trimmingLineEnd: String {
    var bytes = Substring(self).utf8
    while let last = bytes.last, last == 0x0A || last == 0x0D || last == 0x20 { bytes.removeLast() }
    return String(Substring(bytes))
  }
}
