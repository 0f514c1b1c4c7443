internal import Media

/// From where credentials come. The first that is there is used, in the order of the cases.
enum CredentialsSource: Sendable, Hashable, CustomStringConvertible {
  /// `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
  case environment(S3Credentials)
  /// A token in a file, for which the Security Token Service gives credentials.
  case webIdentity(tokenFile: String, role: String, session: String, service: S3Endpoint)
  /// A server of the container's platform.
  case container(url: String, token: ContainerToken?)
  case file(path: String, profile: String)

  enum ContainerToken: Sendable, Hashable {
    case text(String)
    case file(String)
  }

  /// - Parameters:
  ///   - environment: the variables of the process.
  ///   - region: that of the Security Token Service.
  ///   - hasFile: whether a file can be read.
  init(
    _ configuration: S3Configuration, environment: [String: String], region: String, hasFile: (String) -> Bool
  ) throws(S3Configuration.Problem) {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let profile = configuration.profile ?? variable("AWS_PROFILE") ?? "default"
    let file =
      configuration.credentialsFile ?? variable("AWS_SHARED_CREDENTIALS_FILE")
      ?? variable("HOME").map { "\($0)/.aws/credentials" }
    if configuration.credentialsFile != nil || configuration.profile != nil {
      guard let file else { throw S3Configuration.Problem(description: "The file of credentials is not named.") }
      self = .file(path: file, profile: profile)
    } else if let id = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") {
      guard
        let credentials = S3Credentials(
          accessKeyID: id, secretAccessKey: secret, sessionToken: variable("AWS_SESSION_TOKEN"))
      else {
        throw S3Configuration.Problem(
          description:
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN has something else than visible ASCII.")
      }
      self = .environment(credentials)
    } else if let token = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), let role = variable("AWS_ROLE_ARN") {
      self = .webIdentity(
        tokenFile: token, role: role, session: variable("AWS_ROLE_SESSION_NAME") ?? "chatbot",
        service: try Self.securityTokenService(variable("AWS_ENDPOINT_URL_STS"), region: region))
    } else if let file, variable("AWS_PROFILE") != nil || hasFile(file) {
      self = .file(path: file, profile: profile)
    } else if let url = try Self.containerURL(
      full: variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
      relative: variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
    {
      self = .container(
        url: url,
        token: variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map { .file($0) }
          ?? variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map { .text($0) })
    } else if let file {
      // It may be written later.
      self = .file(path: file, profile: profile)
    } else {
      throw S3Configuration.Problem(
        description: "There are no credentials: neither variables such as AWS_ACCESS_KEY_ID nor a file.")
    }
  }

  private static func securityTokenService(_ url: String?, region: String) throws(S3Configuration.Problem) -> S3Endpoint
  {
    guard let url else {
      return S3Endpoint(host: "sts.\(region).\(S3Addressing.domain(ofRegion: region))")
    }
    guard let endpoint = S3Endpoint(url) else {
      throw S3Configuration.Problem(description: "AWS_ENDPOINT_URL_STS is no URL of a server.")
    }
    return endpoint
  }

  /// The hosts to which a token may go without encryption: this machine, and those of ECS and EKS.
  private static let unencryptedHosts: Set = [
    "localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
  ]

  private static func containerURL(full: String?, relative: String?) throws(S3Configuration.Problem) -> String? {
    guard let url = relative.map({ "http://169.254.170.2\($0)" }) ?? full else { return nil }
    let scheme = url.utf8.starts(with: "https://".utf8) ? 8 : 7
    let rest = url.utf8.dropFirst(scheme)
    let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), url.utf8.count <= 2_000,
      let endpoint = S3Endpoint(String(url[..<end])),
      endpoint.isEncrypted || unencryptedHosts.contains(endpoint.host)
    else {
      throw S3Configuration.Problem(
        description:
          "The URL of container credentials must be https, or http with an address of this machine, of ECS or of EKS.")
    }
    return url
  }

  var description: String {
    switch self {
    case .environment: "the environment"
    case .webIdentity(let file, let role, _, _): "a web identity token (\(file.printable()), \(role.printable()))"
    case .container: "the server of the container"
    case .file(let path, let profile): "the profile \(profile.printable()) in \(path.printable())"
    }
  }
}
