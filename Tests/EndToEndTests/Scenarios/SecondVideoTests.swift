import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// A browser that sends a second video beside its camera, as a shared screen.
  @Suite("a second video of a browser") struct SecondVideoTests {
    @Test(
      "Chromium shares a second video in mid-call, stops and shares again: two aligned recordings have every frame",
      .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await Scenario.run("second video of Chromium") { scenario in
        try await share(in: scenario.chromium(), scenario)
      }
    }

    @Test(
      "Firefox shares a second video in mid-call, stops and shares again: two aligned recordings have every frame",
      .enabled(if: Machine.hasFirefox))
    func firefox() async throws {
      try await Scenario.run("second video of Firefox", isolated: true) { scenario in
        try await share(in: scenario.firefox(), scenario)
      }
    }

    @Test("both videos of Chromium come back in loopback, each in its section", .enabled(if: Machine.hasChromium))
    func loopback() async throws {
      try await Scenario.run("second video in loopback") { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "100", of: server, ["--loopback"])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        try await call.connected()
        _ = try await call.page.evaluate(try Pages.script("second-video"))
        _ = try await call.page.evaluate("secondVideo.start()")
        let decoded = try await eventually("two videos in Chromium", within: .seconds(15)) {
          let frames = try await call.page.evaluate(Self.decodedFrames).list.compactMap(\.int)
          return frames.count == 2 && frames.allSatisfy { $0 > 30 } ? frames : nil
        }
        await scenario.note("frames decoded of each video: \(decoded)")
        _ = try await call.leave()
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    /// The frames of each received video that were decoded.
    private static let decodedFrames = """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then((all) => all
        .flatMap((reports) => [...reports.values()])
        .filter((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video')
        .map((entry) => entry.framesDecoded))
      """

    private func share(in browser: some Browser, _ scenario: Scenario) async throws {
      let server = try await scenario.server()
      let folder = await scenario.recordings()
      let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
      let call = try await scenario.call(in: browser, room: "100", server: server, camera: .takenFlashing)
      try await call.connected()
      _ = try await call.page.evaluate(try Pages.script("second-video"))
      var sent = 0
      for _ in 0..<2 {
        try await sleepOnEventLoop(for: .seconds(2))
        _ = try await call.page.evaluate("secondVideo.start()")
        try await sleepOnEventLoop(for: .seconds(5))
        sent += try await call.page.evaluate("secondVideo.stop()").int ?? 0
      }
      try await sleepOnEventLoop(for: .seconds(1))
      _ = try await call.leave()
      try await sleepOnEventLoop(for: .milliseconds(500))
      let end = try await bot.terminate()
      #expect(end.ending == .exit(0))

      let manifests = try folder.files("json").map { try JSON(parsing: String(contentsOf: $0, encoding: .utf8)) }
      #expect(manifests.count == 2)
      let camera = try #require(manifests.first { $0["stream"]["number"] == 1 })
      let screen = try #require(manifests.first { $0["stream"]["number"] == 2 })
      let webm = try folder.files("webm").map { try Recording($0) }
      let cameraFile = try #require(webm.first { !$0.file.lastPathComponent.hasSuffix(".2.webm") })
      let screenFile = try #require(webm.first { $0.file.lastPathComponent.hasSuffix(".2.webm") })

      let track = try #require(screen["tracks"].list.first { $0["kind"] == "video" })
      let frames = try #require(track["frames"].int)
      let read = try #require(screenFile.video).times.count
      await scenario.note("second video: \(sent) frames sent, \(frames) recorded, \(read) read by ffprobe")
      #expect(sent > 150)
      #expect(frames >= sent - 2 && frames <= sent + 2)
      #expect(track["lost"] == 0)
      #expect(track["decodeErrors"].int == 0)
      #expect(read == frames)

      // Both files show the same flashes at the same time of the process's clock.
      let offsets = try [camera, screen].map { try #require($0["session"]["offset"].double) }
      let own = try FlashesAndBeeps(in: cameraFile).flashes.map { $0 + offsets[0] }
      let shared = try FlashesAndBeeps(in: screenFile).flashes.map { $0 + offsets[1] }
      let distances = shared.compactMap { flash in own.map { flash - $0 }.min { abs($0) < abs($1) } }.sorted()
      let middle = try #require(distances.isEmpty ? nil : distances[distances.count / 2])
      await scenario.note(
        "flashes of the second video after the camera's by \(Int(middle * 1000)) ms, \(distances.count) of them")
      #expect(distances.count >= 6)
      #expect(abs(middle) < 0.040, .onQuietMachine("in milliseconds"))
    }
  }
}
