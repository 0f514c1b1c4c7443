import Foundation

/// A running `chatbot`.
struct Bot: Sendable {
  let process: ChildProcess

  var isRunning: Bool { process.isRunning }

  /// All that it has printed.
  var output: String { process.output }

  /// Asks it to leave and waits for its end.
  func terminate(within limit: Duration = .seconds(10)) async throws -> (
    ending: ChildProcess.EndReason, after: Duration
  ) {
    let asked = ContinuousClock.now
    process.signal(SIGTERM)
    let ending = try await process.ending(within: limit)
    return (ending, ContinuousClock.now - asked)
  }

  /// Waits for its own end.
  func ending(within limit: Duration) async throws -> ChildProcess.EndReason {
    try await process.ending(within: limit)
  }
}

/// A running `chatbot serve`.
struct Server: Sendable {
  let bot: Bot
  let port: Int

  /// What `--server` takes.
  var address: String { "ws://127.0.0.1:\(port)" }

  /// The page for people.
  var pageAddress: String { "http://127.0.0.1:\(port)/" }

  /// Ends it as a crash would.
  func kill() async throws {
    bot.process.signal(SIGKILL)
    _ = try await bot.ending(within: .seconds(5))
  }
}
