import Foundation
import Media
import TestSupport
import Testing

extension EndToEnd {
  /// Calls whose video is AV1, in both directions.
  @Suite("AV1 with browsers") struct AV1Tests {
    @Test(
      "AV1 of Chromium is recorded while its size changes, and FFmpeg decodes each frame that was sent",
      .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await Scenario.run("AV1 of Chromium") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(
          preferring: "{ video: ['AV1'] }", room: "100", server: server,
          camera: .takenPattern(width: 640, height: 480, framesPerSecond: 15))
        try await call.connected()
        for divisor in [1, 2, 1.5, 1] {
          #expect(try await call.page.evaluate("scaleVideo(\(divisor))") == "")
          try await sleepOnEventLoop(for: .seconds(2))
        }
        let report = try #require(try await call.leave().first)
        let shown = try await expectRecorded(by: bot, in: folder, atLeast: report.framesSent - 3, scenario)
        #expect(shown.sizes.contains("640x480") && Set(shown.sizes).count >= 3, "\(shown.sizes)")
        let errors = await call.page.errors
        #expect(errors == [])
      }
    }

    @Test("AV1 of Firefox is recorded, and FFmpeg decodes each frame that was sent", .enabled(if: Machine.hasFirefox))
    func firefox() async throws {
      try await Scenario.run("AV1 of Firefox", isolated: true) { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path, "--video-codecs", "av1"])
        let call = try await scenario.call(
          in: scenario.firefox(), room: "100", server: server,
          camera: .takenPattern(width: 320, height: 240, framesPerSecond: 15))
        try await call.connected()
        try await sleepOnEventLoop(for: .seconds(6))
        let report = try #require(try await call.leave().first)
        _ = try await expectRecorded(by: bot, in: folder, atLeast: report.framesSent - 3, scenario)
      }
    }

    /// A camera, and how many spatial layers Chromium makes of it with `L3T3_KEY`.
    struct Layered: Sendable, CustomStringConvertible {
      var width: Int
      var height: Int
      var framesPerSecond: Int
      var layers: Int

      var description: String { "\(width)x\(height)" }
    }

    static let layered = [
      Layered(width: 640, height: 480, framesPerSecond: 15, layers: 2),
      Layered(width: 1280, height: 720, framesPerSecond: 8, layers: 3),
    ]

    @Test(
      "the spatial layers of Chromium are one picture for each that was sent, at full size, while the size changes",
      .enabled(if: Machine.hasChromium), arguments: layered)
    func layers(camera: Layered) async throws {
      try await Scenario.run("AV1 of Chromium with layers of \(camera)") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(
          preferring: "{ video: ['AV1'] }", room: "100", server: server,
          camera: .takenPattern(
            width: camera.width, height: camera.height, framesPerSecond: camera.framesPerSecond))
        try await call.connected()
        #expect(try await call.setScalability("L3T3_KEY") == "")
        var whole: [(numbers: ClosedRange<Int>, encoded: Int)] = []
        for divisor in [1, 2, 1] {
          #expect(try await call.page.evaluate("scaleVideo(\(divisor))") == "")
          // The bitrate must first grow until it suffices for all layers.
          try await sleepOnEventLoop(for: .seconds(whole.isEmpty ? 4 : 2))
          let before = try await call.encodedVideo()
          try await sleepOnEventLoop(for: .seconds(3))
          let after = try await call.encodedVideo()
          // A frame that is being encoded was painted before.
          guard divisor == 1, after.painted > before.painted + 2 else { continue }
          whole.append((before.painted + 2...after.painted, after.encoded - before.encoded))
        }
        _ = try await call.leave()
        let shown = try await expectRecorded(by: bot, in: folder, atLeast: 30, scenario)
        for (numbers, encoded) in whole {
          let pictures = shown.frames(of: numbers)
          let sizes = Set(pictures.map { "\($0.width)x\($0.height)" })
          await scenario.note("measured: \(encoded) layers encoded of \(pictures.count) pictures, shown at \(sizes)")
          let layers = Double(encoded) / Double(max(1, pictures.count))
          #expect(
            abs(layers - Double(camera.layers)) < 0.4, .onQuietMachine("each picture has \(camera.layers) layers"))
          #expect(sizes == ["\(camera.width)x\(camera.height)"], .onQuietMachine("all layers are shown"))
        }
        #expect(whole.count == 2)
      }
    }

    /// The containers of a file in AV1.
    static let containers = ["webm", "mp4"]

    @Test(
      "AV1 of a file is sent as it is stored, and decoded by Chromium", .enabled(if: Machine.hasChromium),
      arguments: containers)
    func played(container: String) async throws {
      try await Scenario.run("AV1 of a file to Chromium, \(container)") { scenario in
        let file = scenario.folder.appendingPathComponent("pattern.\(container)")
        try await scenario.makePattern(
          file, frames: 150, codec: ["libaom-av1", "-cpu-used", "8", "-usage", "realtime", "-g", "30", "-b:v", "500k"],
          audio: ["libopus"])
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "100", of: server, ["--play", file.path, "--loop"])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .own)
        _ = try await call.firstVideoFrame()
        try await sleepOnEventLoop(for: .seconds(4))
        let (type, decoder) = try await call.videoDecoder()
        let report = try #require(try await call.leave().first)
        await scenario.note("measured: \(report.framesDecoded) frames of \(type) decoded by \(decoder)")
        #expect(type == "video/AV1")
        #expect(decoder == "dav1d")
        #expect(report.framesDecoded > 50 && report.receivedSize == "320x240")
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    /// Ends the recorder, and checks what it recorded of the only user.
    private func expectRecorded(
      by bot: Bot, in folder: RecordingFolder, atLeast least: Int, _ scenario: Scenario
    ) async throws -> ShownFrames {
      try await sleepOnEventLoop(for: .milliseconds(500))
      #expect(try await bot.terminate().ending == .exit(0))
      let recorded = try folder.onlyUser()
      let video = recorded.track("video")
      let frames = video["frames"].int ?? 0
      #expect(recorded.videos.count == 1, "a change of size stays in the file")
      let file = try #require(recorded.videos.first)
      let shown = try ShownFrames(
        of: file, size: VideoSize(width: 320, height: 240), scratch: scenario.folder)
      await scenario.note(
        """
        measured: \(frames) frames recorded, \(least) expected, \(shown.count) decoded, \(shown.numbers.count) read; \
        \(shown.sizes); \(video["codecs"].list)
        """)
      #expect(video["codec"] == "av1" && file.video?.codec == "av1")
      #expect(file.file.pathExtension == "webm")
      #expect(video["decodeErrors"] == 0 && video["lost"] == 0)
      // When layers are set, a browser discards what it has not yet sent of a frame.
      let discarded = video["gapTotals"]["senderDiscarded"]["frames"].int ?? 0
      #expect(video["dropped"].int == discarded && discarded <= 2, "\(video["gapTotals"])")
      #expect(try file.decodingErrors() == "")
      #expect(frames > 30 && frames >= least)
      #expect(shown.count == frames, "FFmpeg shows one picture for each frame")
      // Of what changes between two frames, libaom leaves out some cells where it has few bits.
      #expect(shown.numbers.count >= frames / 2, "the encoder leaves most frames readable")
      shown.expectGrowing()
      return shown
    }
  }
}

extension CallPage {
  /// How many frames the page's camera has painted, and how many its encoder has encoded, counting each spatial layer.
  fileprivate func encodedVideo() async throws -> (painted: Int, encoded: Int) {
    let counts = try await page.evaluate(
      """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then(([reports]) => {
        const video = [...reports.values()].find((entry) => entry.type === 'outbound-rtp' && entry.kind === 'video');
        return [patternCamera.drawn(), video?.framesEncoded ?? 0];
      })
      """)
    return (counts[0].int ?? 0, counts[1].int ?? 0)
  }
}
