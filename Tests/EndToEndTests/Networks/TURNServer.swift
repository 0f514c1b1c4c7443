import Foundation
import TestSupport

/// coturn on a host of the laboratory: TURN and STUN over UDP, TCP and TLS.
///
/// It listens at port 3478 for UDP and TCP, and for TLS at 5349 and 443. A host with a second address gives it what
/// RFC 5780 needs.
final class TURNServer: Sendable {
  enum Transport: String, CaseIterable, Sendable {
    case udp, tcp, tls
  }

  struct Options: Sendable {
    var user = "bot"
    var password = "a-password"
    var realm = "lab.example"
    /// The secret of time-limited credentials (the REST convention); nil for the user and the password above.
    var sharedSecret: String?
    /// How many allocations a user may have at a time; nil for any number.
    var userQuota: Int?
    /// How many allocations there may be at a time; nil for any number.
    var totalQuota: Int?
    /// The seconds for which a nonce is valid.
    var nonceLifetime: Int?
    /// The seconds for which an allocation lasts at most without a refresh.
    var maximumLifetime: Int?
    /// Other options of turnserver.
    var others: [String] = []
  }

  let host: LabHost
  let options: Options
  let certificate: LabCertificate
  private let lab: NetworkLab
  private let process: ChildProcess

  private init(
    host: LabHost, options: Options, certificate: LabCertificate, lab: NetworkLab, process: ChildProcess
  ) {
    self.host = host
    self.options = options
    self.certificate = certificate
    self.lab = lab
    self.process = process
  }

  /// Starts the server and waits until it accepts connections.
  static func start(on host: LabHost, of lab: NetworkLab, _ options: Options = .init()) async throws -> TURNServer {
    let certificate = try lab.authority.signing(for: host, in: lab.folder)
    return try await start(on: host, of: lab, options, certificate: certificate)
  }

  /// Starts a server with the same options, after this one was killed. It knows nothing of earlier allocations.
  func restarted() async throws -> TURNServer {
    await kill()
    return try await Self.start(on: host, of: lab, options, certificate: certificate)
  }

  func kill() async {
    await process.end()
  }

  /// The output of the server so far.
  var output: String { process.output }

  private static func start(
    on host: LabHost, of lab: NetworkLab, _ options: Options, certificate: LabCertificate
  ) async throws -> TURNServer {
    let files = lab.folder.appendingPathComponent("\(host.name)-coturn")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    var arguments = [
      "-n", "--no-cli", "--log-file", "stdout", "--simple-log", "--verbose", "--realm", options.realm,
      "--userdb", files.appendingPathComponent("database").path, "--pidfile", files.appendingPathComponent("pid").path,
      "--cert", certificate.certificate.path, "--pkey", certificate.key.path,
    ]
    let addresses = try await host.namespace.run(
      "ip -o address show scope global | awk '{ sub(\"/.*\", \"\", $4); print $4 }'"
    ).split(separator: "\n").map(String.init)
    for address in addresses { arguments += ["--listening-ip", address, "--relay-ip", address] }
    // TLS at port 443 as well. An auxiliary server recognizes it by the first byte.
    for address in [host.uplinks.first?.ipv4, host.uplinks.first?.ipv6.map({ "[\($0)]" })].compactMap(\.self) {
      arguments += ["--aux-server", "\(address):443"]
    }
    if let secret = options.sharedSecret {
      arguments += ["--use-auth-secret", "--static-auth-secret", secret]
    } else {
      arguments += ["--lt-cred-mech", "--user", "\(options.user):\(options.password)"]
    }
    if let quota = options.userQuota { arguments += ["--user-quota", "\(quota)"] }
    if let quota = options.totalQuota { arguments += ["--total-quota", "\(quota)"] }
    if let lifetime = options.nonceLifetime { arguments += ["--stale-nonce=\(lifetime)"] }
    if let lifetime = options.maximumLifetime { arguments += ["--max-allocate-lifetime", "\(lifetime)"] }
    let process = try await lab.program(
      "coturn-\(host.name)", on: host, ["turnserver"] + arguments + options.others)
    try await eventually("TURN server on \(host.name)", within: .seconds(10)) { () -> Bool? in
      guard process.isRunning else { throw NotStarted(name: "turnserver", output: process.output) }
      for port in [3478, 5349, 443] { guard await host.accepts(port: port) else { return nil } }
      return true
    }
    return TURNServer(host: host, options: options, certificate: certificate, lab: lab, process: process)
  }
}

extension TURNServer {
  /// The port that programs use for a transport: for TLS the one that every firewall lets pass.
  static func port(of transport: Transport) -> Int { transport == .tls ? 443 : 3478 }

  /// The value of `--ice-server` for STUN.
  var stunURL: String { "stun:\(host.urlHost)" }

  /// The value of `--ice-server` for TURN over a transport.
  ///
  /// - Parameter port: The default is that of `port(of:)`.
  func turnURL(_ transport: Transport, port: Int? = nil) -> String {
    let scheme = transport == .tls ? "turns" : "turn"
    let protocolName = transport == .udp ? "udp" : "tcp"
    let port = port ?? Self.port(of: transport)
    return "\(scheme):\(options.user):\(options.password)@\(host.urlHost):\(port)?transport=\(protocolName)"
  }
}
