import Foundation

/// A running `chatbot`.
struct Bot: Sendable {
  let process: ChildProcess

  var isRunning: Bool { process.isRunning }

  /// The output so far.
  var output: String { process.output }

  /// Sends SIGTERM and waits for the end.
  func terminate(within limit: Duration = .seconds(10)) async throws -> (
    ending: ChildProcess.EndReason, after: Duration
  ) {
    let asked = ContinuousClock.now
    process.signal(SIGTERM)
    let ending = try await process.ending(within: limit)
    return (ending, ContinuousClock.now - asked)
  }

  /// Waits until the bot ends by itself.
  func ending(within limit: Duration) async throws -> ChildProcess.EndReason {
    try await process.ending(within: limit)
  }
}

/// A running `chatbot serve`.
struct Server: Sendable {
  let bot: Bot
  let port: Int

  /// The value for `--server`.
  var address: String { "ws://127.0.0.1:\(port)" }

  /// The URL of the call page.
  var pageAddress: String { "http://127.0.0.1:\(port)/" }

  /// Kills the server, as a crash would.
  func kill() async throws {
    bot.process.signal(SIGKILL)
    _ = try await bot.ending(within: .seconds(5))
  }
}
