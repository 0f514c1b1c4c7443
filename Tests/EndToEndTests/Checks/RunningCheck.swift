import Foundation

/// A running `chatbot check`.
struct RunningCheck: Sendable {
  let bot: Bot
  /// The file of the JSON report.
  let file: URL

  /// Waits for the end of the check and reads its report.
  func verdict(within limit: Duration = .seconds(40)) async throws -> CheckVerdict {
    let ending = try await bot.ending(within: limit)
    let text = try? String(contentsOf: file, encoding: .utf8)
    return CheckVerdict(ending: ending, output: bot.output, json: try text.map { try JSON(parsing: $0) } ?? .null)
  }
}

extension Scenario {
  /// Starts a check in a room and waits until it has connected to the server.
  func check(
    in room: String, of server: Server, seconds: Int = 6, _ arguments: [String] = [], name: String = "check"
  ) async throws -> RunningCheck {
    let file = folder.appendingPathComponent("\(name).json")
    let before = network.connections(to: server.port)
    let bot = try bot(
      name,
      [
        "check", "--server", server.address, "--room", room, "--for", "\(seconds)s", "--wait", "20s", "--json",
        file.path,
      ] + arguments)
    try await eventually("connection of \(name) with the server", within: .seconds(10), every: .milliseconds(20)) {
      guard bot.isRunning else { throw NotStarted(name: name, output: bot.output) }
      return network.connections(to: server.port).isSubset(of: before) ? nil : true
    }
    return RunningCheck(bot: bot, file: file)
  }
}
