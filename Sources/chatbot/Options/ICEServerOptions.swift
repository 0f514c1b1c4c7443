public import ArgumentParser
public import BotPeer
import FoundationEssentials
import OptionValues
import Signalling

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

  /// Reads the files of credentials.
  func servers() throws(CallFailure) -> ICEServerList {
    let servers = iceServer.map { ICEServer(url: $0) }
    guard let first = servers.first(where: \.needsCredentials) else { return ICEServerList(servers) }
    if let secret = try SecretFile(path: turnSecretFile, variable: "CHATBOT_TURN_SECRET").value() {
      return ICEServerList(servers, secret: secret, lifetime: turnCredentialLifetime?.duration ?? .seconds(86_400))
    }
    let credentials = SecretFile(path: iceCredentials, variable: "CHATBOT_ICE_CREDENTIALS")
    guard let text = try credentials.text() else {
      throw CallFailure(
        .usage, "The TURN server \(first.url) needs a user and a password: --ice-credentials or --turn-secret-file.")
    }
    guard let (user, password) = UserAndPassword.parse(text) else {
      throw CallFailure(
        .usage,
        "\(credentials.path ?? credentials.variable) must contain user:password, or the user and the password on a line each."
      )
    }
    return ICEServerList(
      servers.map { $0.needsCredentials ? ICEServer(url: $0.url, username: user, credential: password) : $0 })
  }
}

/// Secrets for commands, whose failures have an exit code.
extension SecretFile {
  func value() throws(CallFailure) -> String? {
    do { return try read() } catch { throw CallFailure(.usage, error.sentence) }
  }

  func text() throws(CallFailure) -> String? {
    do { return try readText() } catch { throw CallFailure(.usage, error.sentence) }
  }
}

extension Peer.ICETransportPolicy: ExpressibleByArgument {}
