import Call
import Media
import Recorder
import Testing

@Suite("what a program learns of a recording")
struct ProgramJobTests {
  private func summary(
    name: String? = "Anna\n$(reboot)", folder: String = "out/", files: [RecordingManifest.File], finished: Bool = true
  ) -> RecordingSummary {
    var manifest = RecordingManifest(room: "1", user: "a\u{0}b", name: name, start: "2026-03-01T09:30:00.000Z")
    manifest.finished = finished
    manifest.duration = 61.0049
    manifest.files = files
    manifest.endReason = .left
    manifest.problems = ["One."]
    return RecordingSummary(participant: "a\u{0}b", folder: folder, base: "anna", manifest: manifest, storageError: nil)
  }

  private let files: [RecordingManifest.File] = [
    .init(name: "anna.ogg", kind: "ogg", start: 0, duration: 60, bytes: 1_000, complete: true),
    .init(name: "anna.webm", kind: "webm", start: 0, duration: 61, bytes: 5_000, complete: true),
  ]

  @Test("the manifest is the last argument, and variables say the rest; texts of others are printable")
  func finished() throws {
    let job = try #require(ProgramJob(["up", "--fast"], finished: summary(files: files), room: "main\u{1B}"))
    #expect(job.words == ["up", "--fast", "out/anna.json"])
    #expect(
      job.variables == [
        "RECORDING_EVENT": "finish", "RECORDING_MANIFEST": "out/anna.json", "RECORDING_FILE": "out/anna.webm",
        "RECORDING_KIND": "webm", "RECORDING_ROOM": #"main\u{1b}"#, "RECORDING_USER": #"a\u{0}b"#,
        "RECORDING_NAME": #"Anna\u{a}$(reboot)"#, "RECORDING_STREAM": "1",
        "RECORDING_START": "2026-03-01T09:30:00.000Z", "RECORDING_DURATION": "61.005", "RECORDING_FILES": "2",
        "RECORDING_BYTES": "6000", "RECORDING_PROBLEMS": "1",
        "RECORDING_END_REASON": "left",
      ])
  }

  @Test("nothing runs for a recording without files, or one that the disk did not accept")
  func none() {
    #expect(ProgramJob(["up"], finished: summary(files: []), room: "1") == nil)
    #expect(ProgramJob(["up"], finished: summary(files: files, finished: false), room: "1") == nil)
  }

  @Test("a file of a recording with segments has its number and its place; a folder is never an option")
  func segment() {
    let file = RecordingManifest.File(
      name: "anna.0003.ogg", kind: "ogg", start: 20, duration: 10.5, bytes: 7, complete: true, segment: 3)
    let job = ProgramJob(
      ["up"],
      finished: RecordedSegment(
        participant: "anna", stream: 2, name: nil, folder: "-out", base: "anna", recordingStart: "then", file: file),
      room: "1")
    #expect(job.words == ["up", "./-out/anna.json"] && job.variables["RECORDING_FILE"] == "./-out/anna.0003.ogg")
    #expect(job.variables["RECORDING_SEGMENT"] == "3" && job.variables["RECORDING_OFFSET"] == "20.000")
    #expect(job.variables["RECORDING_EVENT"] == "segment" && job.variables["RECORDING_NAME"] == nil)
  }

  @Test("no variable of our options is inherited: a chatbot that the program runs would take it, and some have secrets")
  func environment() throws {
    let job = try #require(ProgramJob(["up"], finished: summary(name: nil, files: files), room: "1"))
    let environment = job.environment(inherited: [
      "PATH": "/bin", "CHATBOT_TOKEN": "secret", "CHATBOT_USER": "me", "RECORDING_USER": "forged",
      "RECORDING_NAME": "of another recording", "RECORDING_BUCKET": "calls",
    ])
    #expect(environment["PATH"] == "/bin" && environment["RECORDING_BUCKET"] == "calls")
    #expect(!environment.keys.contains { $0.hasPrefix("CHATBOT_") })
    #expect(environment["RECORDING_USER"] == #"a\u{0}b"# && environment["RECORDING_NAME"] == nil)
    #expect(environment.count == 2 + job.variables.count)
  }
}
