import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Calls whose video is VP9, in both directions.
  @Suite("VP9 with browsers") struct VP9Tests {
    @Test("VP9 of Chromium is recorded, and each frame that it sent can be decoded", .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await Scenario.run("VP9 of Chromium") { scenario in
        let track = try await record(scenario.chromium(), scenario)
        #expect(track["hiddenLayers"] == .null)
      }
    }

    @Test("VP9 of Firefox is recorded, and each frame that it sent can be decoded", .enabled(if: Machine.hasFirefox))
    func firefox() async throws {
      try await Scenario.run("VP9 of Firefox", isolated: true) { scenario in
        _ = try await record(scenario.firefox(), scenario)
      }
    }

    @Test(
      "the spatial layers of Chromium are one frame for each picture, of which one is shown",
      .enabled(if: Machine.hasChromium))
    func layers() async throws {
      try await Scenario.run("VP9 of Chromium with layers") { scenario in
        let track = try await record(scenario.chromium(), scenario, scalability: "L3T3_KEY", seconds: 9)
        #expect((track["hiddenLayers"].int ?? 0) > 50)
      }
    }

    @Test(
      "VP9 of 10 bits of Chromium is recorded, and each frame that it sent can be decoded",
      .enabled(if: Machine.hasChromium))
    func tenBits() async throws {
      try await Scenario.run("VP9 of 10 bits of Chromium") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(
          preferring: "{ video: ['VP9 profile-id=2'] }", room: "100", server: server, camera: .flashing)
        try await call.connected()
        try await sleepOnEventLoop(for: .seconds(6))
        let report = try #require(try await call.leave().first)
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await bot.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let track = recorded.track("video")
        let sent = report.json["sent"]["video"]["framesSent"].int ?? 0
        let frames = track["frames"].int ?? 0
        await scenario.note("\(sent) frames sent, \(frames) recorded of \(track["codecs"].list)")
        #expect(track["codec"] == "vp9" && track["profile"] == "2")
        #expect(track["codecs"].list.count == 1)
        let profile = track["codecs"].list.first?["profile"].string ?? ""
        #expect(profile.hasPrefix("vp09.02.") && profile.hasSuffix(".10"))
        #expect(track["decodeErrors"] == 0 && track["unverified"] == 0 && track["lost"] == 0)
        #expect(frames > 40 && frames >= sent - 3)
        let file = try #require(recorded.videos.first)
        #expect(try file.decodingErrors() == "" && file.videoFrameDigests().count == frames)
        let format = try ExternalTool.run(
          "ffprobe",
          ["-v", "error", "-select_streams", "v", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0", file.file.path])
        #expect(format.output.hasPrefix("yuv420p10"))
      }
    }

    @Test("VP9 of the pattern is seen by Chromium", .enabled(if: Machine.hasChromium))
    func published() async throws {
      try await Scenario.run("VP9 to Chromium") { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "100", of: server, ["--play", "pattern", "--send-codec", "vp9"])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .own)
        _ = try await call.firstVideoFrame()
        try await sleepOnEventLoop(for: .seconds(3))
        let codec = try await call.page.evaluate(Self.receivedCodec).string
        let report = try #require(try await call.leave().first)
        await scenario.note("\(report.framesDecoded) frames of \(codec ?? "?") decoded")
        #expect(codec == "video/VP9")
        #expect(report.framesDecoded > 50)
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    private static let receivedCodec = """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then(([reports]) => {
        const video = [...reports.values()].find((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video');
        return reports.get(video?.codecId)?.mimeType ?? '';
      })
      """

    /// Records a browser whose offer is answered with VP9 only; returns the video's entry of the manifest.
    private func record(
      _ browser: some Browser, _ scenario: Scenario, scalability: String? = nil, seconds: Int = 6
    ) async throws -> JSON {
      let server = try await scenario.server()
      let folder = await scenario.recordings()
      let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path, "--video-codecs", "vp9"])
      let call = try await scenario.call(
        in: browser, room: "100", server: server, camera: scalability == nil ? .flashing : .layeredFlashing)
      try await call.connected()
      if let scalability {
        let error = try await call.setScalability(scalability)
        #expect(error == "")
      }
      try await sleepOnEventLoop(for: .seconds(seconds))
      let report = try #require(try await call.leave().first)
      try await sleepOnEventLoop(for: .milliseconds(500))
      #expect(try await bot.terminate().ending == .exit(0))
      let userRecording = try #require(try folder.userRecordings().first)
      let track = try #require(userRecording.manifest["tracks"].list.first { $0["kind"] == "video" })
      let frames = track["frames"].int ?? 0
      let sent = report.json["sent"]["video"]["framesSent"].int ?? 0
      let decoded = try userRecording.webm.videoFrameDigests().count
      await scenario.note(
        """
        \(sent) frames sent, \(frames) recorded, \(decoded) decoded by FFmpeg; \
        \(track["hiddenLayers"].int ?? 0) layers hidden, sizes \(userRecording.webm.video?.width ?? 0)
        """)
      #expect(track["codec"] == "vp9")
      #expect(track["decodeErrors"] == 0 && track["lost"] == 0)
      // A keyframe follows when the layers are set. For it, Chromium discards what it has not yet sent of a frame.
      let discarded = track["gapTotals"]["senderDiscarded"]["frames"].int ?? 0
      #expect(track["dropped"].int == discarded && discarded <= 2, "\(track["gapTotals"])")
      #expect(userRecording.webm.video?.codec == "vp9")
      #expect(try userRecording.webm.decodingErrors() == "")
      #expect(decoded == frames)
      // With layers, Chromium counts each of them as a frame.
      #expect(frames > 40 && (scalability != nil || frames >= sent - 3))
      return track
    }
  }
}
