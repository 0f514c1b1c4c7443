import Foundation
import JSON
import JobProcess
import JobProtocol
import Logging
import Recorder
import Testing

@Suite("the process of a job") struct JobProcessTests {
  @Test("the journal begins with who runs, and ends with why it ended")
  func journal() async throws {
    var specification = TestJob.specification()
    specification.attempt = 3
    let job = try TestJob(specification)
    let (code, errors) = try await job.run { job in
      #expect(job.arguments.contains("--play=pattern"))
      #expect(job.specification.job == "job-1")
      job.log.info("hello", metadata: ["user": "u1"])
      job.note("Something is slow.")
      return JobResult(.inputEnded, "The input ended.")
    }
    #expect(code == 0)
    #expect(errors.isEmpty)
    let events = try job.events()
    guard case .started(let start)? = events.first else {
      Issue.record("The journal does not begin with started.")
      return
    }
    #expect(start.job == "job-1" && start.attempt == 3 && start.attemptID == "attempt-1" && start.kind == .play)
    #expect(start.version == "1.2.3" && start.protocol == 1 && start.process == getpid())
    #expect(events.dropFirst().first == .problem(user: nil, sentence: "Something is slow."))
    #expect(events.last == .ended(.init(reason: .inputEnded, exitCode: 0, sentence: "The input ended.")))
    #expect(try job.entries().map(\.seq) == [1, 2, 3])
    #expect(String(decoding: job.read("lock"), as: UTF8.self) == "\(getpid())\n")
    let line = try JSONDecoder().decode(JSONValue.self, from: job.read("log.ndjson"))
    #expect(line["message"] == "hello")
    #expect(line["fields"]?["job"] == "job-1" && line["fields"]?["attempt"] == "3" && line["fields"]?["user"] == "u1")
    #expect(FileManager.default.fileExists(atPath: "\(job.folder)/media"))
    #expect(!FileManager.default.fileExists(atPath: "\(job.folder)/control"))
  }

  @Test("an entry that fits into no line is left out, and those after it are written")
  func longEntry() async throws {
    let job = try TestJob()
    let result = try await job.run { job in
      job.note(String(repeating: "x", count: 70_000))
      job.note("Something is slow.")
      return JobResult(.inputEnded, "The input ended.")
    }
    #expect(result.code == 0)
    let events = try job.events()
    #expect(events.map(\.type) == ["started", "problem", "ended"])
    guard case .ended(let end)? = events.last else { return }
    #expect(end.problemsDropped == 1)
  }

  @Test("secrets reach the work, and are in no file, error or log line")
  func secrets() async throws {
    let job = try TestJob()
    let result = try await job.run(secrets: #"{"pin":"hush4711"}"#) { job in
      #expect(job.secrets.pin == "hush4711")
      job.log.error("\(job.secrets) \(job.arguments)")
      job.note("\(job.secrets)")
      throw JobFailure(.serverUnreachable, "Nobody listens.")
    }
    #expect(result.code == 69)
    #expect(try job.ended()?.reason == .serverUnreachable)
    #expect(job.everything().range(of: Data("hush4711".utf8)) == nil)
    for text in ["{\"pin\":\"hush4711\"", "{\"hush4711\":\"x\"}", #"{"pin":"hush4711 x"}"#] {
      let job = try TestJob()
      let result = try await job.run(secrets: text) { _ in JobResult(.stopped, "It ran.") }
      #expect(result.code == 64)
      #expect(try job.ended()?.reason == .crashing)
      #expect(!result.errors.isEmpty && !result.errors.contains("hush4711"))
      #expect(job.everything().range(of: Data("hush4711".utf8)) == nil)
    }
    let long = try TestJob()
    let refused = try await long.run(secrets: String(repeating: " ", count: 20_000)) { _ in JobResult(.stopped, "") }
    #expect(refused.code == 64)
  }

  @Test("a specification that cannot be run ends the job with exit code 64, and says which value it is")
  func specifications() async throws {
    var wrong = TestJob.specification()
    wrong.options["fps"] = "fast"
    var later = TestJob.specification()
    later.protocol = 2
    for (specification, word) in [(wrong, "/options/fps"), (later, "/protocol"), (nil, "spec.json")] {
      let job = try TestJob(specification)
      let result = try await job.run { _ in JobResult(.stopped, "It ran.") }
      #expect(result.code == 64)
      #expect(result.errors.contains(word))
      let end = try job.ended()
      #expect(end?.reason == .crashing && end?.exitCode == 64)
      #expect(end?.sentence.contains(word) == true)
    }
  }

  @Test("the folder is locked while the job runs, and free afterwards")
  func lock() async throws {
    let job = try TestJob()
    let first = job.start()
    let client = try await ControlClient(to: job)
    let second = try await job.run { _ in JobResult(.stopped, "It ran.") }
    #expect(second.code == 64)
    #expect(second.errors.contains("Another process"))
    #expect(try job.events().count == 1, "The second process writes nothing.")
    let stopped = try client.ask(.stop(reason: nil))
    #expect(stopped.result == .stopping)
    #expect(try await first.value.code == 0)
    #expect(try job.ended()?.reason == .stopped)
    #expect(try await job.run { _ in JobResult(.empty, "Nobody.") }.code == 0)
    #expect(try job.entries().map(\.seq) == [1, 2, 3, 4])
  }

