import ArgumentParser
import BotPeer
import Console
import FoundationEssentials
import HTTPTransport
import NIOCore
import NIOPosix
import OptionValues

/// Measures what this machine can reach.
struct DiagnoseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagnose",
    abstract: "Measure what this machine can reach, and say which calls will work.",
    discussion: """
      chatbot diagnose --server wss://calls.example:8443 --ice-server stun:stun.example --ice-server turn:turn.example \
      --ice-credentials credentials

      Everything is measured at the same time: the addresses of this machine, the address translation and the firewall \
      before it, each TURN server, and the room server. Exits with 0 if a call is possible.
      """)

  @OptionGroup var options: DiagnoseOptions

  func run() async throws {
    let console = try options.log.console()
    try await console.carryOut {
      var configuration = try options.configuration()
      configuration.iceServers = try options.ice.servers().servers(for: "chatbot-diagnose")
      let diagnosis: NetworkDiagnosis
      do {
        diagnosis = try await NetworkDiagnosis.run(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
      } catch let error as Peer.StartError {
        throw CallFailure(.usage, error.description)
      }
      let report = DiagnosisReport(diagnosis)
      if options.json {
        console.result(try report.json, isWanted: true)
      } else {
        for line in DiagnosisTable(report).lines { console.result(line) }
      }
      try console.checkOutput()
      if let code = report.verdict.exitStatus { throw code.exitCode }
    }
  }
}

extension DiagnosisReport {
  /// The object as JSON, with the keys in alphabetical order.
  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

extension CallVerdict {
  /// The exit code; nil if a call is possible.
  var exitStatus: ExitStatus? {
    guard calls == .none else { return nil }
    return isServerMissing ? .serverNotReached : .notConnected
  }
}

/// The options of `chatbot diagnose`.
struct DiagnoseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The address of a room server; its scheme names the signalling system, see chatbot signallings.", valueName: "url"
    ))
  var server: String?

  @OptionGroup
  var ice: ICEServerOptions

  @Option(
    help: ArgumentHelp(
      "CA certificates in PEM to trust for TLS. (default: those of the system)", valueName: "file"), completion: .file()
  )
  var caCertificate: String?

  @Option(
    help: ArgumentHelp("The local address to send from. (default: that which the system chooses)", valueName: "address")
  )
  var bindAddress: String?

  @Option(
    help: ArgumentHelp(
      "An interface to send from to STUN and TURN servers; repeat it for several. (default: every interface)",
      valueName: "name"))
  var bindInterface: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long it may take, 1s to 5m. (default: 10s)", valueName: "time"), transform: TimeSpan.parse)
  var timeout = TimeSpan(milliseconds: 10_000)

  @Flag(help: "Print the result as one JSON object.")
  var json = false

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  @OptionGroup(title: "Output")
  var log: LogOptions

  func validate() throws {
    if let server { try AddressCheck.server(server) }
    try AddressCheck.source(bindAddress: bindAddress, bindInterfaces: bindInterface)
    if caCertificate?.isEmpty ?? false { throw ValidationError("--ca-certificate needs the name of a file.") }
    guard (1_000...300_000).contains(timeout.milliseconds) else {
      throw ValidationError("--timeout is 1s to 5m, not \(timeout).")
    }
  }

  /// What is to be measured, without the ICE servers, whose secrets are read from files.
  func configuration() throws(CallFailure) -> NetworkDiagnosis.Configuration {
    var configuration = NetworkDiagnosis.Configuration()
    if let caCertificate {
      do {
        try TLSTrust.file(caCertificate).check()
      } catch {
        throw CallFailure(.usage, error.description)
      }
      configuration.caCertificate = caCertificate
    }
    configuration.bindAddresses = bindAddress.map { [$0] } ?? []
    configuration.bindInterfaces = bindInterface
    configuration.timeout = timeout.duration
    if let server {
      configuration.roomServer = try RoomServerAddress(server: server)
      configuration.includesLoopback = try ServerSettings(address: server).isHere
    }
    return configuration
  }
}
