import Foundation

/// A `chatbot check` that runs.
struct RunningCheck: Sendable {
  let bot: Bot
  /// Takes the report as JSON.
  let file: URL

  /// Waits for its end and reads what it has found.
  func verdict(within limit: Duration = .seconds(40)) async throws -> CheckVerdict {
    let ending = try await bot.ending(within: limit)
    let text = try? String(contentsOf: file, encoding: .utf8)
    return CheckVerdict(ending: ending, output: bot.output, json: try text.map { try JSON(parsing: $0) } ?? .null)
  }
}

extension Scenario {
  /// Starts a check in a room and waits until it talks with the server.
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
