import Composition
import Inspection
import InspectionTestSupport
import Testing

@Suite("chapters and chat of compositions")
struct ChapterTests {
  @Test("Each joining and leaving begins a chapter") func chapters() throws {
    let plan = try plan(
      RecordingFixture("1", name: "Ann"), RecordingFixture("2", name: "Ben").with { $0.start = 0.5 },
      RecordingFixture("3", name: "Cid").with {
        $0.start = 10
        $0.duration = 20
      }
    ) { $0.hasChapters = true }
    #expect(
      plan.chapters == [
        PlannedChapter(start: 0, title: "Ann and Ben joined"), PlannedChapter(start: units(10), title: "Cid joined"),
        PlannedChapter(start: units(30), title: "Cid left"), PlannedChapter(start: units(60), title: "Ann left"),
      ])
  }

  @Test("Many who come at once are counted") func many() throws {
    let calls = try CallList(of: (1...8).map { RecordingFixture("u\($0)").recording })
    var options = CompositionOptions(
      inputs: [], output: "a.mp4", format: .init(container: .mp4, video: .h264, audio: .aac))
    #expect(try CompositionPlan(of: calls.calls[0], options: options) { _ in [] }.chapters.isEmpty)
    options.hasChapters = true
    let plan = try CompositionPlan(of: calls.calls[0], options: options) { _ in [] }
    #expect(plan.chapters.map(\.title) == ["u1, u2, u3, u4 and 4 others joined"])
  }

  @Test("A message beside several recordings is shown once") func onceOnly() throws {
    let plan = try plan(
      RecordingFixture("1", name: "Ann"), RecordingFixture("2", name: "Ben").with { $0.start = 10 },
      chat: [
        "1": [
          .init(time: 5, from: "1", name: "Ann", text: "early"), .init(time: 20, from: "9", name: "Guest", text: "hi"),
          .init(time: 20.2, from: "9", name: "Guest", text: "hi"),
        ],
        "2": [
          .init(time: 10.001, from: "9", name: "Guest", text: "hi"),
          .init(time: 10.2, from: "9", name: "Guest", text: "hi"), .init(time: 12, from: "2", text: "late"),
        ],
      ])
    #expect(plan.messages.map(\.text) == ["early", "hi", "hi", "late"])
    #expect(plan.messages.map(\.sender) == ["Ann", "Guest", "Guest", "Ben"])
    #expect(plan.messages.map(\.start) == [units(5), units(20), units(20.2), units(22)])
    #expect(plan.messages[0].end == units(10))
  }

  @Test("Messages are left out on request, and outside of the part") func noChat() throws {
    let chat = ["1": [RecordedChat.Message(time: 5, from: "1", text: "early")]]
    #expect(try plan(RecordingFixture("1"), chat: chat) { $0.hasChat = false }.messages.isEmpty)
    #expect(try plan(RecordingFixture("1"), chat: chat) { $0.from = units(6) }.messages.isEmpty)
    #expect(try plan(RecordingFixture("1"), chat: chat).messages.count == 1)
  }

  @Test("The chat beside recordings is read") func file() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(id: "ann", seconds: 2))
    let lines = """
      {"time": 1.5, "date": "2026-03-01T09:30:01.750Z", "from": "ann", "text": "hi"}
      no message
      {"time": 0.5, "date": "2026-03-01T09:30:00.750Z", "from": "ben", "name": "Ben", "text": "first"}
      """
    try folder.store(Array(lines.utf8), as: "ann.chat.jsonl")
    let call = try CallList(searching: [folder.path]).calls[0]
    let options = CompositionOptions(
      inputs: [], output: "a.mp4", format: .init(container: .mp4, video: .h264, audio: .aac))
    let messages = try CompositionPlan(of: call, options: options).messages
    #expect(messages.map(\.sender) == ["Ben", "ann"])
    #expect(messages.map(\.text) == ["first", "hi"])
  }

  @Test("Messages of strangers have one line and no marks") func text() throws {
    let long = String(repeating: "x", count: 600)
    let plan = try plan(
      RecordingFixture("1"),
      chat: [
        "1": [
          .init(time: 1, from: "1", text: "a\r\nb\u{202E}c"), .init(time: 2, from: "1", text: long),
          .init(time: 1e300, from: "1", text: "never"), .init(time: -5, from: "1", text: "never"),
        ]
      ])
    #expect(plan.messages.map(\.text) == ["a b\\u{202e}c", String(repeating: "x", count: 499) + "…"])
  }

  @Test("Subtitles do not overlap, and keep what is still seen") func subtitles() throws {
    let plan = try plan(
      RecordingFixture("1", name: "Ann"),
      chat: [
        "1": [
          .init(time: 10, from: "1", text: "one"), .init(time: 12, from: "1", text: "two"),
          .init(time: 30, from: "1", text: "three"), .init(time: 58, from: "1", text: "four"),
        ]
      ])
    #expect(
      plan.subtitles == [
        PlannedSubtitle(start: units(10), end: units(12), lines: ["Ann: one"]),
        PlannedSubtitle(start: units(12), end: units(15), lines: ["Ann: one", "Ann: two"]),
        PlannedSubtitle(start: units(15), end: units(17), lines: ["Ann: two"]),
        PlannedSubtitle(start: units(30), end: units(35), lines: ["Ann: three"]),
        PlannedSubtitle(start: units(58), end: units(60), lines: ["Ann: four"]),
      ])
  }
}
