import Composition
import Inspection
import InspectionTestSupport
import Media
import NIOCore
import Recorder
import Testing

@Suite("calls in folders")
struct CallListTests {
  private func options(_ change: (inout CompositionOptions) -> Void = { _ in }) -> CompositionOptions {
    var options = CompositionOptions(
      inputs: ["out"], output: "a.mp4", format: .init(container: .mp4, video: .h264, audio: .aac))
    change(&options)
    return options
  }

  private func calls(_ recordings: RecordingFixture...) throws -> CallList {
    try CallList(of: recordings.map(\.recording))
  }

  @Test("Recordings that follow each other within ten minutes are one call") func tenMinutes() throws {
    #expect(
      try calls(RecordingFixture("ann"), RecordingFixture("ben").with { $0.start = 660 }).calls.count == 1)
    #expect(
      try calls(RecordingFixture("ann"), RecordingFixture("ben").with { $0.start = 660.001 }).calls.count == 2)
  }

  @Test("Each room has calls of its own, in order of time") func rooms() throws {
    let list = try calls(
      RecordingFixture("ann").with { $0.start = 30 }, RecordingFixture("ben").with { $0.room = "200" },
      RecordingFixture("cid").with { $0.start = 3_600 })
    #expect(list.calls.map(\.room) == ["200", "100", "100"])
    #expect(list.calls.map(\.number) == [1, 2, 3])
    #expect(list.calls.map(\.users) == [["ben"], ["ann"], ["cid"]])
  }

  @Test("A path that does not exist is named, and the others are searched") func missingPath() {
    #expect(throws: CompositionError.input("“/nowhere” does not exist. “/nothing.json” does not exist.")) {
      try CallList(searching: ["/nowhere", "/nothing.json"])
    }
  }

  @Test("Several calls are listed") func several() throws {
    let list = try calls(RecordingFixture("1", name: "Ann"), RecordingFixture("ben").with { $0.start = 3_600 })
    let text = """
      There are 2 calls. --call N composes one of them, --all each of them.
        1  room 100  2026-03-01T09:30:00.250Z  1:00.000  Ann
        2  room 100  2026-03-01T10:30:00.250Z  1:00.000  ben
      """
    #expect(throws: CompositionError.input(text)) { try list.selected(by: options()) }
    let second = try list.selected(by: options { $0.calls = .number(2) })
    #expect(second.map(\.users) == [["ben"]])
    #expect(try list.selected(by: options { $0.calls = .all }).count == 2)
    let error = #expect(throws: CompositionError.self) { try list.selected(by: options { $0.calls = .number(3) }) }
    #expect(error?.sentence.hasPrefix("There is no call 3: there are 2 calls.") == true)
    #expect(error?.kind == .input)
  }

  @Test("A recording that is not finished must be repaired, or is composed in part") func unfinished() throws {
    let list = try calls(RecordingFixture("ann").with { $0.isFinished = false })
    let error = #expect(throws: CompositionError.self) { try list.selected(by: options()) }
    #expect(error?.sentence.contains("chatbot repair out/ann.json") == true)
    #expect(error?.kind == .input)
    #expect(try list.selected(by: options { $0.isPartial = true }).count == 1)
    let both = try calls(
      RecordingFixture("ann").with { $0.isFinished = false }, RecordingFixture("ben").with { $0.start = 3_600 })
    #expect(try both.selected(by: options { $0.calls = .number(2) }).count == 1)
  }

  @Test("Recordings of one process are aligned by its monotonic clock") func session() throws {
    let list = try calls(
      RecordingFixture("ann"),
      RecordingFixture("ben").with {
        $0.start = 10
        $0.clockError = 90
      })
    #expect(list.calls[0].recordings.map(\.offset) == [0, units(10)])
    #expect(list.calls[0].recordings.map(\.alignment.source) == [.session, .session])
    #expect(list.calls[0].recordings.map(\.alignment.error) == [0, 720])
  }

  @Test("Recordings of two processes are aligned by their wall clocks") func wallClock() throws {
    let list = try calls(
      RecordingFixture("ann"),
      RecordingFixture("ben").with {
        $0.start = 10
        $0.clockError = 0.5
        $0.session = "two"
      })
    #expect(list.calls[0].recordings.map(\.offset) == [0, units(10.5)])
    #expect(list.calls[0].recordings.map(\.alignment.source) == [.session, .start])
    #expect(list.calls[0].recordings.map(\.alignment.error) == [0, nil])
  }

  @Test("A media file without a manifest is left out with a sentence") func noManifest() throws {
    let list = try CallList(of: [
      RecordingFixture("ann").recording, FoundRecording(files: [RecordedFile(path: "out/stray.webm")]),
    ])
    #expect(list.calls.map(\.users) == [["ann"]])
    #expect(list.problems == ["“out/stray.webm” has no manifest, so it is left out."])
  }

  // MARK: Impossible times

  @Test("A manifest with impossible times is refused with the name of the field", arguments: ImpossibleTime.all)
  func impossible(time: ImpossibleTime) {
    var manifest = RecordingFixture("ann").with { $0.video?.gaps = [.init(reason: .lost, start: 1, end: 2)] }.manifest
    time.change(&manifest)
    let error = #expect(throws: CompositionError.self) {
      try CallList(of: [RecordingFixture.recording(manifest, in: "out")])
    }
    #expect(error?.kind == .input)
    #expect(error?.sentence.hasPrefix("“out/ann.json” is refused: its field \(time.field) is ") == true)
  }

  @Test("Files overlap for a while where a codec changes") func codecChange() throws {
    var manifest = RecordingFixture("ann").manifest
    manifest.files[0].duration = 30
    var second = manifest.files[0]
    second.name = "ann.0002.mkv"
    second.kind = "mkv"
    second.start = 20
    second.duration = 40
    manifest.files.append(second)
    #expect(try CallList(of: [RecordingFixture.recording(manifest, in: "out")]).calls.count == 1)
  }

  // MARK: Folders

  @Test("A folder with recordings is read") func folder() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(id: "ann", seconds: 2), SyntheticPeer(id: "ben", seconds: 3))
    let list = try CallList(searching: [folder.path])
    #expect(list.calls.map(\.users) == [["ann", "ben"]])
    #expect(list.problems.isEmpty)
  }

  @Test("An empty folder is an error") func emptyFolder() throws {
    let folder = try RecordedFolder()
    let error = #expect(throws: CompositionError.self) { try CallList(searching: [folder.path]) }
    #expect(error?.sentence == "“\(folder.path)” holds no recording.")
    #expect(error?.kind == .input)
  }

  @Test("A recording that grows is composed up to the end of its files") func presentEnd() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(id: "ann", seconds: 3))
    let finished = try CallList(searching: [folder.path]).calls[0]
    try folder.edit("ann.json") { text in
      var manifest = text
      for (name, value) in [("\"finished\" : true", "\"finished\" : false")] {
        manifest = manifest.split(separator: name, omittingEmptySubsequences: false).joined(separator: value)
      }
      return manifest
    }
    var content = try RecordingManifest(parsing: folder.bytes("ann.json"))
    #expect(!content.finished)
    content.duration = 0.5
    for index in content.tracks.indices { content.tracks[index].duration = 0.5 }
    try folder.store(Array(String(buffer: content.json).utf8), as: "ann.json")
    #expect(try CallList(searching: [folder.path]).calls[0].duration == units(0.5))
    let partial = try CallList(searching: [folder.path], isPartial: true).calls[0]
    #expect(abs(partial.duration - finished.duration) <= units(0.05))
    #expect(partial.unfinished == [folder.file("ann.json")])
  }
}

