import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("Templates of file names")
struct FileNameTemplateTests {
  private static let values = FileNameTemplate.Values(
    room: "Room 1/2", name: "Ann", id: "0f3a9c77-5555", stream: 2, session: "00112233445566778899aabbccddeeff",
    start: "2026-03-01T09:30:05.250Z")

  @Test(
    "each field is replaced by its value, of which safe characters are kept",
    arguments: [
      ("{date}-{room}-{name}", "2026-03-01-Room_1_2-Ann"), ("{time}_{id}.{stream}", "09-30-05_0f3a9c77-5555.2"),
      ("{session}", "00112233"), ("call", "call"), ("{name}{name}", "AnnAnn"), ("räum-{stream}", "räum-2"),
    ])
  func fields(template: String, name: String) throws {
    #expect(try FileNameTemplate(template).name(of: Self.values) == name)
  }

  @Test(
    "a hostile name makes a safe file name",
    arguments: [
      ("{name}", "../../etc/passwd", "_._.._etc_passwd"), ("{name}", "", "user"), ("{name}", "-rf", "_rf"),
      ("{name}", "CON", "_CON"),
      ("{name}", "a\u{202E}\u{0}b", "a__b"), ("{name}.", "x", "x_"), ("{name}-{date}", ".", "_-2026-03-01"),
    ])
  func hostile(template: String, name: String, result: String) throws {
    var values = Self.values
    values.name = name
    #expect(try FileNameTemplate(template).name(of: values) == result)
  }

  @Test("a user without a name has the id, and a name has at most 140 bytes however long the values are")
  func lengths() throws {
    var values = Self.values
    values.name = nil
    #expect(try FileNameTemplate("{name}").name(of: values) == "0f3a9c77-5555")
    values.name = String(repeating: "é", count: 4_096)
    values.room = String(repeating: "x", count: 4_096)
    let name = try FileNameTemplate("{room}-{name}-{id}-{room}-{name}").name(of: values)
    #expect(name.utf8.count <= 140 && name.hasPrefix(String(repeating: "x", count: 48) + "-éé"))
  }

  @Test(
    "what is no template is rejected with one sentence",
    arguments: [
      "", "{nam}", "{}", "{name", "name}", "a/b", "a b", ".hidden-{name}", "-{name}", "a\u{0}", "{Name}", "a:b",
      String(repeating: "x", count: 201), "{\u{202E}}",
    ])
  func rejected(text: String) {
    let error = #expect(throws: FileNameTemplate.ParseError.self) { try FileNameTemplate(text) }
    let sentence = error?.description ?? ""
    #expect(sentence.hasSuffix(".") && !sentence.contains("\u{202E}") && sentence.utf8.count < 300, "\(sentence)")
  }

  private func record(_ template: String, in folder: TestFolder, names: [String?]) async throws -> [RecordingSummary] {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.fileName = try FileNameTemplate(template)
    configuration.usesSystemClock = false
    configuration.session = RecordingSession(
      clock: WallClock(moment: Script.beginning, secondsSince1970: TestFolder.wallClock))
    let recorder = try RoomRecorder(configuration)
    let tone = try TestMedia.tone(0.3)
    var last = Script.beginning
    for (index, name) in names.enumerated() {
      var script = Script("user\(index)")
      script.add(tone, codec: .opus)
      script.add(tone, codec: .opus, stream: 2)
      recorder.begin(script.owner, name: name, now: Script.beginning, wallClock: TestFolder.wallClock)
      last = max(last, await folder.play([script], to: recorder))
    }
    return await recorder.finish(now: last + .seconds(1))
  }

  @Test("recordings have the names of the template, a number where one is taken, and never overwrite a file")
  func recordings() async throws {
    let folder = TestFolder()
    try folder.store(["2026-03-01-100-Ann.json": [1]])
    let summaries = try await record("{date}-{room}-{name}", in: folder, names: ["Ann", "Ann", nil])
    #expect(
      summaries.map(\.base) == [
        "2026-03-01-100-Ann-2", "2026-03-01-100-Ann-2.2", "2026-03-01-100-Ann-3", "2026-03-01-100-Ann-3.2",
        "2026-03-01-100-user2", "2026-03-01-100-user2.2",
      ])
    #expect(try folder.bytes("2026-03-01-100-Ann.json") == [1])
    for summary in summaries {
      let manifest = try RecordingManifest(parsing: folder.bytes("\(summary.base).json"))
      #expect(manifest.fileName == summary.base && manifest == summary.manifest)
    }
  }

  @Test("a template with the stream's number names each stream itself")
  func streams() async throws {
    let folder = TestFolder()
    let summaries = try await record("s{stream}-{name}", in: folder, names: ["Ann"])
    #expect(summaries.map(\.base) == ["s1-Ann", "s2-Ann"])
  }
}
