import ArgumentParser
import FoundationEssentials
import HTTPTransport
import Media
import OptionValues
import Signalling
import SignallingAdapters

/// The options for the room and the server; the same for every command that joins a call.
struct RoomOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The room to join. (default: the server's default room)", valueName: "name"))
  var room: String?

  @Option(
    help: ArgumentHelp(
      "The server's address, or that of a call page; its scheme names the signalling system, see chatbot signallings. (default: "
        + "\(ServerSettings.defaultAddress); the call command starts a server there if none listens)",
      valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "Our name, which others see, for \(SignallingSystems.supported.names(with: .name)). (default: "
        + "\(SignallingSettings.defaultName))", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "The user as whom we log in and whom others call, for \(SignallingSystems.supported.names(with: .user)); without --name also our "
        + "name, for \(SignallingSystems.supported.names(with: .name)).", valueName: "name"))
  var user: String?

  @Option(
    name: .customLong("call"),
    help: ArgumentHelp(
      "A user to call, for \(SignallingSystems.supported.names(with: .callees)); repeatable. Without it the bot waits to be called.",
      valueName: "name"))
  var callees: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file with the server's token, for \(SignallingSystems.supported.names(with: .token)), or with a service account, for "
        + "\(SignallingSystems.supported.names(with: .serviceAccount)). (default: the variable CHATBOT_TOKEN)",
      valueName: "file"),
    completion: .file())
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with the room's PIN, for \(SignallingSystems.supported.names(with: .pin)). (default: the variable CHATBOT_PIN)",
      valueName: "file"),
    completion: .file())
  var pinFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with the API secret of a \(SignallingSystems.supported.names(with: .apiSecret, conjunction: "or")) server. (default: the "
        + "variable CHATBOT_API_SECRET)", valueName: "file"),
    completion: .file())
  var apiSecretFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with our token for the room, for \(SignallingSystems.supported.names(with: .roomToken)). (default: the variable "
        + "CHATBOT_ROOM_TOKEN)", valueName: "file"),
    completion: .file())
  var roomTokenFile: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to wait for a server that cannot be reached: 60s. (default: 0s)", valueName: "time"),
    transform: TimeSpan.parse)
  var waitForServer: TimeSpan?

  @Flag(
    help: ArgumentHelp(
      "Follow redirects and session addresses of a \(SignallingSystems.supported.names(with: .redirects, conjunction: "or")) server to "
        + "other origins, but never into a private network that the server is not in."))
  var allowRedirects = false

  @Option(
    help: ArgumentHelp(
      "CA certificates in PEM to trust for a secure address and for TURN servers over TLS. (default: those of the system)",
      valueName: "file"), completion: .file())
  var caCertificate: String?

  @Option(help: ArgumentHelp("How many other users of the room are called and answered.", valueName: "count"))
  var maxUsers = SignallingSettings.defaultMaximumUsers

  /// The maximum length of a room name that the server accepts, in Unicode scalars.
  static let maximumRoom = 128

  /// The server and its settings, without secrets.
  func address() throws(CallFailure) -> ServerSettings {
    try ServerSettings(address: server ?? ServerSettings.defaultAddress)
  }

  /// Describes the client. Of the secrets only those are read that the system understands: other variables may be those of other
  /// programs.
  func describe(_ server: inout ServerSettings) throws(CallFailure) {
    func secret(_ option: SignallingOption, _ path: String?, _ variable: String) throws(CallFailure) -> String? {
      server.adapter.options.contains(option) ? try SecretFile(path: path, variable: variable).value() : nil
    }
    server.waitForServer = waitForServer?.duration ?? .zero
    server.signalling.room = room ?? server.signalling.room
    server.signalling.user = user
    server.signalling.name = name
    server.signalling.callees = callees
    server.signalling.token = try secret(.token, tokenFile, "CHATBOT_TOKEN")
    server.signalling.pin = try secret(.pin, pinFile, "CHATBOT_PIN")
    server.signalling.apiSecret = try secret(.apiSecret, apiSecretFile, "CHATBOT_API_SECRET")
    server.signalling.roomToken = try secret(.roomToken, roomTokenFile, "CHATBOT_ROOM_TOKEN")
    server.signalling.serviceAccountFile = tokenFile
    server.signalling.trust = caCertificate.map { .file($0) } ?? .system
    server.signalling.maximumUsers = maxUsers
    server.signalling.waitsForStream = server.waitForServer > .zero
    server.signalling.followsOtherOrigins = allowRedirects
  }

  /// Checks that the signalling system uses each option that is given for one.
  ///
  /// - Parameter namesUs: Whether a TURN server learns our name too.
  func validateOptions(of system: any SignallingAdapter, namesUs: Bool) throws(ValidationError) {
    let given: [(isGiven: Bool, name: String, meanings: Set<SignallingOption>)] = [
      (room != nil, "--room", [.room]), (name != nil, "--name", [.name]),
      (user != nil && !namesUs, "--user", [.user, .name]),
      (!callees.isEmpty, "--call", [.callees]), (tokenFile != nil, "--token-file", [.token, .serviceAccount]),
      (pinFile != nil, "--pin-file", [.pin]), (apiSecretFile != nil, "--api-secret-file", [.apiSecret]),
      (roomTokenFile != nil, "--room-token-file", [.roomToken]), (allowRedirects, "--allow-redirects", [.redirects]),
    ]
    for option in given where option.isGiven {
      let refusal = SignallingSystems.supported.refusal(of: option.name, meaning: option.meanings, by: system)
      if let refusal { throw ValidationError(refusal) }
    }
  }

  func validate() throws {
    if let room, room.isEmpty || room.unicodeScalars.count > Self.maximumRoom {
      throw ValidationError(
        "A room's name has 1 to \(Self.maximumRoom) characters, but this one has \(room.unicodeScalars.count).")
    }
    if let name, DisplayName(name) == nil || name.unicodeScalars.count > DisplayName.maximumLength {
      throw ValidationError(
        "--name has 1 to \(DisplayName.maximumLength) characters, of which at least one is visible.")
    }
    guard (1...10_000).contains(maxUsers) else { throw ValidationError("--max-users is 1 to 10000, not \(maxUsers).") }
    if let server { try AddressCheck.server(server, room: room) }
    // A server without TLS may assign TURN servers with TLS.
    if caCertificate?.isEmpty ?? false { throw ValidationError("--ca-certificate needs the name of a file.") }
    if let waitForServer, waitForServer.milliseconds > 3_600_000 {
      throw ValidationError("--wait-for-server is at most 1h.")
    }
  }
}
