import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls with peers of other WebRTC stacks. `make interop` makes twenty calls with each, and compiles the one of Pion.
  @Suite("other WebRTC stacks") struct InteropTests {
    private static let calls = ProcessInfo.processInfo.environment["CHATBOT_INTEROP_CALLS"].flatMap(Int.init) ?? 1
    private static let stacks = InteropPeer.Stack.allCases.filter { $0 != .pion || $0.isInstalled }

    @Test("send and receive video and audio, whichever side offers", arguments: stacks, [true, false])
    func calls(stack: InteropPeer.Stack, offers: Bool) async throws {
      let role = offers ? "offers" : "answers"
      try #require(stack.isInstalled, "\(stack) is not installed; `make test` installs it")
      try await Scenario.run("27 \(stack) \(role)", limit: .seconds(30 + 15 * Self.calls)) { scenario in
        let server = try await scenario.server()
        for call in 1...Self.calls {
          try await Self.call(call, stack: stack, offers: offers, server: server, scenario: scenario)
        }
      }
    }

    @Test("a peer of aiortc that offers three videos is recorded into three recordings")
    func threeVideos() async throws {
      let stack = InteropPeer.Stack.aiortc
      try #require(stack.isInstalled, "\(stack) is not installed; `make test` installs it")
      try await Scenario.run("27 three videos of \(stack)") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "1", of: server, ["--record", folder.path])
        let peer = try await InteropPeer(
          stack, joining: "1", of: server, in: scenario, offers: true, arguments: ["3"])
        try await eventually("frames sent by \(stack)", within: .seconds(15)) {
          peer.sent.videoFrames >= 120 ? true : nil
        }
        let sent = peer.sent.videoFrames
        await peer.leave()
        try await sleepOnEventLoop(for: .milliseconds(300))
        #expect(try await recorder.terminate().ending == .exit(0))
        let manifests = try folder.files("json").map { try JSON(parsing: String(contentsOf: $0, encoding: .utf8)) }
        #expect(Set(manifests.compactMap { $0["stream"]["number"].int }) == [1, 2, 3])
        let videos = manifests.compactMap { manifest in manifest["tracks"].list.first { $0["kind"] == "video" } }
        let frames = videos.compactMap { $0["frames"].int }
        await scenario.note("measured: \(sent) frames sent, recorded \(frames)")
        #expect(videos.count == 3 && frames.allSatisfy { $0 >= 25 })
        #expect(videos.allSatisfy { $0["decodeErrors"] == 0 && $0["lost"] == 0 })
        for file in folder.files("webm") { #expect(try Recording(file).decodingErrors() == "") }
      }
    }

    /// A call in which a peer sends these codecs only.
    struct CodecChoice: Sendable, CustomStringConvertible {
      var stack: InteropPeer.Stack
      var video: String
      var audio: String
      var arguments: [String] = []
      /// The kind of the file that the peer plays.
      var file = "ivf"
      var python = InteropPeer.systemPython

      var description: String {
        ([stack.description] + arguments + (file == "ivf" ? [] : [file])).joined(separator: " ")
      }
    }

    private static let choices: [CodecChoice] = {
      var choices = [
        CodecChoice(stack: .aiortc, video: "h264", audio: "pcmu", arguments: ["--video", "H264", "--audio", "PCMU"]),
        CodecChoice(stack: .aiortc, video: "h264", audio: "pcma", arguments: ["--video", "H264", "--audio", "PCMA"]),
        CodecChoice(
          stack: .webrtcbin, video: "h264", audio: "pcmu", arguments: ["--video", "openh264enc", "--audio", "mulawenc"]),
        CodecChoice(stack: .webrtcbin, video: "h264", audio: "opus", arguments: ["--video", "openh264enc", "--red"]),
        CodecChoice(
          stack: .webrtcbin, video: "h264", audio: "pcma", arguments: ["--video", "x264enc", "--audio", "alawenc"]),
      ]
      // The aiortc of Debian is older than its G.722.
      if let python = ProcessInfo.processInfo.environment["CHATBOT_SOCKETIO_PYTHON4"] {
        choices.append(
          CodecChoice(
            stack: .aiortc, video: "h264", audio: "g722", arguments: ["--video", "H264", "--audio", "G722"],
            python: python))
      }
      if InteropPeer.Stack.pion.isInstalled {
        choices.append(CodecChoice(stack: .pion, video: "h264", audio: "opus", file: "h264"))
      }
      return choices
    }()

    @Test(
      "H.264, G.711, G.722 and RED of other stacks are recorded as they were sent", arguments: choices, [true, false])
    func codecs(choice: CodecChoice, offers: Bool) async throws {
      try #require(choice.stack.isInstalled, "\(choice.stack) is not installed; `make test` installs it")
      try await Scenario.run("27 \(choice) \(offers ? "offers" : "answers")") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        func startPeer() async throws -> InteropPeer {
          try await InteropPeer(
            choice.stack, joining: "1", of: server, in: scenario, offers: offers, arguments: choice.arguments,
            video: choice.file, python: choice.python)
        }
        // The second one to join sends the offer.
        let early = offers ? nil : try await startPeer()
        let recorder = try await scenario.bot(in: "1", of: server, ["--record", folder.path])
        let peer: InteropPeer
        if let early { peer = early } else { peer = try await startPeer() }
        try await eventually("frames sent by \(choice)", within: .seconds(20)) {
          peer.sent.videoFrames >= 75 && peer.sent.audioPackets >= 200 ? true : nil
        }
        await peer.leave()
        try await sleepOnEventLoop(for: .milliseconds(300))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let (video, audio) = (recorded.track("video"), recorded.track("audio"))
        let decoded = try recorded.videos.flatMap { try $0.videoFrameDigests() }.count
        await scenario.note(
          """
          measured: \(peer.sent.videoFrames) frames and \(peer.sent.audioPackets) packets sent, \
          \(video["frames"].int ?? 0) and \(audio["frames"].int ?? 0) recorded, \(decoded) decoded by FFmpeg; \
          \(video["codecs"].list)
          """)
        #expect(video["codec"].string == choice.video && audio["codec"].string == choice.audio)
        #expect(video["decodeErrors"] == 0 && audio["decodeErrors"] == 0)
        #expect(video["lost"] == 0 && audio["lost"] == 0, .onQuietMachine("nothing is lost on loopback"))
        #expect((video["frames"].int ?? 0) >= 45 && (audio["frames"].int ?? 0) >= 100)
        #expect(decoded == video["frames"].int)
        #expect(recorded.videos.first?.video?.codec == choice.video)
        for file in recorded.videos + recorded.audios { #expect(try file.decodingErrors() == "") }
      }
    }

    private static func call(
      _ number: Int, stack: InteropPeer.Stack, offers: Bool, server: Server, scenario: Scenario
    ) async throws {
      let folder = await scenario.recordings("recordings-\(number)")
      let arguments = ["--record", folder.path, "--play", BuiltProgram.sample.path, "--loop"]
      func startBot() async throws -> Bot {
        try await scenario.bot(in: "\(number)", of: server, arguments, name: "bot-\(number)")
      }
      func startPeer() async throws -> InteropPeer {
        try await InteropPeer(stack, joining: "\(number)", of: server, in: scenario, offers: offers)
      }
      let begun = ContinuousClock.now
      // The second one to join sends the offer.
      var bot = offers ? try await startBot() : nil
      let peer = try await startPeer()
      if bot == nil { bot = try await startBot() }
      let recorder = try #require(bot)
      do {
        try await eventually("video and audio at the \(stack) peer", within: .seconds(15)) {
          peer.received.videoFrames >= 20 && peer.received.audioPackets >= 50 ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(1))
      } catch {
        await scenario.note("\(stack) in call \(number): states \(peer.states), received \(peer.received)")
        await peer.leave()
        throw error
      }
      let took = ContinuousClock.now - begun
      await peer.leave()
      try await sleepOnEventLoop(for: .milliseconds(300))
      #expect(try await recorder.terminate().ending == .exit(0))

      let userRecording = try #require(try folder.userRecordings().first)
      let tracks = userRecording.manifest["tracks"].list
      let videoFrames = tracks.first { $0["kind"] == "video" } ?? .null
      let audio = tracks.first { $0["kind"] == "audio" } ?? .null
      if number == 1 || number == Self.calls {
        await scenario.note(
          """
          measured: call \(number): \(videoFrames["frames"].int ?? 0) frames of \(peer.sent.videoFrames) and \
          \(audio["frames"].int ?? 0) audio packets of \(peer.sent.audioPackets) recorded; it received \
          \(peer.received.videoFrames) and \(peer.received.audioPackets); \(took)
          """)
      }
      #expect(videoFrames["decodeErrors"] == 0 && audio["decodeErrors"] == 0)
      #expect((videoFrames["frames"].int ?? 0) >= 15 && (audio["frames"].int ?? 0) >= 50)
      #expect(videoFrames["lost"] == 0 && audio["lost"] == 0, .onQuietMachine("nothing is lost on loopback"))
      #expect(try userRecording.webm.decodingErrors() == "")
      #expect(try userRecording.ogg.ogg().isValid)
    }
  }
}
