import Foundation
import Media
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls with peers of other WebRTC stacks whose frames are decoded in another order than they are shown, and whose video is AV1 or
  /// H.265.
  @Suite("newer codecs of other WebRTC stacks") struct NewerCodecInteropTests {
    /// A peer that sends the test pattern in one codec.
    struct Sender: Sendable, CustomStringConvertible {
      let description: String
      var stack = InteropPeer.Stack.webrtcbin
      var arguments: [String] = []
      /// The codec in a manifest, and ffprobe's name of it.
      var codec: (manifest: String, stored: String)
      /// Whether frames are decoded in another order than they are shown.
      var reorders = true
      var offers = true
      var isInstalled = true
    }

    private static let ffmpeg = ProcessInfo.processInfo.environment["CHATBOT_FFMPEG_PYTHON"]

    static let senders = [
      Sender(
        description: "x264enc with times of presentation", arguments: ["--video", "x264enc-reordering", "--pattern"],
        codec: ("h264", "h264")),
      Sender(
        description: "x264enc with times of decoding",
        arguments: ["--video", "x264enc-reordering", "--pattern", "--decoding-times"], codec: ("h264", "h264"),
        offers: false),
      Sender(
        description: "x265enc with times of presentation", arguments: ["--video", "x265enc", "--pattern"],
        codec: ("h265", "hevc"), offers: false),
      Sender(
        description: "x265enc with times of decoding",
        arguments: ["--video", "x265enc", "--pattern", "--decoding-times"], codec: ("h265", "hevc")),
      Sender(
        description: "AV1 of FFmpeg's RTP muxer",
        arguments: ["--video", "ffmpeg-av1", "--ffmpeg-python", ffmpeg ?? ""], codec: ("av1", "av1"), reorders: false,
        isInstalled: ffmpeg != nil),
      Sender(
        description: "HEVC of FFmpeg's RTP muxer",
        arguments: ["--video", "ffmpeg-hevc", "--ffmpeg-python", ffmpeg ?? ""], codec: ("h265", "hevc"), offers: false,
        isInstalled: ffmpeg != nil),
      Sender(
        description: "Pion with times of decoding", stack: .pion, arguments: ["--access-units"],
        codec: ("h264", "h264"),
        isInstalled: InteropPeer.Stack.pion.isInstalled),
    ].filter(\.isInstalled)

    @Test("painted numbers and times grow by one frame in what ffmpeg decodes of a recording", arguments: senders)
    func recorded(sender: Sender) async throws {
      try #require(sender.stack.isInstalled, "\(sender.stack) is not installed; `make test` installs it")
      try await Scenario.run("\(sender)") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        func startPeer() async throws -> InteropPeer {
          try await InteropPeer(
            sender.stack, joining: "1", of: server, in: scenario, offers: sender.offers, arguments: sender.arguments,
            video: "pattern.h264")
        }
        // The second one to join sends the offer.
        let early = sender.offers ? nil : try await startPeer()
        let recorder = try await scenario.bot(in: "1", of: server, ["--record", folder.path])
        let peer: InteropPeer
        if let early { peer = early } else { peer = try await startPeer() }
        do {
          try await eventually("frames sent by \(sender)", within: .seconds(12)) {
            peer.sent.videoFrames >= 90 ? true : nil
          }
        } catch {
          await scenario.note("states \(peer.states), sent \(peer.sent); see \(peer.errors.path)")
          await peer.leave()
          throw error
        }
        await peer.leave()
        try await sleepOnEventLoop(for: .milliseconds(300))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        let frames = video["frames"].int ?? 0
        let file = try #require(recorded.videos.first)
        let shown = try ShownFrames(
          of: file, size: VideoSize(width: 320, height: 240), scratch: scenario.folder)
        await scenario.note(
          """
          measured: \(peer.sent.videoFrames) frames sent, \(frames) recorded, \(shown.count) decoded by FFmpeg, \
          \(shown.numbers.first ?? -1) to \(shown.numbers.last ?? -1); \(video["codecs"].list)
          """)
        #expect(recorded.videos.count == 1)
        #expect(video["codec"].string == sender.codec.manifest && file.video?.codec == sender.codec.stored)
        #expect(file.file.pathExtension == (sender.codec.manifest == "av1" ? "webm" : "mkv"))
        #expect(video["decodeErrors"] == 0)
        #expect(video["lost"] == 0, .onQuietMachine("nothing is lost on loopback"))
        #expect(frames >= 60 && shown.count == frames)
        #expect(try file.decodingErrors() == "")
        let times = file.video?.times ?? []
        let goesBack = zip(times, times.dropFirst()).contains { $1 < $0 }
        #expect(goesBack == sender.reorders, "packets are in the order of decoding")
        shown.expectConsecutive(framesPerSecond: 15)
      }
    }

    @Test("H.265 of a file is sent as it is stored, and recorded as it was")
    func played() async throws {
      try await Scenario.run("H.265 of a file") { scenario in
        let source = scenario.folder.appendingPathComponent("pattern.mkv")
        try await scenario.makePattern(
          source, frames: 150,
          codec: ["libx265", "-preset", "ultrafast", "-x265-params", "bframes=0:keyint=30:log-level=none"],
          audio: ["libopus"])
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "1", of: server, ["--record", folder.path], name: "recorder")
        let player = try await scenario.bot(
          in: "1", of: server, ["--play", source.path, "--send-codec", "h265"], name: "player")
        try await sleepOnEventLoop(for: .seconds(6))
        #expect(try await player.terminate().ending == .exit(0))
        try await sleepOnEventLoop(for: .milliseconds(300))
        #expect(try await recorder.terminate().ending == .exit(0))
        let video = try folder.onlyUser().track("video")
        let file = try #require(try folder.onlyUser().videos.first)
        let scratch = scenario.folder
        let shown = try ShownFrames(of: file, size: VideoSize(width: 320, height: 240), scratch: scratch)
        await scenario.note(
          """
          measured: \(video["frames"].int ?? 0) frames recorded, \(shown.numbers.first ?? -1) to \
          \(shown.numbers.last ?? -1)
          """)
        #expect(video["codec"] == "h265" && file.video?.codec == "hevc")
        #expect(video["decodeErrors"] == 0 && video["lost"] == 0)
        #expect(shown.count >= 60 && shown.count == video["frames"].int)
        #expect(try file.decodingErrors() == "")
        shown.expectConsecutive(framesPerSecond: 15)
        // What is shown is what was encoded, so nothing was encoded again.
        let (stored, digests) = (try Recording(source).videoFrameDigests(), try file.videoFrameDigests())
        let changed = zip(shown.frames, digests).filter { frame, digest in
          !stored.indices.contains(frame.number ?? -1) || stored[frame.number ?? 0] != digest
        }
        #expect(changed.isEmpty && digests.count == shown.count, "\(changed.count) frames are not those of the file")
      }
    }
  }
}
