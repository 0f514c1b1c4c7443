import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What is read in composed files: the chat as subtitles.
  @Suite("text of a composed file") struct CompositionTextTests {
    /// A subtitle: its start and end in seconds, and its text.
    private struct Subtitle: Equatable {
      var start: Double
      var end: Double
      var text: String
    }

    /// Returns the subtitles of a file, as ffmpeg reads them.
    private static func subtitles(_ file: URL) throws -> [Subtitle] {
      let result = try ExternalTool.run(
        "ffmpeg", ["-v", "error", "-nostdin", "-i", file.path, "-map", "0:s:0", "-f", "srt", "-"])
      try #require(result.status == 0, "\(result.errors)")
      return result.output.replacing("\r", with: "").components(separatedBy: "\n\n").compactMap { block in
        let lines = block.split(separator: "\n").map(String.init)
        guard lines.count >= 3 else { return nil }
        let times = lines[1].components(separatedBy: " --> ").compactMap(seconds)
        guard times.count == 2 else { return nil }
        // ffmpeg marks the font of mov_text.
        let text = lines.dropFirst(2).joined(separator: "\n").replacing(/<\/?font[^>]*>/, with: "")
        return Subtitle(start: times[0], end: times[1], text: text)
      }
    }

    /// For example `00:00:02,500`.
    private static func seconds(_ text: String) -> Double? {
      let parts = text.replacing(",", with: ".").split(separator: ":").compactMap { Double($0) }
      return parts.count == 3 ? (parts[0] * 60 + parts[1]) * 60 + parts[2] : nil
    }

    @Test("the chat is a track of subtitles, at its times", arguments: ["mp4", "webm", "mkv"])
    func chat(_ ending: String) async throws {
      try await Scenario.run("38 chat in \(ending)", limit: .seconds(90)) { scenario in
        var call = RecordedCall.visits(10)
        call.users = Array(call.users.prefix(2))
        let recordings = try await scenario.record(call)
        // Bob came 1.675 s after Alice, and the file beside his recording has the same message.
        let alice = """
          {"time": 2.5, "from": "b1", "name": "Bob", "text": "Hello, is it 3 < 4?"}
          {"time": 9, "from": "a1", "name": "Alice", "text": "Bye"}

          """
        let bob = """
          {"time": 0.826, "from": "b1", "name": "Bob", "text": "Hello, is it 3 < 4?"}

          """
        try Data(alice.utf8).write(to: recordings.appendingPathComponent("Alice.chat.jsonl"))
        try Data(bob.utf8).write(to: recordings.appendingPathComponent("Bob.chat.jsonl"))
        let options = ["--size", "320x180"]
        let file = try await scenario.compose(recordings, to: "meeting.\(ending)", options)
        let found = try Self.subtitles(file)
        try #require(found.count == 2, "\(found)")
        // Containers whose times begin at zero move all by the delay of Opus.
        #expect(abs(found[0].start - 2.5) < 0.01 && abs(found[0].end - 7.5) < 0.01, "\(found[0])")
        #expect(found[0].text.contains("Hello, is it 3"), "\(found[0])")
        #expect(found[0].text.hasPrefix("Bob: "), "\(found[0])")
        #expect(abs(found[1].start - 9) < 0.01 && abs(found[1].end - 10) < 0.1, "\(found[1])")
        #expect(found[1].text == "Alice: Bye")
        let without = try await scenario.compose(recordings, to: "without.\(ending)", options + ["--no-chat"])
        let streams = try ExternalTool.run(
          "ffprobe", ["-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", without.path])
        #expect(streams.status == 0 && !streams.output.contains("subtitle"), "\(streams.output)")
      }
    }
  }
}
