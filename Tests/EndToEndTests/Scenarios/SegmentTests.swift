import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Recordings with several files.
  @Suite("a recording in segments") struct SegmentTests {
    @Test(
      "segments begin with keyframes, their names sort, and no frame between them is lost or duplicated",
      .enabled(if: Machine.hasChromium))
    func segments() async throws {
      try await Scenario.run("15 segments") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        // The relay impairs nothing; it counts what was sent.
        let relay = try await scenario.relay(to: server, seed: 15)
        let recorder = try await scenario.bot(
          in: "100", of: server, via: relay, ["--record", folder.path, "--segment", "5s"])
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        try await call.connected(2)
        let browserID = try await call.joined()
        try await sleepOnEventLoop(for: .seconds(16))
        let reports = try await call.leave()
        #expect(try await player.terminate().ending == .exit(0))
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await recorder.terminate().ending == .exit(0))

        for description in folder.files("json") {
          let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
          let isBrowser = manifest["user"].string == browserID
          let name = isBrowser ? "Chromium" : "the player"
          let webms = try segments("webm", of: manifest, in: folder)
          let oggs = try segments("ogg", of: manifest, in: folder)
          try await judge(webms, oggs, manifest, name, scenario)
          let census = try #require(await relay.census(of: manifest["user"].string ?? ""))
          let ssrcs = reports.compactMap { $0.json["sent"]["video"]["ssrc"].int }.map { UInt32($0) }
          let video = isBrowser ? ssrcs.compactMap { census.sources[$0] }.first : census.mostlySent
          let sent = video?.frames.count ?? 0
          let recorded = webms.compactMap { $0.video?.times.count }.reduce(0, +)
          await scenario.note("measured: \(name): \(recorded) frames recorded of \(sent) sent")
          // The last frame may be cut off by the leave.
          #expect(recorded == sent || recorded == sent - 1, "no frame is lost or duplicated")
          if !isBrowser { try expectSample(webms) }
        }
        #expect(folder.files("json").count == 2)
      }
    }

    /// Returns the files of a kind sorted by start time, which must be the order of their names.
    private func segments(_ kind: String, of manifest: JSON, in folder: RecordingFolder) throws -> [Recording] {
      let files = manifest["files"].list.filter { $0["kind"].string == kind }
        .sorted { $0["start"].double ?? 0 < $1["start"].double ?? 0 }
      let names = files.compactMap { $0["name"].string }
      #expect(names == names.sorted(), "names sort by time")
      #expect(files.allSatisfy { $0["complete"] == true })
      return try names.map { try Recording(folder.url.appendingPathComponent($0)) }
    }

    private func judge(
      _ webms: [Recording], _ oggs: [Recording], _ manifest: JSON, _ name: String, _ scenario: Scenario
    ) async throws {
      let lengths = webms.map { String(format: "%.2f", $0.duration) }.joined(separator: " ")
      await scenario.note("measured: \(name): segments of \(lengths) s; \(oggs.count) files of audio")
      #expect(webms.count >= 3 && oggs.count >= 3, .onQuietMachine("16 s are three segments"))
      for (index, webm) in webms.enumerated() {
        let video = try #require(webm.video)
        #expect(try webm.decodingErrors() == "")
        let matroska = try webm.matroska()
        #expect(matroska.isValid && matroska.hasCues && matroska.hasDuration && matroska.hasSeekHead)
        #expect(video.keyframes.first == true, "each segment begins with a keyframe")
        #expect(min(video.first, webm.audio?.first ?? .infinity) < 0.1, "each segment begins at zero")
        if index < webms.count - 1 {
          #expect(
            webm.duration > 4.9 && webm.duration < 7, .onQuietMachine("the first keyframe after 5 s starts the next"))
        }
      }
      for ogg in oggs {
        #expect(try ogg.decodingErrors() == "")
        #expect(try ogg.ogg().isValid)
      }
      let frames = webms.compactMap { $0.video?.times.count }.reduce(0, +)
      let tracks = manifest["tracks"].list
      #expect(tracks.first { $0["kind"] == "video" }?["frames"].int == frames, "the manifest has the same count")
      // Between two segments, on the manifest's timeline, there is at most the interval between two frames of a busy browser. A
      // player that receives a keyframe request sends a keyframe at once, one tick of the media clock after its last frame.
      let starts = manifest["files"].list.filter { $0["kind"] == "webm" }.compactMap { $0["start"].double }.sorted()
      for (index, start) in starts.enumerated().dropFirst() {
        let last = starts[index - 1] + (webms[index - 1].video?.times.last ?? .nan)
        let next = start + (webms[index].video?.first ?? .nan)
        #expect(next >= last && next - last < 1, "\(next - last) s between two segments' frames")
      }
    }

    /// Checks that all segments together contain the sample's frames and audio in order.
    ///
    /// The recorder requests a keyframe at a boundary, and a player answers with all frames since its last keyframe.
    private func expectSample(_ webms: [Recording]) throws {
      for kind in ["v", "a"] {
        let original = try Recording.payloadDigests(of: BuiltProgram.sample, kind)
        let recorded = try webms.flatMap { try Recording.payloadDigests(of: $0.file, kind) }
        var next = try #require(Self.position(of: recorded, in: original), "the recorded packets are from the sample")
        var answers = 0
        var strangers = 0
        for digest in recorded {
          if digest != original[next] {
            // The keyframe before the previous frame, which may have been the last of its thirty.
            let keyframe = (next + original.count - 1) % original.count / 30 * 30
            if kind == "v", digest == original[keyframe] { answers += 1 } else { strangers += 1 }
            next = keyframe
          }
          next = (next + 1) % original.count
        }
        #expect(strangers == 0, "\(kind): all \(recorded.count) packets are those of the sample, in order")
        #expect(answers < webms.count, "at most one keyframe is requested at each boundary")
      }
    }

    /// Returns the index of the first packets in the original. Silence repeats, so several packets are compared.
    private static func position(of recorded: [String], in original: [String]) -> Int? {
      let count = min(60, recorded.count)
      return original.indices.first { start in
        (0..<count).allSatisfy { recorded[$0] == original[(start + $0) % original.count] }
      }
    }
  }
}
