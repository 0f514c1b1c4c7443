import ArgumentParser
import Logging

/// Fills a room with publishers.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Fill a room with publishers that send a file or the pattern, and report the results.",
    discussion: """
      chatbot load --room 100 --publishers 50 --play samples/test.webm --duration 30s

      Each publisher has an id, a socket and a certificate of its own. They call everybody in the room, and \
      each other with --receive only. With --udp-port they take the ports from that one on. Exits with 0 only if each of them was connected to somebody.
      """)

  @OptionGroup var options: LoadOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("load", level: options.log.level)
    try await console.carryOut {
      try await Load(options: options, console: console, log: log).run()
    }
  }
}
