import Composition
import Foundation
import JSON
import Media
import Testing

@Suite("the report of a composition")
struct CompositionReportTests {
  private static let second: Int64 = 720_000

  private static func plan() throws -> CompositionPlan {
    let call = [
      RecordingFixture("a1", name: "Ann").with {
        $0.video?.gaps = [.init(reason: .lost, start: 10, end: 15)]
        $0.audio?.gaps = [.init(reason: .dtx, start: 20, end: 21)]
      },
      RecordingFixture("b1", name: "Ben\u{202E}").with { ($0.start, $0.duration, $0.video) = (30, 20, nil) },
    ]
    let list = try CallList(of: call.map(\.recording))
    return try CompositionPlan(of: try #require(list.calls.first), options: options()) { _ in [] }
  }

  private static func options(_ layout: LayoutChoice = .grid) -> CompositionOptions {
    var options = CompositionOptions(
      inputs: ["out"], output: "meeting.mp4", format: OutputFormat(container: .mp4, video: .h264, audio: .aac))
    (options.layout, options.hasChapters) = (layout, true)
    return options
  }

  @Test("it says who is there, what is shown and where, by what recordings were aligned, and who spoke")
  func report() throws {
    var scan = SoundScan(
      users: [.init(peak: 0.5, loudness: -23.04, gain: 1), .init()],
      spans: [SpeechSpan(user: 1, start: 720, end: Self.second)],
      changes: [SpeakerChange(time: Self.second / 2, user: 1)], settled: .max)
    scan.omittedSpans = 2
    let mix = SoundMixReport(
      peak: 0.891, greatestReduction: 3.14, undecodedPackets: [7, 0], problems: ["A file is short."])
    let report = CompositionReport(
      try Self.plan(), Self.options(), scan: scan, mix: mix,
      losses: [.init(tile: 0, start: Self.second, end: 2 * Self.second, cause: .decoderCrashed)], problems: ["More."])
    #expect(report.version == 1 && report.output.frames == 1_800 && report.output.videoCodec == .h264)
    #expect(report.users.map(\.label) == ["Ann", "Ben\\u{202e}"] && report.users[0].undecodedPackets == 7)
    #expect(report.users[0].peak == -6 && report.users[0].loudness == -23 && report.users[1].peak == nil)
    #expect(report.users[1].presence.map { [$0.start, $0.end] } == [[30, 50]])
    #expect(
      report.tiles[0].spans.map(\.state) == [.frames, .held, .frames] && report.tiles[0].spans[1].reason == "lost")
    #expect(report.tiles[1].spans.map(\.state) == [.name])
    #expect(report.recordings.map(\.alignment) == [.session, .session] && report.recordings.map(\.offset) == [0, 30])
    #expect(report.layout.map(\.frame) == [0, 900, 1_500])
    #expect(report.layout[0].places.map { [$0.tile, $0.x, $0.y, $0.width, $0.height] } == [[0, 0, 0, 1280, 720]])
    #expect(report.speech.map { [$0.start, $0.end] } == [[0.001, 1]] && report.speech.map(\.user) == [1])
    #expect(report.speakers.map(\.time) == [0.5] && report.speakers.map(\.user) == [1])
    #expect(report.audio?.peak == -1 && report.audio?.greatestReduction == 3.1)
    #expect(report.losses == [.init(tile: 0, start: Self.second, end: 2 * Self.second, cause: .decoderCrashed)])
    #expect(report.problems == ["More.", "A file is short.", "2 further times of speech are not listed."])
  }

  @Test("its JSON can be read again, and has no invisible characters of strangers")
  func json() throws {
    var report = CompositionReport(try Self.plan(), Self.options())
    report.room = "a\u{202E}b\u{0}"
    let text = try report.json
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .format })
    #expect(try JSONReader.decode(CompositionReport.self, from: text, within: JSONLimits(depth: 8)) == report)
  }

  @Test("the example of the document is a report")
  func document() throws {
    let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    let text = try String(contentsOf: repository.appendingPathComponent("docs/compose.md"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```json\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    let example = try #require(blocks.first { $0.contains("\"losses\"") })
    let report = try JSONReader.decode(CompositionReport.self, from: example, within: JSONLimits(depth: 8))
    #expect(report.version == CompositionReport.currentVersion && report.tiles.count == 1)
  }

  @Test("a plan as text names users, gaps, places and chapters")
  func text() throws {
    let text = try Self.plan().text(Self.options())
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first == "room 100, 1:00.000, 2 users, 1280x720 at 30 frames a second")
    for line in [
      "Ann: 0:00.000 to 1:00.000", "    0:10.000 to 0:15.000 last frame (lost)", "  audio 0:20.000 to 0:21.000 dtx",
      "    0:30.000 to 0:50.000 name (noVideo)", "frame 0, 0:00.000: tile 1 1280x720 at 0,0",
      "frame 900, 0:30.000: tile 1 638x358 at 0,180; tile 2 638x358 at 642,180",
    ] {
      #expect(lines.contains(line), "\(line) is not in \(text)")
    }
    #expect(lines.contains { $0.hasPrefix("chapter 0:00.000 ") })
  }

  @Test("a plan as text says by which clock recordings are aligned")
  func alignment() throws {
    func lines(_ session: String?) throws -> [String] {
      let list = try CallList(of: [
        RecordingFixture("ann").recording, RecordingFixture("ben").with { $0.session = session }.recording,
      ])
      let plan = try CompositionPlan(of: try #require(list.calls.first), options: Self.options()) { _ in [] }
      return plan.text(Self.options()).split(separator: "\n").map(String.init)
    }
    let exact = try lines("one")
    #expect(exact.contains("recordings aligned by the monotonic clock of one process, to 1 ms"))
    let other = try lines("two")
    #expect(other.contains("recordings aligned by wall clocks: 1 of 2, as exact as the clocks were set"))
  }

  @Test("a layout that wants somebody who is not in the call is refused")
  func nobody() throws {
    let list = try CallList(of: [RecordingFixture("a1", name: "Ann").recording])
    let call = try #require(list.calls.first)
    for layout in [LayoutChoice.only("Bob"), .presenter("Bob")] {
      let error = #expect(throws: CompositionError.self) {
        try CompositionPlan(of: call, options: Self.options(layout)) { _ in [] }
      }
      #expect(error?.kind == .usage)
    }
    _ = try CompositionPlan(of: call, options: Self.options(.only("a1"))) { _ in [] }
  }
}
