import Foundation
import JobProtocol
import Logging
import ObjectStore
import SQLStore
import Service

/// The folder of a service with one job whose processes have ended: the first attempt was lost, the second ended in order.
final class StoringFixture: Sendable {
  /// 2026-03-01T09:30:00Z
  static let time: Int64 = 1_772_357_400_000

  let path: String
  let job: JobID
  let kind: String

  /// The prefix of the recording's keys.
  var prefix: String { "recordings/\(job)" }

  init(kind: String = "record", job: JobID = .random()) async throws {
    self.kind = kind
    self.job = job
    path = FileManager.default.temporaryDirectory.appendingPathComponent("storing-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try writeRepairProgram()
    let store = try await JobStore.open("\(path)/service.db")
    try await insertRows(store)
    await (store.connection as? SQLiteConnection)?.close()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private func insertRows(_ store: JobStore) async throws {
    try await store.connection.execute(
      """
      INSERT INTO jobs (id, project, kind, state, paused, request, room, server, created_at, attempt, attempt_id)
      VALUES ($1, 'p', $2, 'storing', '{}', '{}', '100', 'main', $3, 2, 'bbb')
      """, [job.value, .text(kind), .integer(Self.time)])
    try await store.connection.execute(
      "INSERT INTO labels (job, name, value) VALUES ($1, 'meeting', '42')", [job.value])
    for (number, id, start) in [(1, "aaa", 0), (2, "bbb", 20_000)] {
      try await store.connection.execute(
        """
        INSERT INTO attempts (job, number, attempt_id, version, folder, started_at, ended_at, how)
        VALUES ($1, $2, $3, '1.0', $4, $5, $6, 'lost')
        """,
        [
          job.value, .integer(number), .text(id), .text("jobs/\(job)/\(number)-\(id)"),
          .integer(Self.time + Int64(start)), .integer(Self.time + Int64(start) + 15_000),
        ])
    }
  }

  /// `chatbot repair` in short: it finishes manifests and says in each media file that it was here.
  private func writeRepairProgram() throws {
    let script = """
      #!/bin/sh
      echo run >>"\(path)/repairs"
      [ "$1 $2 $3" = "repair --quiet --" ] || exit 64
      cd "$4" || exit 66
      for manifest in *.json; do
        grep -q '"finished": false' "$manifest" || continue
        for media in "${manifest%.json}".webm; do printf repaired >>"$media"; done
        sed 's/"finished": false/"finished": true/; s/"complete": false/"complete": true/' "$manifest" >.draft
        mv .draft "$manifest"
      done
      """
    try write(script, to: "\(path)/chatbot")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(path)/chatbot")
  }

  /// How often a repair was started.
  var repairs: Int {
    ((try? String(contentsOfFile: "\(path)/repairs", encoding: .utf8)) ?? "").split(separator: "\n").count
  }

  func write(_ text: String, to file: String) throws {
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  }

  func folder(_ attempt: Int) -> String { "\(path)/jobs/\(job)/\(attempt)-\(attempt == 1 ? "aaa" : "bbb")" }

  // MARK: Content

  /// Writes a recording of a user: a WebM file and its manifest.
  func writeRecording(_ attempt: Int, user: String, base: String, start: Int64, finished: Bool) throws {
    let media = "\(folder(attempt))/media"
    try write("frames of \(user) in \(attempt)", to: "\(media)/\(base).webm")
    let encoded = String(decoding: try JSONEncoder().encode(user), as: UTF8.self)
    let name = String(decoding: try JSONEncoder().encode("\(base).webm"), as: UTF8.self)
    try write(
      """
      {"version": 2, "finished": \(finished), "writer": "chatbot", "room": "100", "user": \(encoded),
      "start": "\(UTCTime(milliseconds: Self.time + start).text)", "duration": 5,\
      \(finished ? "\"endReason\": \"left\"," : "")
      "alignment": {}, "files": [{"name": \(name), "kind": "webm", "start": 0, "duration": 5, "bytes": 9,
      "complete": \(finished)}],
      "tracks": [{"kind": "video", "start": 0, "duration": 5, "gaps": []}], "problems": []}
      """, to: "\(media)/\(base).json")
  }

  func writeJournal(_ attempt: Int, _ events: [(Int64, JournalEvent)], rest: String = "") throws {
    var text = ""
    for (index, (time, event)) in events.enumerated() {
      let entry = JournalEntry(seq: Int64(index + 1), time: Self.time + time, event: event)
      text += String(decoding: try entry.line, as: UTF8.self) + "\n"
    }
    try write(text + rest, to: "\(folder(attempt))/journal.ndjson")
  }

  func started(_ attempt: Int) -> JournalEvent {
    .started(
      JournalEvent.Started(
        version: "1.0", job: job.text, attempt: attempt, attemptID: attempt == 1 ? "aaa" : "bbb", kind: .record,
        process: 1, paused: .none))
  }

  /// Writes both attempts: user `u` in both, and in the first one only a user with a hostile id.
  func writeCall() throws {
    for attempt in 1...2 {
      try write("{}\n", to: "\(folder(attempt))/log.ndjson")
      try write("", to: "\(folder(attempt))/lock")
      try write("{}", to: "\(folder(attempt))/spec.json")
    }
    try writeRecording(1, user: "u", base: "Ann", start: 1_000, finished: false)
    try writeRecording(1, user: "../é", base: "__é", start: 2_000, finished: true)
    try writeRecording(2, user: "u", base: "Ann", start: 22_000, finished: true)
    try writeJournal(
      1, [(0, started(1)), (500, .participantJoined(.init(user: "u", name: "Ann")))], rest: #"{"seq":3,"ti"#)
    try writeJournal(
      2,
      [
        (20_000, started(2)), (21_000, .participantJoined(.init(user: "u", name: "Ann"))),
        (30_000, .ended(.init(reason: .stopped, exitCode: 0, sentence: "Stopped."))),
      ])
  }

  // MARK: Storing

  /// Stores the job as a service does that has just started.
  ///
  /// - Parameter reached: called after each step, of the database, the files and the store.
  func store(_ reached: @escaping @Sendable (String) throws -> Void = { _ in }) async throws {
    try await withStorer(reached) { storer, _ in
      try await storer.store(self.job)
    }
  }

  func withStorer(
    _ reached: @escaping @Sendable (String) throws -> Void = { _ in },
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    _ body: (Storer, JobStore) async throws -> Void
  ) async throws {
    let store = try await JobStore.open("\(path)/service.db")
    let objects = try await FileObjectStore.open("\(path)/store") { try reached("object \($0)") }
    var settings = Storer.Settings(data: path, program: ["\(path)/chatbot"])
    settings.template = try ObjectPathTemplate("recordings/{job}")
    settings.busyLimit = .seconds(5)
    let storer = Storer(
      store, objects: objects, settings: settings, reached: { try reached("\($0)") }, logger: logger)
    do {
      try await body(storer, store)
    } catch {
      await (store.connection as? SQLiteConnection)?.close()
      throw error
    }
    await (store.connection as? SQLiteConnection)?.close()
  }

  // MARK: What is stored

  /// The keys of the job's objects, below its prefix.
  var keys: [String] {
    let found = FileManager.default.subpaths(atPath: "\(path)/store/\(prefix)") ?? []
    return found.filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(path)/store/\(prefix)/\(name)", isDirectory: &isFolder)
        && !isFolder.boolValue
    }.sorted()
  }

  func content(_ key: String) -> [UInt8]? {
    FileManager.default.contents(atPath: "\(path)/store/\(prefix)/\(key)").map(Array.init)
  }

  var document: RecordingDocument? { content("recording.json").flatMap { RecordingDocument(parsing: $0) } }

  /// The types of the job's events, and the objects of those about files.
  func events() async throws -> (types: [String], files: [String]) {
    struct File: Decodable {
      var object: String
    }
    let store = try await JobStore.open("\(path)/service.db")
    let events = try await store.events(project: "p", job: job, limit: 1_000)
    await (store.connection as? SQLiteConnection)?.close()
    let files = try events.filter { $0.type == "recording.file" }.map { event in
      try JSONDecoder().decode(File.self, from: Data(event.data.utf8)).object
    }
    return (events.map(\.type), files)
  }
}