  @Test("a journal is continued behind its last complete line, with who is paused")
  func continued() async throws {
    let job = try TestJob(TestJob.specification(.record))
    let paused = PauseState(users: ["u1"])
    let lines = try [
      JournalEvent.started(
        .init(
          version: "1", job: "job-1", attempt: 1, attemptID: "attempt-1", kind: .record, process: 1, paused: .none)),
      .paused(.init(users: ["u1"], effectiveAt: 5, state: paused)),
    ].enumerated().map { try JournalEntry(seq: Int64($0 + 1), time: 1, event: $1).line + [10] }
    try job.write(lines.reduce(Data(), +) + Data("{\"seq\":3,\"ti".utf8), to: "journal.ndjson")
    _ = try await job.run { job in
      #expect(job.paused.users == ["u1"])
      return JobResult(.stopped, "The job was stopped.")
    }
    let events = try job.events()
    #expect(events.count == 4)
    guard case .started(let start) = events[2] else {
      Issue.record("The third entry is not started.")
      return
    }
    #expect(start.paused == paused)
  }

  @Test("a journal with a broken line is an error and left alone")
  func brokenJournal() async throws {
    let job = try TestJob()
    let first = try JournalEntry(seq: 1, time: 1, event: .problem(user: nil, sentence: "x")).line + [10]
    let broken = first + Data("{\"seq\":2}\n".utf8)
    try job.write(broken, to: "journal.ndjson")
    let result = try await job.run { _ in JobResult(.stopped, "It ran.") }
    #expect(result.code == 73)
    #expect(result.errors.contains("byte \(first.count)"))
    #expect(job.read("journal.ndjson") == broken)
  }

  @Test("problems are left out of a journal that is nearly full, and counted")
  func fullJournal() async throws {
    let job = try TestJob()
    let sentence = String(repeating: "x", count: 60_000)
    var text = Data()
    var seq: Int64 = 0
    while text.count < JobFolder.maximumJournalBytes / 4 * 3 {
      seq += 1
      text += Data("{\"sentence\":\"\(sentence)\",\"seq\":\(seq),\"time\":1,\"type\":\"problem\"}\n".utf8)
    }
    try job.write(text, to: "journal.ndjson")
    _ = try await job.run { job in
      for _ in 0..<5 { job.note("one more") }
      // Until the notes have been looked at.
      try await Task.sleep(for: .milliseconds(300))
      return JobResult(.empty, "Everybody left.")
    }
    var reader = JournalReader(position: Int64(text.count), lastSeq: seq)
    let added = try reader.read(job.read("journal.ndjson").dropFirst(text.count))
    #expect(added.map(\.event.type) == ["started", "ended"])
    guard case .ended(let end)? = added.last?.event else {
      Issue.record("The journal does not end with ended.")
      return
    }
    #expect(end.problemsDropped == 5)
  }

  @Test("files are left out of a journal that has room for pauses and the end only")
  func journalWithoutFiles() async throws {
    let job = try TestJob()
    let folder = job.folder
    let sentence = String(repeating: "x", count: 60_000)
    var text = Data()
    var seq: Int64 = 0
    while text.count < JobFolder.maximumJournalBytes / 32 * 31 {
      seq += 1
      text += Data("{\"sentence\":\"\(sentence)\",\"seq\":\(seq),\"time\":1,\"type\":\"problem\"}\n".utf8)
    }
    try job.write(text, to: "journal.ndjson")
    _ = try await job.run { _ in
      try Data("abc".utf8).write(to: URL(fileURLWithPath: "\(folder)/media/100.session.json"))
      return JobResult(.empty, "Everybody left.")
    }
    var reader = JournalReader(position: Int64(text.count), lastSeq: seq)
    let added = try reader.read(job.read("journal.ndjson").dropFirst(text.count))
    #expect(added.map(\.event.type) == ["started", "ended"])
    guard case .ended(let end)? = added.last?.event else {
      Issue.record("The journal does not end with ended.")
      return
    }
    #expect(end.problemsDropped == 1)
  }

  @Test("files of the call that are closed at the end are in the journal with their hash")
  func closedFiles() async throws {
    let job = try TestJob()
    let folder = job.folder
    try FileManager.default.createDirectory(atPath: "\(folder)/media", withIntermediateDirectories: true)
    try job.write(Data("old".utf8), to: "media/old.session.json")
    _ = try await job.run { _ in
      try Data("abc".utf8).write(to: URL(fileURLWithPath: "\(folder)/media/100.session.json"))
      try Data("".utf8).write(to: URL(fileURLWithPath: "\(folder)/media/u1.chat.jsonl"))
      try Data("unfinished".utf8).write(to: URL(fileURLWithPath: "\(folder)/media/u1.webm"))
      try Data("draft".utf8).write(to: URL(fileURLWithPath: "\(folder)/media/.report.json"))
      return JobResult(.empty, "Everybody left.")
    }
    let files = try job.events().compactMap { if case .fileClosed(let file) = $0 { file } else { nil } }
    #expect(
      files == [
        .init(
          name: "100.session.json", kind: .summary, bytes: 3,
          sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        .init(
          name: "u1.chat.jsonl", kind: .chat, bytes: 0,
          sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ])
    #expect(try job.ended() != nil, "The end comes after the files.")
  }

  @Test("an error of the work is the end of the job")
  func unexpected() async throws {
    struct Unexpected: Error, CustomStringConvertible { let description = "It broke." }
    let job = try TestJob()
    let result = try await job.run { _ in throw Unexpected() }
    #expect(result.code == 70)
    #expect(try job.ended() == .init(reason: .crashing, exitCode: 70, sentence: "It broke."))
  }
}
