import Foundation
import TestSupport
import Testing

extension EndToEnd.CheckTests {
  /// A check that injects a fault, and its expected result.
  struct FaultCase: Sendable, CustomStringConvertible {
    let name: String
    var seconds = 4
    var wait = 15
    /// The measurements whose rules fail although Chromium behaves correctly.
    var fails: [String] = []
    /// Whether the fault prevents the call.
    var preventsCall = false

    var description: String { name }
  }

  /// At most two calls with media at a time, so that each has a core.
  static let faults: [[FaultCase]] = [
    [
      // No media arrives before the rules' limits.
      FaultCase(name: "slow-answer", seconds: 3, fails: ["video.firstFrame", "audio.firstSound"]),
      FaultCase(name: "sudden-leave", seconds: 7),
    ],
    [
      FaultCase(name: "candidate-before-offer"), FaultCase(name: "padding-only"),
      FaultCase(name: "wrong-fingerprint", wait: 6, preventsCall: true),
    ],
    [FaultCase(name: "second-offer", seconds: 5), FaultCase(name: "ssrc-change", seconds: 5)],
    [FaultCase(name: "size-change", seconds: 5), FaultCase(name: "absurd-timestamps")],
  ]

  @Test("every fault is listed with the behaviour of a good app")
  func list() async throws {
    try await Scenario.run("22h list of faults") { scenario in
      let bot = try await scenario.bot("faults", ["check", "--faults"])
      #expect(try await bot.ending(within: .seconds(5)) == .exit(0))
      let listed = bot.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
      #expect(Set(listed) == Set(Self.faults.joined().map(\.name)), "each fault is tested below")
      #expect(bot.output.components(separatedBy: "A good app").count == listed.count + 1)
    }
  }

  @Test(
    "Chromium tolerates faults, the bot survives them, and the report is complete",
    .enabled(if: Machine.hasChromium))
  func faults() async throws {
    try await Scenario.run("22i faults") { scenario in
      let server = try await scenario.server()
      let browser = try await scenario.chromium()
      for group in Self.faults {
        var runs: [(fault: FaultCase, check: RunningCheck, call: CallPage)] = []
        for fault in group {
          let check = try await scenario.check(
            in: fault.name, of: server, seconds: fault.seconds,
            [
              "--play", "pattern", "--size", "320x240", "--fps", "20", "--fault", fault.name, "--wait",
              "\(fault.wait)s",
            ],
            name: fault.name)
          let call = try await scenario.call(in: browser, room: fault.name, server: server, camera: .faulty(.none))
          runs.append((fault, check, call))
        }
        for run in runs {
          let verdict = try await run.check.verdict()
          // Read before the page learns that the bot is gone, or kept by the page.
          let seen = try await run.call.reports().first
          await scenario.note(
            "measured: \(run.fault): \(verdict.json["diagnosis"].string ?? verdict.summary); Chromium showed "
              + "\(seen?.videoFramesShown ?? 0) frames")
          Self.expect(run.fault, verdict, seen)
          let errors = await run.call.page.errors
          #expect(errors == [], "\(run.fault)")
          await run.call.page.close()
        }
      }
    }
  }

  private static func expect(_ fault: FaultCase, _ verdict: CheckVerdict, _ seen: CallReport?) {
    if fault.preventsCall {
      #expect(verdict.ending == .exit(1), "\(fault)")
      #expect(verdict.json["diagnosis"].string?.isEmpty == false, "\(fault): the reason for no call is reported")
      #expect(seen?.framesDecoded ?? 0 == 0, "\(fault): no third party may decrypt the call")
      return
    }
    #expect(verdict.failed == fault.fails, .onQuietMachine("\(fault)"))
    #expect(verdict.ending == .exit(fault.fails.isEmpty ? 0 : 1), .onQuietMachine("\(fault)"))
    #expect(verdict.peer()["reached"] == "media", "\(fault)")
    let shown = seen?.videoFramesShown ?? 0
    switch fault.name {
    case "padding-only": #expect(seen?.framesDecoded ?? 0 == 0, "there is no frame to show")
    case "size-change":
      let sizes = seen?.json["tracks"].list.first { $0["kind"] == "video" }?["sizes"].list ?? []
      #expect(sizes.count >= 2, "\(fault): \(sizes)")
    default: #expect(shown > 45, .onQuietMachine("\(fault): received frames are shown"))
    }
  }
}
