import Foundation

/// `chatbot serve` on a host of the laboratory, over TLS at the port that every firewall lets pass.
struct LabRooms: Sendable {
  let host: LabHost
  /// Signed the server's certificate.
  let authority: LabCertificate
  let bot: Bot

  static let port = 443

  /// The URL of the call page. A browser gives a page a camera only over TLS.
  var pageAddress: String { "https://\(host.urlHost)/" }

  /// The options of a bot that joins here. It trusts the other servers of the laboratory as well.
  var options: [String] {
    ["--server", "wss://\(host.urlHost):\(Self.port)", "--ca-certificate", authority.certificate.path]
  }

  /// The options of a bot on a host. One that knows names is told the name.
  func options(on bot: LabHost) -> [String] {
    guard bot.resolver != nil else { return options }
    return ["--server", "wss://\(host.name):\(Self.port)", "--ca-certificate", authority.certificate.path]
  }

  /// Starts the server and waits until it accepts connections.
  ///
  /// - Parameter arguments: Other options, such as the ICE servers of the page.
  static func start(on host: LabHost, of lab: NetworkLab, _ arguments: [String] = []) async throws -> LabRooms {
    let certificate = try lab.authority.signing(for: host, in: lab.folder)
    let any = host.address.contains(":") ? "::" : "0.0.0.0"
    let bot = try await lab.bot(
      "rooms-\(host.name)", on: host,
      [
        "serve", "--host", any, "--port", "\(port)", "--tls-certificate", certificate.certificate.path,
        "--tls-key", certificate.key.path,
      ] + arguments)
    try await eventually("room server on \(host.name)", within: .seconds(10)) { () -> Bool? in
      guard bot.isRunning else { throw NotStarted(name: "chatbot serve", output: bot.output) }
      return await host.accepts(port: port) ? true : nil
    }
    return LabRooms(host: host, authority: lab.authority, bot: bot)
  }
}