/// A change of a manifest that makes a time of it impossible.
struct ImpossibleTime: Sendable, CustomTestStringConvertible {
  let field: String
  let change: @Sendable (inout RecordingManifest) -> Void

  init(_ field: String, _ change: @escaping @Sendable (inout RecordingManifest) -> Void) {
    self.field = field
    self.change = change
  }

  var testDescription: String { field }

  static let all = [
    ImpossibleTime("start") { $0.start = "yesterday" },
    ImpossibleTime("duration") { $0.duration = -1 },
    ImpossibleTime("duration") { $0.duration = 1e300 },
    ImpossibleTime("duration") { $0.duration = .nan },
    ImpossibleTime("duration") { $0.duration = 3e8 },
    ImpossibleTime("session.offset") { $0.session?.offset = -1e6 },
    ImpossibleTime("session.offset") { $0.session?.offset = 1e12 },
    ImpossibleTime("alignment.error") { $0.alignment.error = -1 },
    ImpossibleTime("tracks[0].start") { $0.tracks[0].start = -0.5 },
    ImpossibleTime("tracks[1].duration") { $0.tracks[1].duration = -2 },
    ImpossibleTime("tracks[0].gaps[0].start") { $0.tracks[0].gaps[0].start = -3 },
    ImpossibleTime("tracks[0].gaps[0].duration") { $0.tracks[0].gaps[0].duration = .infinity },
    ImpossibleTime("files[0].start") { $0.files[0].start = -9 },
    ImpossibleTime("files[1].duration") { $0.files[1].duration = 1e9 },
    ImpossibleTime("files[2].start") { manifest in
      var file = manifest.files[0]
      file.name = "ann.0002.webm"
      file.start = 1_800
      file.duration = 600
      manifest.files[0].duration = 3_600
      manifest.files.append(file)
    },
  ]
}
