public import ArgumentParser
public import BotPeer
import FoundationEssentials

/// The options of STUN and TURN servers.
struct ICEServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A STUN server that reports our public address, stun:host[:port], or a TURN server that relays to us, "
        + "turn:host[:port][?transport=tcp] or turns:host[:port]; repeatable.", valueName: "url"))
  var iceServer: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file with user:password for the TURN servers, or with both on a line of their own. (default: the variable "
        + "CHATBOT_ICE_CREDENTIALS)", valueName: "file"), completion: .file())
  var iceCredentials: String?

  @Option(
    help: ArgumentHelp(
      "A file with the secret that the TURN servers share with us, instead of a user and a password. (default: the variable "
        + "CHATBOT_TURN_SECRET)", valueName: "file"), completion: .file())
  var turnSecretFile: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long the credentials made from that secret are valid; a bot renews them in time. (default: 24h)",
      valueName: "time"), transform: TimeSpan.parse)
  var turnCredentialLifetime: TimeSpan?

  func validate() throws {
    if let turnCredentialLifetime, !(5_000...2_592_000_000).contains(turnCredentialLifetime.milliseconds) {
      throw ValidationError("--turn-credential-lifetime is 5s to 720h, not \(turnCredentialLifetime).")
    }
    for server in iceServer {
      do {
        try ICEServer(url: server).validate()
      } catch {
        throw ValidationError(error.description)
      }
    }
  }

  var settings: ICEServerSettings {
    ICEServerSettings(
      urls: iceServer, credentials: SecretFile(path: iceCredentials, variable: "CHATBOT_ICE_CREDENTIALS"),
      secret: SecretFile(path: turnSecretFile, variable: "CHATBOT_TURN_SECRET"),
      lifetime: turnCredentialLifetime?.duration ?? ICEServerSettings().lifetime)
  }
}

/// STUN and TURN servers, and where the credentials for the latter are.
struct ICEServerSettings: Sendable, Hashable {
  var urls: [String] = []
  var credentials = SecretFile(variable: "CHATBOT_ICE_CREDENTIALS")
  var secret = SecretFile(variable: "CHATBOT_TURN_SECRET")
  /// How long credentials that are made from the secret are valid.
  var lifetime: Duration = .seconds(86_400)

  /// Reads the files of credentials.
  func read() throws(CallFailure) -> ICEServerList {
    let servers = urls.map { ICEServer(url: $0) }
    guard let first = servers.first(where: \.needsCredentials) else { return ICEServerList(servers: servers) }
    if let secret = try secret.read() { return ICEServerList(servers: servers, secret: secret, lifetime: lifetime) }
    guard let text = try credentials.readText() else {
      throw CallFailure(
        .usage, "The TURN server \(first.url) needs a user and a password: --ice-credentials or --turn-secret-file.")
    }
    guard let (user, password) = Self.userAndPassword(in: text) else {
      throw CallFailure(
        .usage,
        "\(credentials.path ?? credentials.variable) must contain user:password, or the user and the password on a line each."
      )
    }
    return ICEServerList(
      servers: servers.map { $0.needsCredentials ? ICEServer(url: $0.url, username: user, credential: password) : $0 })
  }
}

extension ICEServerSettings {
  /// Returns the user and the password: from two lines, or from one with a colon between them.
  ///
  /// In one line the user ends at the first colon. Only a user name with a time (draft-uberti-behave-turn-rest-00), such as
  /// `1893456000:bot`, has a colon of its own, and its password, the base64 text of a hash, has none: it ends at the last.
  static func userAndPassword(in text: String) -> (user: String, password: String)? {
    let lines = text.split(whereSeparator: \.isNewline)
      .map { String($0.trimmingPrefix(while: \.isWhitespace)) }.map(Self.withoutTrailingSpace).filter { !$0.isEmpty }
    if lines.count == 2 { return (lines[0], lines[1]) }
    guard lines.count == 1, let line = lines.first, !line.contains(where: \.isWhitespace) else { return nil }
    let fields = line.split(separator: ":", omittingEmptySubsequences: false)
    let hasTime = fields.dropLast().contains { field in
      (9...12).contains(field.utf8.count)
        && field.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard let colon = hasTime ? line.lastIndex(of: ":") : line.firstIndex(of: ":") else { return nil }
    let (user, password) = (String(line[..<colon]), String(line[line.index(after: colon)...]))
    return user.isEmpty || password.isEmpty ? nil : (user, password)
  }

  private static func withoutTrailingSpace(_ line: String) -> String {
    var line = line
    while line.last?.isWhitespace == true { line.removeLast() }
    return line
  }
}

/// STUN and TURN servers with credentials, or with the secret to make them.
struct ICEServerList: Sendable {
  fileprivate var servers: [ICEServer]
  fileprivate var secret: String?
  fileprivate var lifetime: Duration = .zero

  /// How often credentials are renewed: when three quarters of their lifetime have passed. Nil if they do not expire.
  var renewalInterval: Duration? { secret == nil ? nil : lifetime * 3 / 4 }

  /// The servers with credentials that are valid from now.
  ///
  /// - Parameter name: who will use them, for the log of a TURN server.
  func servers(for name: String) -> [ICEServer] {
    guard let secret else { return servers }
    let expiry = Int64(Date.now.timeIntervalSince1970) + lifetime.components.seconds
    return servers.map { server in
      server.needsCredentials
        ? server.withTimeLimitedCredentials(secret: secret, name: name, expiry: expiry) : server
    }
  }
}

extension Peer.Configuration {
  /// Uses the servers, and renews their credentials.
  mutating func use(_ list: ICEServerList, for name: String) {
    iceServers = list.servers(for: name)
    iceServerRenewal = list.renewalInterval.map { .init(interval: $0) { list.servers(for: name) } }
  }
}

extension Peer.ICETransportPolicy: ExpressibleByArgument {}
