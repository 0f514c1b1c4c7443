import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEnd {
  /// Composed files in programs that are not ours.
  @Suite("players of composed files") struct CompositionPlayerTests {
    @Test("Chromium plays and seeks MP4 and WebM", .enabled(if: Machine.hasChromium), arguments: ["mp4", "webm"])
    func chromium(_ ending: String) async throws {
      try await Scenario.run("38 Chromium \(ending)", limit: .seconds(120)) { scenario in
        let recordings = try await scenario.record(.visits(8))
        let file = try await scenario.compose(recordings, to: "meeting.\(ending)", ["--size", "640x360"])
        let browser = try await scenario.chromium()
        let page = try await scenario.page(of: browser)
        try await page.open(Pages.url("player.html").absoluteString)
        let url = try JSON.string(file.absoluteString).text
        let played = try await page.evaluate("playThrough(\(url), [0.5, 0.1, 0.9])", within: .seconds(30))
        #expect(abs((played["duration"].double ?? 0) - 8) < 0.15)
        #expect(abs((played["end"].double ?? 0) - 8) < 0.15, "to its end")
        for seek in played["seeks"].list {
          #expect(abs((seek["at"].double ?? 0) - (seek["to"].double ?? 1)) < 0.1)
          #expect(seek["hasPicture"] == true)
        }
        #expect(played["seeks"].list.count == 3)
        await page.close()
      }
    }
  }
}

extension EndToEndWithoutBrowsers {
  /// What other programs say of composed files.
  @Suite("formats of composed files") struct CompositionFormatTests {
    private static func probe(_ file: URL) throws -> JSON {
      let arguments = ["-v", "error", "-show_streams", "-show_format", "-show_chapters", "-of", "json", file.path]
      let result = try ExternalTool.run("ffprobe", arguments)
      #expect(result.status == 0 && result.errors == "", "\(result.errors)")
      return try JSON(parsing: result.output)
    }

    /// Returns the names of the boxes of an MP4.
    private static func boxes(_ file: URL) throws -> [String] {
      let bytes = [UInt8](try Data(contentsOf: file))
      var names: [String] = []
      var position = 0
      while position + 8 <= bytes.count {
        let size = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        names.append(String(decoding: bytes[position + 4..<position + 8], as: UTF8.self))
        guard size >= 8 else { break }
        position += size
      }
      return names
    }

    private static func expectDecodable(_ file: URL) throws {
      let decoded = try ExternalTool.run(
        "ffmpeg", ["-v", "warning", "-xerror", "-i", file.path, "-map", "0:v?", "-map", "0:a", "-f", "null", "-"])
      #expect(decoded.status == 0 && decoded.errors == "", "\(file.lastPathComponent): \(decoded.errors)")
    }

    @Test("an MP4 has what QuickTime demands: H.264 high in 4:2:0 as avc1, AAC-LC, and the index in front")
    func mp4() async throws {
      try await Scenario.run("38 MP4", limit: .seconds(60)) { scenario in
        let recordings = try await scenario.record(.visits(8))
        let file = try await scenario.compose(recordings, to: "meeting.mp4", ["--size", "640x360", "--chapters"])
        try Self.expectDecodable(file)
        let found = try Self.probe(file)
        let video = found["streams"].list.first { $0["codec_type"] == "video" } ?? .null
        let audio = found["streams"].list.first { $0["codec_type"] == "audio" } ?? .null
        #expect(video["codec_name"] == "h264" && video["profile"] == "High" && video["pix_fmt"] == "yuv420p")
        #expect(video["codec_tag_string"] == "avc1" && video["start_time"].double == 0)
        #expect(audio["codec_name"] == "aac" && audio["profile"] == "LC" && audio["codec_tag_string"] == "mp4a")
        #expect(audio["sample_rate"].double == 48_000 && audio["channels"].int == 2)
        let boxes = try Self.boxes(file)
        #expect(boxes.first == "ftyp")
        let (index, media) = (boxes.firstIndex(of: "moov") ?? 99, boxes.firstIndex(of: "mdat") ?? 0)
        #expect(index < media, "\(boxes)")
        // Alice, Bob and Carol come, Bob goes and comes and goes.
        #expect(found["chapters"].list.count >= 5, "\(found["chapters"])")
      }
    }

    @Test(
      "WebM and Matroska are read by mkvinfo, and have a cue for each keyframe",
      arguments: [
        ("webm", "vp9", []), ("mkv", "h264", []), ("webm", "vp8", ["--video-codec", "vp8"]),
        ("webm", "av1", ["--video-codec", "av1"]),
      ])
    func matroska(_ ending: String, _ codec: String, _ options: [String]) async throws {
      try await Scenario.run("38 \(ending) of \(codec)", limit: .seconds(120)) { scenario in
        let recordings = try await scenario.record(.visits(6))
        let file = try await scenario.compose(recordings, to: "meeting.\(ending)", ["--size", "320x180"] + options)
        try Self.expectDecodable(file)
        let found = try Self.probe(file)
        #expect(found["streams"].list.contains { $0["codec_name"].string == codec })
        #expect(found["streams"].list.contains { $0["codec_name"] == "opus" })
        let matroska = try Recording(file).matroska()
        #expect(matroska.isValid && matroska.hasCues && matroska.hasDuration, "\(matroska.output.suffix(1_000))")
      }
    }
  }
}
