import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What a Janus server forwards: other codecs, and video of phones that leave turning to the receiver.
  @Suite(
    "media that a Janus server forwards",
    .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
  struct JanusMediaTests {
    /// A codec that a room has, and how it is published and recorded.
    struct RoomCodec: Sendable, CustomTestStringConvertible {
      let name: String
      let room: String
      /// What ffmpeg makes of moving video, and the ending of the file.
      let encoding: [String]
      let ending: String
      let container: String
      let profile: String

      var testDescription: String { name }
    }

    private static let codecs = [
      RoomCodec(
        name: "vp9", room: "9",
        encoding: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0"],
        ending: "webm", container: "webm", profile: "vp09.00."),
      RoomCodec(
        name: "av1", room: "1",
        encoding: ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-lag-in-frames", "0"],
        ending: "webm", container: "webm", profile: "av01.0."),
      RoomCodec(
        name: "h265", room: "265",
        encoding: ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "bframes=0:log-level=none"],
        ending: "mkv", container: "mkv", profile: "hvc1.1."),
    ]

    @Test("a file is published in a room of its codec, and recorded from it frame by frame", arguments: codecs)
    func codec(_ codec: RoomCodec) async throws {
      try await Scenario.run("31i Janus \(codec.name)", limit: .seconds(90)) { scenario in
        let file = scenario.folder.appendingPathComponent("file.\(codec.ending)")
        let made = try ExternalTool.run(
          "ffmpeg",
          ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=20:duration=10", "-g", "40"]
            + ["-pix_fmt", "yuv420p", "-b:v", "400k"] + codec.encoding + [file.path])
        try #require(made.status == 0, "\(made.errors)")
        let sent = try Recording(file).videoFrameDigests()
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let room = ["--room", codec.room]
        let publisher = try await scenario.bot(
          "publisher", at: janus.address, room + ["--play", file.path, "--once", "--video-codecs", codec.name])
        let recorder = try await scenario.bot("recorder", at: janus.address, room + ["--record", folder.path])
        try await scenario.connected(recorder)
        _ = try await publisher.ending(within: .seconds(30))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        await scenario.note("measured: \(video["frames"].int ?? 0) frames of \(video["codecs"].list)")
        #expect(video["codec"].string == codec.name && video["decodeErrors"] == 0 && video["lost"] == 0)
        #expect(video["codecs"].list.first?["profile"].string?.hasPrefix(codec.profile) == true)
        #expect(recorded.manifest["files"].list.first?["kind"].string == codec.container)
        let only = try #require(recorded.videos.first)
        #expect(recorded.videos.count == 1)
        #expect(try only.decodingErrors() == "")
        // All frames from a keyframe on, as they were sent.
        let frames = try only.videoFrameDigests()
        #expect(frames.count >= 40 && sent.suffix(frames.count) == frames[...])
      }
    }

    @Test(
      "frames of a turned phone are recorded with their orientation, and are upright in ffmpeg and in a composition",
      .enabled(if: InteropPeer.Stack.aiortc.isInstalled || Machine.isCI))
    func orientation() async throws {
      try await Scenario.run("31h Janus and a turned phone", limit: .seconds(120)) { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let room = ["--room", "1234"]
        let recorder = try await scenario.bot("recorder", at: janus.address, room + ["--record", folder.path])
        // Turned by 90°, upright, turned by 180° and mirrored; four seconds each.
        let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/janus-publisher.py").path
        let publisher = try await scenario.service(
          "phone",
          [InteropPeer.systemPython, script, "ws://127.0.0.1:\(janus.port)", "1234", "Zoë"]
            + ["--orientations", "1,0,6", "--frames", "60"])
        try await scenario.connected(recorder, within: .seconds(20))
        try await sleepOnEventLoop(for: .seconds(12))
        #expect(publisher.output.contains(#""extension": 13"#))
        #expect(try await recorder.terminate().ending == .exit(0))

        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        let turns = video["orientations"].list.map {
          "\($0["rotation"].int ?? -1)\($0["mirrored"] == true ? " mirrored" : "")"
        }
        await scenario.note("measured: \(video["frames"].int ?? 0) frames, \(turns), \(recorded.videos.count) files")
        #expect(turns == ["90", "0", "180 mirrored"])
        #expect(recorded.videos.count == 3 && video["decodeErrors"] == 0)
        for file in recorded.videos {
          #expect(try file.corners() == "RGBY", "\(file.file.lastPathComponent) is upright")
          #expect(try file.decodingErrors() == "")
        }
        #expect(recorded.videos.map { $0.video?.width } == [320, 320, 320])

        let composed = folder.url.appendingPathComponent("composed.mp4")
        let composition = try await scenario.start(
          "compose",
          ["compose", folder.path, "-o", composed.path, "--size", "320x240", "--names", "off", "--fit", "cover"])
        #expect(try await composition.ending(within: .seconds(60)) == .exit(0))
        let whole = try Recording(composed)
        // In each file, away from the changes.
        for position in [1.0, 6, 10] { #expect(try whole.corners(at: position) == "RGBY", "at \(position) s") }

        let inspection = try await scenario.start("inspect", ["inspect", folder.path])
        _ = try await inspection.ending(within: .seconds(30))
        #expect(inspection.output.contains("turned by 90° from 0 s"), "\(inspection.output)")
      }
    }
  }
}
