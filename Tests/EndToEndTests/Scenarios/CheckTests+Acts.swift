import Foundation
import TestSupport
import Testing

extension EndToEnd.CheckTests {
  /// A check that injects a fault, and its expected result.
  struct Act: Sendable, CustomStringConvertible {
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
  static let acts: [[Act]] = [
    [
      // No media arrives before the rules' limits.
      Act(name: "slow-answer", seconds: 3, fails: ["video.firstFrame", "audio.firstSound"]),
      Act(name: "sudden-leave", seconds: 7),
    ],
    [
      Act(name: "candidate-before-offer"), Act(name: "padding-only"),
      Act(name: "wrong-fingerprint", wait: 6, preventsCall: true),
    ],
    [Act(name: "second-offer", seconds: 5), Act(name: "ssrc-change", seconds: 5)],
    [Act(name: "size-change", seconds: 5), Act(name: "absurd-timestamps")],
  ]

  @Test("every fault is listed with the behaviour of a good app")
  func list() async throws {
    try await Scenario.run("22h list of acts") { scenario in
      let bot = try await scenario.bot("acts", ["check", "--acts"])
      #expect(try await bot.ending(within: .seconds(5)) == .exit(0))
      let listed = bot.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
      #expect(Set(listed) == Set(Self.acts.joined().map(\.name)), "each fault is tested below")
      #expect(bot.output.components(separatedBy: "A good app").count == listed.count + 1)
    }
  }

  @Test(
    "Chromium tolerates faults, the bot survives them, and the report is complete",
    .enabled(if: Machine.hasChromium))
  func acts() async throws {
    try await Scenario.run("22i acts") { scenario in
      let server = try await scenario.server()
      let browser = try await scenario.chromium()
      for group in Self.acts {
        var runs: [(act: Act, check: RunningCheck, call: CallPage)] = []
        for act in group {
          let check = try await scenario.check(
            in: act.name, of: server, seconds: act.seconds,
            ["--play", "pattern", "--size", "320x240", "--fps", "20", "--act", act.name, "--wait", "\(act.wait)s"],
            name: act.name)
          let call = try await scenario.call(in: browser, room: act.name, server: server, camera: .faulty(.none))
          runs.append((act, check, call))
        }
        for run in runs {
          let verdict = try await run.check.verdict()
          // Read before the page learns that the bot is gone, or kept by the page.
          let seen = try await run.call.reports().first
          await scenario.note(
            "measured: \(run.act): \(verdict.json["diagnosis"].string ?? verdict.summary); Chromium showed "
              + "\(seen?.videoFramesShown ?? 0) frames")
          Self.expect(run.act, verdict, seen)
          let errors = await run.call.page.errors
          #expect(errors == [], "\(run.act)")
          await run.call.page.close()
        }
      }
    }
  }

  private static func expect(_ act: Act, _ verdict: CheckVerdict, _ seen: CallReport?) {
    if act.preventsCall {
      #expect(verdict.ending == .exit(1), "\(act)")
      #expect(verdict.json["diagnosis"].string?.isEmpty == false, "\(act): the reason for no call is reported")
      #expect(seen?.framesDecoded ?? 0 == 0, "\(act): no third party may decrypt the call")
      return
    }
    #expect(verdict.failed == act.fails, .onQuietMachine("\(act)"))
    #expect(verdict.ending == .exit(act.fails.isEmpty ? 0 : 1), .onQuietMachine("\(act)"))
    #expect(verdict.peer()["reached"] == "media", "\(act)")
    let shown = seen?.videoFramesShown ?? 0
    switch act.name {
    case "padding-only": #expect(seen?.framesDecoded ?? 0 == 0, "there is no frame to show")
    case "size-change":
      let sizes = seen?.json["tracks"].list.first { $0["kind"] == "video" }?["sizes"].list ?? []
      #expect(sizes.count >= 2, "\(act): \(sizes)")
    default: #expect(shown > 45, .onQuietMachine("\(act): received frames are shown"))
    }
  }
}
