internal import FoundationEssentials
internal import HTTPTransport
internal import Media
internal import NIOCore
internal import NIOHTTP1

/// Obtains tokens and keeps the current one.
actor TokenSource {
  private let credentials: FirestoreCredentials
  private let identity: IdentityAddresses
  private let http: HTTPClient
  private let timeout: Duration
  private var token: AccessToken?

  init(_ credentials: FirestoreCredentials, identity: IdentityAddresses, http: HTTPClient, timeout: Duration) {
    self.credentials = credentials
    self.identity = identity
    self.http = http
    self.timeout = timeout
  }

  /// The value of the `Authorization` header; nil if there are no credentials.
  func authorization() async throws(FirestoreError) -> Secret? {
    switch credentials.kind {
    case .none: return nil
    case .emulatorOwner: return Secret("Bearer owner")
    case .apiKey(let key):
      if let token, token.isFresh(now: .now) { return bearer(token) }
      return bearer(try await signIn(key))
    case .serviceAccount(let key):
      if let token, token.isFresh(now: .now) { return bearer(token) }
      return bearer(try await exchange(key))
    }
  }

  /// Discards the token, because the server does not accept it.
  ///
  /// - Returns: whether a new one can be obtained.
  func reject(_ rejected: Secret?) -> Bool {
    guard let token, rejected == bearer(token) else { return false }
    self.token = nil
    return true
  }

  private func bearer(_ token: AccessToken) -> Secret { Secret("Bearer \(token.secret.text)") }

  /// Signs in as the anonymous user of before, or as a new one.
  private func signIn(_ key: Secret) async throws(FirestoreError) -> AccessToken {
    if let refresh = token?.refresh {
      let form = "grant_type=refresh_token&refresh_token=\(PercentEncoding.encode(refresh.text))"
      if let renewed = try? await request(identity.refresh, form: form, key: key) { return renewed }
    }
    return try await request(identity.signUp, json: #"{"returnSecureToken":true}"#, key: key)
  }

  private func exchange(_ key: ServiceAccountKey) async throws(FirestoreError) -> AccessToken {
    guard let assertion = key.assertion(time: Int64(Date().timeIntervalSince1970)) else {
      throw .invalidCredentials("The key of the service account cannot sign.")
    }
    let grant = PercentEncoding.encode("urn:ietf:params:oauth:grant-type:jwt-bearer")
    return try await request(key.tokenURL, form: "grant_type=\(grant)&assertion=\(assertion)")
  }

  private func request(
    _ url: HTTPURL, json: String? = nil, form: String? = nil, key: Secret? = nil
  ) async throws(FirestoreError) -> AccessToken {
    var headers = HTTPHeaders()
    headers.add(name: "Content-Type", value: json == nil ? "application/x-www-form-urlencoded" : "application/json")
    // Not in the query, because addresses appear in errors.
    if let key { headers.add(name: "X-Goog-Api-Key", value: key.text) }
    let response: HTTPResponse
    do throws(HTTPError) {
      let body = ByteBuffer(string: json ?? form ?? "")
      response = try await http.send(HTTPRequest(.POST, url, headers: headers, body: body, timeout: timeout))
    } catch {
      throw .noResponse(error)
    }
    let body = Data(response.body.readableBytesView)
    if response.statusClass == 4, response.status.code != 429 {
      throw .unauthorized(status: response.status.code, message: "the sign-in was rejected")
    }
    if let error = FirestoreResponse.error(
      status: response.status.code, body: Data(), retryAfter: response.retryAfter, about: url.path)
    {
      throw error
    }
    guard let new = AccessToken(parsing: body, now: .now) else {
      throw .invalidResponse("the sign-in returned no token")
    }
    token = new
    return new
  }
}

/// Where anonymous users sign in.
struct IdentityAddresses: Sendable {
  let signUp: HTTPURL
  let refresh: HTTPURL

  /// - Parameters:
  ///   - toolkit: for example `https://identitytoolkit.googleapis.com`.
  ///   - token: for example `https://securetoken.googleapis.com`.
  init(toolkit: String, token: String) throws(HTTPURL.ParseError) {
    signUp = try HTTPURL(toolkit + "/v1/accounts:signUp")
    refresh = try HTTPURL(token + "/v1/token")
  }
}
