import ArgumentParser
import CommandSettings
import FoundationEssentials
import Logging
import NIOCore
import OptionValues
import Service

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Serve the API and the page, and run jobs.",
    discussion: """
      SIGTERM accepts no more jobs and waits for those that run; a second one leaves them running. SIGUSR2 ends the service within \
      5 s and leaves all jobs running: the next start takes them over.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Option(
    help: ArgumentHelp(
      "The address to listen on. (default: that of the settings, else 127.0.0.1:8080)", valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "The folder of the service. (default: that of the settings, else chatbot-data)", valueName: "folder"),
    completion: .directory)
  var data: String?

  @Flag(help: "Allow plain HTTP at an address that other machines reach.")
  var plainHttp = false

  @Option(
    help: ArgumentHelp(
      "Log lines for people, or one JSON object for each. (default: that of the settings, else text)",
      valueName: "text|json"))
  var logFormat: ServiceConfiguration.Log.Format?

  @Option(help: ArgumentHelp("The log level. (default: that of the settings, else info)", valueName: "level"))
  var logLevel: ServiceConfiguration.Log.Level?

  func run() async throws {
    var configuration = try options.read()
    if let listen {
      do {
        configuration.listen = try ListenAddress(listen)
      } catch {
        throw ValidationError("\(error)")
      }
    }
    if let data { configuration.data = data }
    if plainHttp { configuration.allowsPlainHTTP = true }
    if let logFormat { configuration.log.format = logFormat }
    if let logLevel { configuration.log.level = logLevel }
    let (log, host, ownPort) = (configuration.log, configuration.listen.host, configuration.listen.port)
    LoggingSystem.bootstrap { label in
      ServiceLogHandler(
        label: label, level: Logger.Level(rawValue: log.level.rawValue) ?? .info, format: log.format)
    }
    let logger = Logger(label: "service")
    guard let program = JobProgram.find() else {
      ServiceExit.report(
        "The program chatbot was not found: it must be beside this one, in PATH, or named by CHATBOT_PROGRAM.")
      throw ServiceExit.unavailable
    }
    let scheme = configuration.tls == nil ? "http" : "https"
    let service = ServiceProgram(
      configuration: configuration, program: program, version: ProgramVersion.text, logger: logger)
    do {
      try await service.run { address in
        let listen = ListenAddress(host: host, port: UInt16(clamping: address?.port ?? Int(ownPort)))
        logger.notice("The service listens at \(scheme)://\(listen)")
      }
    } catch let failure as ServiceProgram.Failure {
      ServiceExit.report(failure.description)
      throw failure.isUsage ? ServiceExit.usage : ServiceExit.unavailable
    }
  }
}

extension ServiceConfiguration.Log.Format: ExpressibleByArgument {}
extension ServiceConfiguration.Log.Level: ExpressibleByArgument {}
