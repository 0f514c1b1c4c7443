import Foundation
import TestSupport

/// Attackers with a real connection.
extension HostileAttack {
  static let programs = [giants, noise, actor]

  /// The time for a program, longer than it takes to connect.
  private static let programLimit = Duration.seconds(20)

  private static let giants = HostileAttack(name: "tiny keyframes of two large sizes", limit: programLimit) {
    target, generator in
    var generator = generator
    try await play(HostileVideo.giants(), for: .seconds(2), target, using: &generator)
  }

  private static let noise = HostileAttack(name: "frames of noise", limit: programLimit) { target, generator in
    var generator = generator
    try await play(HostileVideo.noise(using: &generator), for: .seconds(2), target, using: &generator)
  }

  /// A program that injects a fault, and is then killed or leaves properly.
  private static let actor = HostileAttack(name: "a program with fault injection", limit: programLimit) {
    target, generator in
    var generator = generator
    let acts = [
      "candidate-before-offer", "second-offer", "ssrc-change", "size-change", "absurd-timestamps", "padding-only",
      "sudden-leave", "wrong-fingerprint",
    ]
    let act = acts.randomElement(using: &generator) ?? acts[0]
    let arguments = [
      "check", "--server", target.server.address, "--room", target.room, "--for", "60s", "--wait", "60s", "--play",
      "pattern", "--size", "160x120", "--fps", "10", "--fault", act,
    ]
    try await run(arguments, for: .seconds(5), target, using: &generator)
  }

  private static func play(
    _ video: Data, for time: Duration, _ target: HostileTarget, using generator: inout SeededGenerator
  ) async throws {
    let file = target.scenario.folder.appendingPathComponent("attacker-\(generator.next()).ivf")
    try video.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let arguments = ["--server", target.server.address, "--room", target.room, "--play", file.path, "--loop"]
    try await run(arguments, for: time, target, using: &generator)
  }

  private static func run(
    _ arguments: [String], for time: Duration, _ target: HostileTarget, using generator: inout SeededGenerator
  ) async throws {
    let isPolite = Bool.random(using: &generator)
    let bot = try await target.scenario.bot("attacker", arguments + ["--bind-address", "127.0.0.1"])
    try? await sleepOnEventLoop(for: time)
    await bot.process.end(gracePeriod: isPolite ? .seconds(1) : .zero)
  }
}
