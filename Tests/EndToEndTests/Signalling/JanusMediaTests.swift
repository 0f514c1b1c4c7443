import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What a Janus server forwards: other codecs, and video of phones that leave turning to the receiver.
  @Suite(
    "media that a Janus server forwards",
    .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
  struct JanusMediaTests {
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
        #expect(publisher.output.contains(#""extension": "#) && !publisher.output.contains("null"))
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
          "compose", ["compose", folder.path, "-o", composed.path, "--size", "320x240", "--names", "off"])
        #expect(try await composition.ending(within: .seconds(60)) == .exit(0))
        let whole = try Recording(composed)
        // In each file, away from the changes.
        for position in [1.0, 6, 10] { #expect(try whole.corners(at: position) == "RGBY", "at \(position) s") }

        let inspection = try await scenario.start("inspect", ["inspect", folder.path])
        _ = try await inspection.ending(within: .seconds(30))
        #expect(inspection.output.contains("turned by 90° from 0:00"), "\(inspection.output)")
      }
    }
  }
}
