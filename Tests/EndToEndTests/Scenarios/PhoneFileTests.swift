import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Files of phones and H.264 that a browser sees.
  @Suite("files of phones") struct PhoneFileTests {
    @Test("Chromium sees a phone's MOV upright, and gets its sound in sync", .enabled(if: Machine.hasChromium))
    func upright() async throws {
      try await Scenario.run("a MOV of a phone") { scenario in
        let server = try await scenario.server()
        let file = try Self.phoneFile(in: scenario.folder)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let bot = try await scenario.bot(in: "100", of: server, ["--play", file.path])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .refused)
        _ = try await call.firstVideoFrame()
        // The browser needs some seconds to bring both in sync after it has the first sender reports.
        try await sleepOnEventLoop(for: .seconds(4))
        let playout = try await call.playoutOffsets(seconds: 4)
        let report = try #require(try await call.leave().first { $0.framesReceived > 0 })
        #expect(bot.output.contains("turned by 90°"))
        // The stored frames are 480x640; the lamp that flashes is found only in an upright one.
        #expect(report.receivedSize == "640x480")
        #expect(report.flashes.count >= 5, .onQuietMachine("measured in the page's pixels"))
        #expect(try await bot.terminate().ending == .exit(0))
        #expect(try await recorder.terminate().ending == .exit(0))

        // Where each flash and its beep are by the RTP timestamps and the sender reports, which is what the browser aligns them by.
        let recorded = try folder.onlyUser()
        let signs = try FlashesAndBeeps(in: try #require(recorded.videos.first))
        let sent = try #require(signs.offset) * 1000
        // How much older the audio is that the browser plays. It waits for the processor as well, so on a busy machine this is up to
        // half a second.
        let added = playout.sorted()[playout.count / 2]
        let seen = report.flashes.compactMap { flash in report.beeps.map { $0 - flash }.min { abs($0) < abs($1) } }
        await scenario.note(
          """
          measured: in the recording \(signs); the browser plays audio later by \(Int(added)) ms, by \
          \(Int(playout.min() ?? .nan)) to \(Int(playout.max() ?? .nan)) ms; its page hears after it sees by \
          \(seen.map { Int($0) }) ms
          """)
        #expect(recorded.manifest["alignment"]["source"] == "senderReports")
        #expect(signs.offsets.count >= 5)
        #expect(abs(sent) < 20, "audio and video are sent in sync")
      }
    }

    @Test("Chromium sees H.264 of a file as stored and of the encoder", .enabled(if: Machine.hasChromium))
    func codec() async throws {
      try await Scenario.run("H.264 to Chromium") { scenario in
        let server = try await scenario.server()
        let file = scenario.folder.appendingPathComponent("stored.mp4")
        try Self.ffmpeg(
          [
            "-i", BuiltProgram.sample.path, "-t", "4", "-c:v", "libx264", "-bf", "0", "-g", "30", "-c:a", "aac",
            file.path,
          ])
        for (room, arguments) in [
          ("file", ["--play", file.path]), ("pattern", ["--play", "pattern", "--send-codec", "h264"]),
        ] {
          let bot = try await scenario.bot(in: room, of: server, arguments)
          let call = try await scenario.call(in: scenario.chromium(), room: room, server: server, camera: .own)
          _ = try await call.firstVideoFrame()
          try await sleepOnEventLoop(for: .seconds(3))
          let codec = try await call.page.evaluate(Self.receivedCodec).string
          let report = try #require(try await call.leave().first)
          await scenario.note("\(report.framesDecoded) frames of \(codec ?? "?") decoded")
          #expect(codec == "video/H264")
          #expect(report.framesDecoded > 50)
          #expect(bot.output.contains(room == "file" ? "sent as stored" : "encoded live"))
          #expect(try await bot.terminate().ending == .exit(0))
        }
      }
    }

    @Test("a file that needs another program is refused with what is to be installed")
    func withoutProgram() async throws {
      try await Scenario.run("without chatbot-media") { scenario in
        let file = scenario.folder.appendingPathComponent("a.mp4")
        try Self.ffmpeg(["-i", BuiltProgram.sample.path, "-t", "1", "-c:v", "libx264", "-an", file.path])
        let process = try await scenario.program(
          "bot", [try BuiltProgram.path(), "--server", "ws://127.0.0.1:1", "--play", file.path],
          environment: ["CHATBOT_MEDIA": "/nowhere/chatbot-media"])
        let bot = Bot(process: process)
        #expect(try await bot.ending(within: .seconds(20)) == .exit(66))
        #expect(bot.output.contains("it needs the program chatbot-media, which make install installs"))
      }
    }

    private static let receivedCodec = """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then(([reports]) => {
        const video = [...reports.values()].find((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video');
        return reports.get(video?.codecId)?.mimeType ?? '';
      })
      """

    /// Makes what an iPhone writes: frames that lie on their side, a variable rate, AAC, and an edit list.
    private static func phoneFile(in folder: URL) throws -> URL {
      let (whole, file) = (folder.appendingPathComponent("whole.mov"), folder.appendingPathComponent("phone.mov"))
      try ffmpeg([
        "-stream_loop", "1", "-i", BuiltProgram.sample.path, "-vf", "transpose=2,select='not(eq(mod(n,7),3))'",
        "-fps_mode", "vfr", "-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "30", "-c:a", "aac", whole.path,
      ])
      try ffmpeg(["-ss", "0.4", "-i", whole.path, "-c", "copy", "-metadata:s:v", "rotate=270", file.path])
      return file
    }

    private static func ffmpeg(_ arguments: [String]) throws {
      let made = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
      guard made.status == 0 else { throw FakeCamera.NotMade(errors: made.errors) }
    }
  }
}
