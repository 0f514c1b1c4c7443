import Foundation
import TestSupport

/// Participants that join and leave a room, by a seed: playing bots, and from time to time a Chromium.
actor SoakCrowd {
  private struct Guest {
    let leave: @Sendable () async throws -> Void
    let until: ContinuousClock.Instant
  }

  private let server: Server
  private let scenario: Scenario
  private let browser: Chromium?
  private var generator = SeededGenerator(seed: 32)
  private var guests: [Guest] = []
  private var met = 0

  init(server: Server, scenario: Scenario) async throws {
    self.server = server
    self.scenario = scenario
    browser = Machine.hasChromium ? try await scenario.chromium() : nil
  }

  /// The number of participants besides the recorder.
  var count: Int { guests.count }

  /// Lets participants leave whose time is over, and sometimes adds one. Must be called each second.
  func step() async throws {
    let now = ContinuousClock.now
    for guest in guests where guest.until <= now { try await guest.leave() }
    guests.removeAll { $0.until <= now }
    guard guests.count < 4, Int.random(in: 0..<4, using: &generator) == 0 else { return }
    met += 1
    let stay = Duration.seconds(Int.random(in: 3...40, using: &generator))
    let isAbrupt = Int.random(in: 0..<3, using: &generator) == 0
    if let browser, met % 5 == 0 {
      let call = try await scenario.call(in: browser, room: "soak", server: server, camera: .flashing)
      guests.append(
        Guest(
          leave: {
            if !isAbrupt { _ = try? await call.leave() }
            await call.page.close()
          }, until: now + stay))
    } else {
      let player = try await scenario.bot(
        "player \(met)", ["--server", server.address, "--room", "soak", "--play", BuiltProgram.sample.path, "--loop"])
      guests.append(
        Guest(
          leave: {
            player.process.signal(isAbrupt ? SIGKILL : SIGTERM)
            _ = try await player.ending(within: .seconds(10))
          }, until: now + stay))
    }
  }

  /// Lets all participants leave.
  func leaveAll() async throws {
    for guest in guests { try await guest.leave() }
    guests = []
  }
}
