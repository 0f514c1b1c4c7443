import ArgumentParser
import SignallingAdapters

/// Lists the signalling systems with an example of each.
struct SignallingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signallings", abstract: "List the signalling systems, with an example of each.")

  func run() {
    print(SignallingSystems.supported.list)
  }
}
