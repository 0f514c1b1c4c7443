import ArgumentParser
import FoundationEssentials
import SkyRTC

/// The options of `chatbot serve`, the embedded SkyRTC server with its web page.
struct ServeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The address to listen on; 0.0.0.0 or :: for all.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: ArgumentHelp("The TCP port for page and WebSocket; 0 for any free one.", valueName: "port"))
  var port: UInt16 = 3000

  @Option(
    help: ArgumentHelp("A certificate chain in PEM, for https and wss.", valueName: "file"), completion: .file())
  var tlsCertificate: String?

  @Option(help: ArgumentHelp("The certificate's private key in PEM.", valueName: "file"), completion: .file())
  var tlsKey: String?

  @Option(help: ArgumentHelp("How many users a room admits.", valueName: "count"))
  var usersPerRoom = SkyRTCServer.Limits().maximumUsersPerRoom

  @Option(
    help: ArgumentHelp(
      "How many connections one address may have, except this machine's; raise it behind a proxy on another machine.",
      valueName: "count"))
  var connectionsPerAddress = SkyRTCServer.Limits().maximumConnectionsPerAddress

  @OptionGroup
  var ice: ICEServerOptions

  @Option(
    help: ArgumentHelp(
      "An origin whose pages may join, besides the server's own, such as https://example.org; * for all; repeatable.",
      valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(
    help: ArgumentHelp(
      "A name by which pages reach this server, besides addresses and the name of the machine, without TLS; * for any; "
        + "repeatable.", valueName: "name"))
  var serverName: [String] = []

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Whether WHIP publishes into rooms at /whip/ROOM, and WHEP plays from them at /whep/ROOM."))
  var whip = true

  @Option(
    help: ArgumentHelp(
      "A file with the tokens that WHIP and WHEP require, one on each line. (default: none is required)",
      valueName: "file"), completion: .file())
  var whipTokenFile: String?

  @Flag(help: "Also carry the media of WHIP and WHEP clients over TCP where UDP does not reach them (RFC 6544).")
  var tcp = false

  @Option(help: ArgumentHelp("The TCP port for --tcp, 0 for any free one.", valueName: "port"))
  var tcpPort: UInt16 = 0

  @OptionGroup(title: "Metrics")
  var metrics: MetricsOptions

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  @OptionGroup(title: "Output")
  var log: LogOptions

  /// The certificate and key files, or nil if neither is given.
  var tls: (certificate: String, key: String)? {
    guard let tlsCertificate, let tlsKey else { return nil }
    return (tlsCertificate, tlsKey)
  }

  func validate() throws {
    guard (1...10_000).contains(usersPerRoom) else {
      throw ValidationError("--users-per-room is 1 to 10000, not \(usersPerRoom).")
    }
    guard (1...100_000).contains(connectionsPerAddress) else {
      throw ValidationError("--connections-per-address is 1 to 100000, not \(connectionsPerAddress).")
    }
    for origin in allowOrigin where origin != "*" {
      guard let url = URL(string: origin), ["http", "https"].contains(url.scheme), url.host() != nil, url.path().isEmpty
      else {
        throw ValidationError("--allow-origin is a scheme and a host, such as https://example.org, not \(origin).")
      }
    }
    for name in serverName where name != "*" {
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
      }
      guard isName, !name.isEmpty else {
        throw ValidationError(
          "--server-name is a host name without scheme and port, such as chat.example, not \(name).")
      }
    }
    if tcp, !whip { throw ValidationError("--tcp is for WHIP and WHEP, which --no-whip switches off.") }
    if tcpPort > 0, !tcp { throw ValidationError("--tcp-port needs --tcp.") }
    try AddressCheck.tcpPorts(tcpPort)
    if tcpPort > 0, tcpPort == port {
      throw ValidationError("--tcp-port needs another port than that of page and WebSocket, \(port).")
    }
    if host.isEmpty { throw ValidationError("--host needs an address.") }
    switch (tlsCertificate, tlsKey) {
    case (_?, nil): throw ValidationError("--tls-certificate needs --tls-key.")
    case (nil, _?): throw ValidationError("--tls-key needs --tls-certificate.")
    default: break
    }
  }
}
