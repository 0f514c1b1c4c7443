import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Calls with the codecs that phones, OBS and gateways send, chosen by a browser.
  @Suite("codecs of Chromium", .enabled(if: Machine.hasChromium)) struct CodecTests {
    /// What a page sends: the names in `setCodecPreferences`, and those in a manifest.
    struct Choice: Sendable, CustomStringConvertible {
      var video: (page: String, manifest: String)
      var audio: (page: [String], manifest: String)
      /// What ffprobe calls the audio.
      var stored: String

      var description: String { "\(video.page) and \(audio.page.joined(separator: " with "))" }
    }

    static let choices = [
      Choice(video: ("H264", "h264"), audio: (["red", "opus"], "opus"), stored: "opus"),
      Choice(video: ("H264", "h264"), audio: (["G722"], "g722"), stored: "adpcm_g722"),
      Choice(video: ("VP9", "vp9"), audio: (["PCMU"], "pcmu"), stored: "pcm_mulaw"),
      Choice(video: ("H264", "h264"), audio: (["PCMA"], "pcma"), stored: "pcm_alaw"),
    ]

    @Test(
      "what the browser chooses is recorded while its size changes, and FFmpeg decodes each frame that was sent",
      arguments: choices)
    func recorded(choice: Choice) async throws {
      try await Scenario.run("35 \(choice) of Chromium") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let audio = choice.audio.page.map { "'\($0)'" }.joined(separator: ", ")
        let call = try await scenario.call(
          preferring: "{ video: ['\(choice.video.page)'], audio: [\(audio)] }", room: "100", server: server,
          camera: .layeredFlashing)
        try await call.connected()
        for divisor in [1, 2, 4, 1] {
          #expect(try await call.page.evaluate("scaleVideo(\(divisor))") == "")
          try await sleepOnEventLoop(for: .seconds(2))
        }
        let report = try #require(try await call.leave().first)
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await bot.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let (video, sound) = (recorded.track("video"), recorded.track("audio"))
        let frames = video["frames"].int ?? 0
        let decoded = try recorded.videos.flatMap { try $0.videoFrameDigests() }.count
        await scenario.note(
          """
          measured: \(report.framesSent) frames and \(report.audioPacketsSent) packets sent, \(frames) and \
          \(sound["frames"].int ?? 0) recorded, \(decoded) decoded by FFmpeg; \(video["codecs"].list)
          """)
        #expect(video["codec"].string == choice.video.manifest && sound["codec"].string == choice.audio.manifest)
        #expect(video["decodeErrors"] == 0 && sound["decodeErrors"] == 0)
        #expect(video["lost"] == 0 && video["dropped"] == 0, "\(video["gapTotals"])")
        #expect(frames > 60 && frames >= report.framesSent - 3)
        #expect(decoded == frames)
        // A change of size stays in the file.
        #expect(recorded.videos.count == 1)
        #expect(recorded.videos.first?.video?.codec == choice.video.manifest)
        let stored = recorded.audios.first ?? recorded.videos.first
        #expect(stored?.audio?.codec == choice.stored)
        // With RED each packet has the one before it as well, so the payloads are about twice as long.
        let payloads = report.json["sent"]["audio"]["bytesSent"].double ?? .nan
        let copies = payloads / Double(stored?.audio?.sizes.reduce(0, +) ?? 0)
        let copied = copies > 1.5
        await scenario.note(String(format: "measured: %.2f bytes of audio sent for each one recorded", copies))
        #expect(copied == choice.audio.page.contains("red"))
        for file in recorded.videos + recorded.audios { #expect(try file.decodingErrors() == "") }
        let errors = await call.page.errors
        #expect(errors == [])
      }
    }

    @Test("H.264 of the pattern is seen by Chromium, and what Chromium sends in H.264 comes back to it in H.264")
    func shown() async throws {
      try await Scenario.run("35 H.264 to Chromium") { scenario in
        let server = try await scenario.server()
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", "pattern", "--send-codec", "h264"], name: "player")
        let mirror = try await scenario.bot(in: "200", of: server, ["--loopback"], name: "mirror")
        for (room, camera) in [("100", Camera.refused), ("200", .flashing)] {
          let call = try await scenario.call(
            preferring: "{ video: ['H264'] }", room: room, server: server, camera: camera)
          _ = try await call.firstVideoFrame()
          try await sleepOnEventLoop(for: .seconds(3))
          let codec = try await call.page.evaluate(Self.receivedCodec).string
          let report = try #require(try await call.leave().first)
          await scenario.note("room \(room): \(report.framesDecoded) frames of \(codec ?? "?") decoded")
          #expect(codec == "video/H264")
          #expect(report.framesDecoded > 30)
        }
        for bot in [player, mirror] { #expect(try await bot.terminate().ending == .exit(0)) }
      }
    }

    private static let receivedCodec = """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then(([reports]) => {
        const video = [...reports.values()].find((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video');
        return reports.get(video?.codecId)?.mimeType ?? '';
      })
      """

    @Test("a check says which codecs a browser sends, and rules about them decide")
    func checked() async throws {
      try await Scenario.run("35 check of H.264") { scenario in
        let server = try await scenario.server()
        let rules = ["video.codec == h264", "audio.codec == pcmu", "video.codec != vp8", "video.fps >= 5"]
        // The page offers: an offer of the check has only the codecs that it sends itself.
        let check = try await scenario.check(in: "100", of: server, seconds: 3, rules.flatMap { ["--expect", $0] })
        let call = try await scenario.call(
          preferring: "{ video: ['H264'], audio: ['PCMU'] }", room: "100", server: server, camera: .flashing)
        let verdict = try await check.verdict()
        await scenario.note("measured: \(verdict.summary); \(verdict.peer()["codecs"])")
        #expect(verdict.ending == .exit(0), .verdict)
        #expect(verdict.failed == [], .verdict)
        #expect(verdict.peer()["codecs"]["video"][0]["profile"].string?.hasPrefix("avc1.42") == true)
        _ = try await call.leave()
      }
    }
  }
}

extension Scenario {
  /// Starts a call of the call page in Chromium, which negotiates these codecs only.
  ///
  /// - Parameter codecs: the value of `codecPreferences` in codec-preferences.js.
  func call(
    preferring codecs: String, room: String, server: Server, camera: Camera
  ) async throws -> CallPage {
    let page = try await page(of: chromium(), camera: camera)
    try await page.addStartScript("window.codecPreferences = \(codecs);\n" + Pages.script("codec-preferences"))
    let call = CallPage(page: page, browser: "Chromium")
    try await call.enter(room: room, at: server.pageAddress)
    return call
  }
}
