import Foundation
import TestSupport
import Testing

extension Scenario {
  /// What the bots of these scenarios play: a pattern that two cores encode beside a browser.
  static let smallPattern = ["--play", "pattern", "--size", "320x240", "--fps", "20"]

  /// Starts a bot with the address of any signalling system and waits until it has joined.
  func bot(
    _ name: String, at address: String, _ arguments: [String] = [], environment: [String: String] = [:],
    within limit: Duration = .seconds(10)
  ) async throws -> Bot {
    let bot = try start(name, ["--server", address] + arguments, environment: environment)
    try await joined(bot, within: limit)
    return bot
  }

  /// Starts `chatbot` with these arguments and variables.
  func start(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Bot {
    Bot(process: try program(name, [try BuiltProgram.path()] + arguments, environment: environment, folder: folder))
  }

  /// Starts a check with the address of any signalling system.
  func check(
    _ name: String = "check", at address: String, seconds: Int = 4, _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> RunningCheck {
    let file = folder.appendingPathComponent("\(name).json")
    let bot = try start(
      name,
      ["check", "--server", address, "--for", "\(seconds)s", "--wait", "20s", "--json", file.path] + arguments,
      environment: environment)
    return RunningCheck(bot: bot, file: file)
  }

  /// Waits until a bot has joined `times` times.
  func joined(_ bot: Bot, times: Int = 1, within limit: Duration = .seconds(10)) async throws {
    try await logged(" joined others=", times: times, by: bot, within: limit)
  }

  /// Waits until a bot has been connected to a user `times` times.
  func connected(_ bot: Bot, times: Int = 1, within limit: Duration = .seconds(10)) async throws {
    try await logged(" user connected ", times: times, by: bot, within: limit)
  }

  /// Waits until a bot has logged a text `times` times.
  func logged(_ text: String, times: Int = 1, by bot: Bot, within limit: Duration = .seconds(10)) async throws {
    try await eventually("“\(text)” of \(bot.process.name)", within: limit, every: .milliseconds(20)) {
      if bot.output.ranges(of: text).count >= times { return true }
      guard bot.isRunning else { throw NotStarted(name: bot.process.name, output: bot.output) }
      return nil
    }
  }

  /// Starts a server that ends with its standard input, which stays open.
  func service(_ name: String, _ command: [String], environment: [String: String] = [:]) throws -> ChildProcess {
    let input = folder.appendingPathComponent("\(name).input").path
    // A pipe that is open for writing, too, has no end. `exec` lets signals reach the program.
    let script = "[ -p \"$0\" ] || mkfifo \"$0\"; exec \"$@\" <>\"$0\""
    return try program(name, ["sh", "-c", script, input] + command, environment: environment)
  }

  /// Waits until a program accepts connections at a port.
  func listening(_ process: ChildProcess, at port: Int) async throws {
    try await eventually("\(process.name) at port \(port)", within: .seconds(15), every: .milliseconds(20)) {
      guard process.isRunning else { throw NotStarted(name: process.name, output: process.output) }
      return await network.accepts(port: port) ? true : nil
    }
  }

  // MARK: Expectations

  /// Expects that a program ended with an exit code and one sentence that has this text.
  func expectRefusal(_ bot: Bot, code: Int32, saying text: String) async throws {
    let ending = try await bot.ending(within: .seconds(15))
    let sentences = bot.output.split(separator: "\n").filter { $0.hasPrefix("chatbot: ") }
    note("ended with \(ending): \(sentences.joined(separator: " "))")
    #expect(ending == .exit(code), "\(bot.output)")
    #expect(sentences.count == 1, "it says one sentence: \(bot.output)")
    #expect(bot.output.localizedCaseInsensitiveContains(text), "\(bot.output)")
  }

  /// Expects that a system does not allow a use, which the program says before it connects.
  func expectNotAllowed(_ arguments: [String], at address: String, _ use: SignallingOutcomes.Use, name: String)
    async throws
  {
    let bot = try start(name, arguments + ["--server", address])
    let ending = try await bot.ending(within: .seconds(10))
    try #require(ending == .exit(64), "\(bot.output)")
    try #require(bot.output.contains("does not allow \(use.rawValue)"), "\(bot.output)")
  }

  /// Expects that all rules of a check held.
  func expectHeld(_ check: RunningCheck) async throws {
    let verdict = try await check.verdict()
    note("measured: \(check.bot.process.name): \(verdict.summary)")
    try #require(verdict.failed == [], .verdict)
    try #require(verdict.ending == .exit(0), .verdict)
    try #require(verdict.judged >= 10, "the default rules were judged")
  }

  /// Expects that a finished recording can be decoded and that nothing is missing in it.
  ///
  /// - Parameters:
  ///   - seconds: the least length.
  ///   - mayPause: whether the user was away in between.
  func expectGood(_ recording: RecordingFolder.UserRecording, seconds: Double, mayPause: Bool = false, name: String)
    async throws
  {
    let video = try #require(recording.webm.video)
    note(
      String(
        format: "measured: %@: %.2f s recorded, %d frames, longest pause %.0f ms, Ogg %.2f s", name,
        recording.webm.duration, video.times.count, video.longestGap * 1000, recording.ogg.duration))
    try Judgement(userRecording: recording, scenario: self, name: name).expectValidFiles()
    let stall = await self.stall / 1000
    try #require(video.times.count >= 20)
    try #require(recording.webm.duration >= seconds - stall, .onQuietMachine("\(name) is as long as the call"))
    try #require(recording.ogg.duration >= seconds - stall, .onQuietMachine("\(name) has audio as long as the call"))
    #expect(mayPause || video.longestGap < 0.5 + stall, .onQuietMachine("\(name) has no gap"))
  }
}
