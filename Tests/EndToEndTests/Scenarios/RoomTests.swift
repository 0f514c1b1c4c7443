import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Several participants in one room.
  @Suite("a room of four") struct RoomTests {
    @Test("two browsers and a playing bot are all recorded", .enabled(if: Machine.hasChromium && Machine.hasFirefox))
    func everybodyIsRecorded() async throws {
      try await Scenario.run("4 both browsers and a playing bot", isolated: true) { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          in: "many", of: server, ["--record", folder.path, "--media-threads", "2"])
        let player = try await scenario.bot(
          in: "many", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let chromiumBrowser = try await scenario.chromium()
        // Chromium could not resolve mDNS names: this network has no multicast.
        let firefoxBrowser = try await scenario.firefox(hidesAddresses: false)
        let chromium = try await scenario.call(
          in: chromiumBrowser, room: "many", server: server, camera: .flashing)
        let firefox = try await scenario.call(in: firefoxBrowser, room: "many", server: server, camera: .flashing)

        // Each browser has a call with the other browser, one with the player, and one with the recorder.
        for call in [chromium, firefox] { try await call.connected(3, within: .seconds(25)) }
        let chromiumID = try await chromium.joined()
        let firefoxID = try await firefox.joined()
        try await sleepOnEventLoop(for: .seconds(10))
        // In this order, because Firefox is slow to report calls that the other side has just ended.
        let firefoxCalls = try await firefox.leave()
        let chromiumCalls = try await chromium.leave()
        #expect(try await player.terminate().ending == .exit(0))
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await recorder.terminate().ending == .exit(0))

        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 3)
        for userRecording in userRecordings {
          switch userRecording.manifest["user"].string {
          case chromiumID: try await judge(userRecording, "Chromium", by: chromiumCalls, in: scenario)
          case firefoxID: try await judge(userRecording, "Firefox", by: firefoxCalls, in: scenario)
          default: try await judgePlayer(userRecording, in: scenario)
          }
        }
        for (name, calls, others) in [
          ("Chromium", chromiumCalls, firefoxCalls), ("Firefox", firefoxCalls, chromiumCalls),
        ] {
          let shown = calls.map { "\($0.videoFramesShown)" }.joined(separator: ", ")
          await scenario.note("\(name) showed \(shown) frames of the others")
          #expect(calls.count { $0.videoFramesShown > 30 } == 2, "\(name) shows the other browser and the player")
          let sent = try #require(Self.betweenBrowsers(others)).framesSent
          let seen = try #require(Self.betweenBrowsers(calls)).videoFramesShown
          #expect(Double(seen) > 0.8 * Double(sent), .onQuietMachine("\(name) shows what the other browser sent"))
        }
      }
    }

    /// The call with the fewest frames: the recorder sends none, and the player twice as many as a browser.
    private static func betweenBrowsers(_ calls: [CallReport]) -> CallReport? {
      calls.filter { $0.videoFramesShown > 0 }.min { $0.videoFramesShown < $1.videoFramesShown }
    }

    /// The recorder sends no media, so its call is the one without a frame.
    private func judge(
      _ userRecording: RecordingFolder.UserRecording, _ name: String, by calls: [CallReport], in scenario: Scenario
    ) async throws {
      let call = try #require(calls.first { $0.firstVideoFrameAt == nil }, "\(name)'s call with the recorder")
      let judgement = Judgement(userRecording: userRecording, scenario: scenario, name: name)
      try await judgement.expectGood(of: call)
      try await judgement.expectInStep()
    }

    /// A recording of a played file contains the file's frames, bit for bit.
    private func judgePlayer(_ userRecording: RecordingFolder.UserRecording, in scenario: Scenario) async throws {
      let judgement = Judgement(userRecording: userRecording, scenario: scenario, name: "the player")
      try judgement.expectValidFiles()
      try await judgement.expectInStep(within: 0.020)
      let original = try Recording(BuiltProgram.sample).videoFrameDigests()
      let recorded = try userRecording.webm.videoFrameDigests()
      let start = try #require(
        original.firstIndex(of: recorded.first ?? ""), "the first frame is from the sample")
      let expected = recorded.indices.map { original[(start + $0) % original.count] }
      let same = zip(recorded, expected).count { $0 == $1 }
      await scenario.note("the player: \(same) of \(recorded.count) recorded frames are the sample's, in order")
      #expect(same == recorded.count)
    }
  }
}
