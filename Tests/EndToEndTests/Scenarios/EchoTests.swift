import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Checks whose own pattern is sent back by a page.
  @Suite("checks of returned media") struct EchoTests {
    @Test(
      "delay and frame counts match those of pages that return tracks, or frames 150 ms later without every tenth",
      .enabled(if: Machine.hasChromium))
    func account() async throws {
      try await Scenario.run("23 echo") { scenario in
        let found = try await Self.verdicts(
          [Echo(room: "tracks"), Echo(room: "later", videoFrames: "{ after: 150, leavesOut: 10 }")], in: scenario)
        let (tracks, later) = (found[0], found[1])
        #expect(tracks.verdict.failed == [], .verdict)
        #expect(tracks.verdict.ending == .exit(0), .verdict)
        for found in found { try await Self.expectAgreement(found, scenario) }
        let returned = later.verdict.peer()["returned"]
        let ratio = returned["ratio"].double ?? .nan
        // Its encoder may discard a frame more: see `expectAgreement`.
        let discarded = Double(later.unencoded) / (returned["sent"].double ?? .nan)
        #expect(
          ratio < 0.91 && ratio > 0.89 - discarded, .onQuietMachine("the page drops every tenth frame"))
        let held = later.page.delay - tracks.page.delay
        let measured = Self.delay(of: later.verdict) - Self.delay(of: tracks.verdict)
        await scenario.note(
          String(
            format: "measured: one page waits %.0f ms longer, found %.0f", held * 1000, measured * 1000))
        #expect(
          abs(measured - held) < 0.02 + (await scenario.stall) / 1000, .onQuietMachine("the page's own delay"))
      }
    }

    @Test("with 5 % loss in each direction the frame counts are still exact", .enabled(if: Machine.hasChromium))
    func loss() async throws {
      try await Scenario.run("23b echo over a bad network") { scenario in
        let found = try await Self.verdicts(
          [
            // Small enough that Chromium does not delay frames while it estimates the bandwidth.
            Echo(room: "lossy", videoFrames: "{}", size: "160x120", arguments: ["--impair", "loss=5%", "--seed", "7"])
          ], in: scenario)
        try await Self.expectAgreement(found[0], scenario)
        let impairment = found[0].verdict.peer()["connection"]["impairment"]
        for way in ["send", "receive"] {
          let share = (impairment[way]["lost"].double ?? 0) / (impairment[way]["datagrams"].double ?? 1)
          await scenario.note(String(format: "measured: %@: %.1f %% of datagrams dropped", way, 100 * share))
          #expect(abs(share - 0.05) < 0.025, "\(way)")
        }
      }
    }

    @Test("an additional delay of 100 ms on sending is measured by the receiver to 5 ms, and by no other")
    func knownDelay() async throws {
      try await Scenario.run("23c a known delay") { scenario in
        let server = try await scenario.server()
        let arguments = ["--content", "pattern", "--play", "pattern", "--size", "320x240", "--fps", "20"]
        let near = try await scenario.check(in: "two", of: server, arguments, name: "near")
        let far = try await scenario.check(
          in: "two", of: server, arguments + ["--impair", "send: delay=100ms"], name: "far")
        let (late, plain) = (try await near.verdict(), try await far.verdict())
        for verdict in [late, plain] { #expect(verdict.failed == [], .verdict) }
        let stall = await scenario.stall
        for track in ["videoDelay", "audioDelay"] {
          let delays = [late, plain].map { ($0.peer()["pattern"][track]["p50"].double ?? .nan) * 1000 }
          await scenario.note(
            String(format: "measured: %@ %.1f ms, of the delayed one %.1f ms", track, delays[1], delays[0]))
          #expect(abs(delays[0] - delays[1] - 100) < 5 + stall, .onQuietMachine("\(track)"))
        }
      }
    }

    // MARK: Pages that return media

    private struct Echo: Sendable {
      let room: String
      var videoFrames: String?
      var size = "320x240"
      var arguments: [String] = []
    }

    private struct Found: Sendable {
      let verdict: CheckVerdict
      let page: EchoReport

      /// The number of frames that the page's encoder discarded for newer ones; the last one may not be encoded yet.
      var unencoded: Int { max(0, (page.source["frames"].int ?? 0) - (page.sent["framesEncoded"].int ?? 0) - 1) }
    }

    /// Checks pages that return media at the same time, each in its own room.
    private static func verdicts(_ echoes: [Echo], in scenario: Scenario) async throws -> [Found] {
      let server = try await scenario.server()
      let browser = try await scenario.chromium()
      var runs: [(check: RunningCheck, call: CallPage)] = []
      for echo in echoes {
        let call = try await scenario.echo(in: browser, room: echo.room, server: server, videoFrames: echo.videoFrames)
        let check = try await scenario.check(
          in: echo.room, of: server,
          [
            "--content", "returned", "--play", "pattern", "--size", echo.size, "--fps", "20", "--record",
            scenario.folder.appendingPathComponent("recordings \(echo.room)").path,
          ] + echo.arguments, name: echo.room)
        runs.append((check, call))
      }
      var found: [Found] = []
      for (echo, run) in zip(echoes, runs) {
        let verdict = try await run.check.verdict()
        let report = try #require(try await run.call.page.evaluate("echo.report()").list.first)
        // Kept with the recording, to find which number was where.
        let file = scenario.folder.appendingPathComponent("\(echo.room) page.json")
        try report.text.write(to: file, atomically: true, encoding: .utf8)
        let page = EchoReport(json: report)
        let returned = verdict.peer()["returned"]
        await scenario.note("measured: \(echo.room): \(verdict.summary); \(page.description)")
        await scenario.note(
          String(
            format: "measured: %@: %d of %d returned, %d missing (by the page %d), %d twice, %d out of order; "
              + "%.1f ms after painting, %.1f ms after sending; audio after %.1f ms", echo.room,
            returned["returned"].int ?? -1, returned["sent"].int ?? -1, returned["missing"].int ?? -1,
            page.missing(of: returned["sent"].int ?? 0), returned["doubled"].int ?? -1, returned["reordered"].int ?? -1,
            delay(of: verdict) * 1000, (returned["roundTrip"]["p50"].double ?? .nan) * 1000,
            (verdict.peer()["pattern"]["audioDelay"]["p50"].double ?? .nan) * 1000))
        let errors = await run.call.page.errors
        #expect(errors == [])
        found.append(Found(verdict: verdict, page: page))
      }
      return found
    }

    /// Returns the median time from painting to the return, in seconds.
    private static func delay(of verdict: CheckVerdict) -> Double {
      verdict.peer()["pattern"]["videoDelay"]["p50"].double ?? .nan
    }

    /// Expects a check to report the delay and the frames that the page itself counted.
    private static func expectAgreement(_ found: Found, _ scenario: Scenario) async throws {
      let returned = found.verdict.peer()["returned"]
      let sent = try #require(returned["sent"].int)
      #expect(sent > 60, .onQuietMachine("at least 4 s"))
      #expect(found.page.unreadable == 0)
      let dropped = found.verdict.peer()["connection"]["video"]["framesDropped"].int ?? 0
      // If the machine stalls for a second, frames are still in flight when the check ends.
      let least = found.page.missing(of: sent) + dropped
      let missing = returned["missing"].int ?? -1
      #expect(
        missing >= least && missing <= least + found.unencoded, .onQuietMachine("exact to the frame"))
      #expect(returned["returned"].int == sent - (returned["missing"].int ?? 0))
      #expect(returned["doubled"] == 0)
      #expect(returned["reordered"] == 0)
      let added = delay(of: found.verdict) - found.page.delay - found.page.encodingTime
      #expect(abs(added) < 0.02 + (await scenario.stall) / 1000, .onQuietMachine("except for the return path"))
    }
  }
}
