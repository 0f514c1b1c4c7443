import Foundation
import JobProtocol
import Logging
import Media
import ObjectStore
import SQLStore
import Service
import Synchronization
import Testing

@Suite("Storing files while their job runs")
struct SpoolTests {
  /// A running job: its first attempt has ended, the second one lives.
  private struct Running {
    let fixture: StoringFixture
    let store: JobStore
    let objects: UnreliableStore
    let storer: Storer
    let spool: Spool
    /// Held as by the process of the second attempt.
    let lock: Int32

    init() async throws {
      fixture = try await StoringFixture()
      try fixture.writeCall()
      store = try await JobStore.open("\(fixture.path)/service.db")
      try await store.connection.execute("UPDATE jobs SET state = 'running'")
      try await store.connection.execute("UPDATE attempts SET ended_at = NULL WHERE number = 2")
      objects = UnreliableStore(try await FileObjectStore.open("\(fixture.path)/store"))
      var settings = Storer.Settings(data: fixture.path, program: ["\(fixture.path)/chatbot"])
      settings.template = try ObjectPathTemplate("recordings/{job}")
      settings.localRetention = 3_600_000
      storer = Storer(store, objects: objects, settings: settings)
      spool = Spool(storer, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      lock = open("\(fixture.folder(2))/lock", O_RDONLY)
      #expect(flock(lock, LOCK_EX) == 0)
    }

    func close(_ name: String, text: String, segment: Int? = nil) throws {
      try fixture.write(text, to: "\(fixture.folder(2))/media/\(name)")
      spool.fileClosed(file(name, bytes: text.utf8.count, segment: segment))
    }

    func file(_ name: String, bytes: Int, segment: Int? = nil) -> AttemptFile {
      AttemptFile(
        job: fixture.job, attempt: 2, attemptID: "bbb", folder: "jobs/\(fixture.job)/2-bbb",
        closed: .init(
          name: name, kind: .media, user: "u", stream: 1, segment: segment, start: StoringFixture.time,
          duration: 60_000,
          bytes: Int64(bytes), sha256: "00"))
    }

    /// Waits until so many files are noted.
    func rows(_ count: Int) async throws -> [FileRecord] {
      for _ in 0..<400 {
        let rows = try await store.files(of: fixture.job)
        if rows.count >= count { return rows }
        try await Task.sleep(for: .milliseconds(25))
      }
      return try await store.files(of: fixture.job)
    }

    func end() async {
      await spool.end()
      Foundation.close(lock)
      await (store.connection as? SQLiteConnection)?.close()
    }
  }

  @Test("A file that the journal says is closed is stored while the process lives, with its event, and once")
  func closed() async throws {
    let running = try await Running()
    try running.close("Ann.0001.webm", text: "one", segment: 1)
    let rows = try await running.rows(1)
    #expect(rows.map(\.name) == ["Ann.0001.webm"])
    #expect(rows.first?.segment == 1)
    #expect(rows.first?.user == "u")
    #expect(rows.first?.kind == "webm")
    #expect(running.fixture.keys == ["2-bbb/Ann.0001.webm"])
    // The journal is read again after a restart.
    running.spool.fileClosed(running.file("Ann.0001.webm", bytes: 3, segment: 1))
    try running.close("Ann.0002.webm", text: "two", segment: 2)
    _ = try await running.rows(2)
    #expect(try await running.fixture.events().types == ["recording.file", "recording.file"])
    #expect(running.storer.unstored.figures().count == 0)
    #expect(running.objects.puts["recordings/\(running.fixture.job)/2-bbb/Ann.0001.webm"] == 1)
    await running.end()
  }

  @Test("A name that leads out of the folder, and a file that has changed since, are not stored")
  func hostile() async throws {
    let running = try await Running()
    try running.fixture.write("secret", to: "\(running.fixture.path)/secret")
    for name in ["../../../secret", "/etc/passwd", ".hidden", "", "a/b", "../log.ndjson"] {
      await #expect(throws: (any Error).self) {
        try await running.storer.storeClosedFile(running.file(name, bytes: 6))
      }
    }
    try running.fixture.write("grown", to: "\(running.fixture.folder(2))/media/Ann.0001.webm")
    await #expect(throws: StoringError.self) {
      try await running.storer.storeClosedFile(running.file("Ann.0001.webm", bytes: 2))
    }
    #expect(running.fixture.keys.isEmpty)
    await running.end()
  }

  @Test("Moments and durations of a journal that no clock has are brought into range")
  func extremeMoments() async throws {
    let running = try await Running()
    let fixture = running.fixture
    for (number, value) in [(1, Int64.max), (2, Int64.min)] {
      let name = "Ann.000\(number).webm"
      try fixture.write("x", to: "\(fixture.folder(2))/media/\(name)")
      var file = running.file(name, bytes: 1, segment: number)
      file.closed.start = value
      file.closed.duration = value
      try await running.storer.storeClosedFile(file)
    }
    try fixture.writeJournal(1, [(0, fixture.started(1)), (.min, .participantJoined(.init(user: "ghost")))])
    // The description is made of the rows.
    Foundation.close(running.lock)
    try FileManager.default.removeItem(atPath: fixture.folder(2))
    try await running.storer.store(fixture.job)
    let document = try #require(fixture.document)
    let ghost = try #require(document.users.first { $0.id == "ghost" })
    #expect(ghost.gaps.first?.start == "1970-01-01T00:00:00.000Z")
    let ann = try #require(document.users.first { $0.id == "u" })
    #expect(ann.files.compactMap(\.segment).sorted() == [1, 2])
    await running.spool.end()
  }

  @Test("While the store is away files wait and are counted; then each is stored once, also where an answer was lost")
  func away() async throws {
    let running = try await Running()
    running.objects.set(.away(.timeout))
    for number in 1...6 { try running.close("Ann.000\(number).webm", text: "segment \(number)", segment: number) }
    try await Task.sleep(for: .milliseconds(300))
    let figures = running.storer.unstored.figures()
    #expect(figures.count == 6)
    #expect(figures.bytes == 6 * 9)
    #expect(figures.oldest > .milliseconds(200))
    #expect(try await running.store.files(of: running.fixture.job).isEmpty)
    running.objects.set(.answerLost)
    try await Task.sleep(for: .milliseconds(700))
    running.objects.set(nil)
    let rows = try await running.rows(6)
    #expect(rows.count == 6)
    #expect(running.storer.unstored.figures().count == 0)
    #expect(running.fixture.keys.count == 6)
    await running.end()
  }

  @Test("A closed file that waits for the store does not hinder a repair of its folder")
  func repairMeanwhile() async throws {
    let running = try await Running()
    running.objects.state.withLock { $0.delay = .seconds(1) }
    try running.close("Ann.0001.webm", text: "one", segment: 1)
    for _ in 0..<200 where running.objects.puts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(running.objects.puts.count == 1)
    let file = open("\(running.fixture.folder(2))/media/Ann.0001.webm", O_RDWR)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    Foundation.close(file)
    #expect(try await running.store.files(of: running.fixture.job).isEmpty)
    #expect(try await running.rows(1).count == 1)
    await running.end()
  }

  @Test("While the store fails, one file is tried at a time; otherwise several")
  func probes() async throws {
    let running = try await Running()
    running.objects.state.withLock { $0.delay = .milliseconds(50) }
    running.objects.set(.away(.storage))
    try running.close("Ann.0001.webm", text: "one")
    // The second try follows the first failure.
    func tries() -> Int { running.objects.puts.values.max() ?? 0 }
    for _ in 0..<1_000 where tries() < 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(tries() >= 2)
    running.objects.state.withLock { $0.maximumRunning = 0 }
    for number in 2...9 { try running.close("Ann.000\(number).webm", text: "more") }
    try await Task.sleep(for: .milliseconds(900))
    #expect(running.objects.state.withLock { $0.maximumRunning } <= 1)
    running.objects.set(nil)
    #expect(try await running.rows(9).count == 9)
    #expect((2...4).contains(running.objects.state.withLock { $0.maximumRunning }))
    await running.end()
  }

  @Test("What an attempt left is stored while a later one runs, and the end of the job stores only the rest")
  func attempts() async throws {
    let running = try await Running()
    running.spool.attemptEnded("aaa", of: running.fixture.job)
    let rows = try await running.rows(5)
    #expect(rows.map(\.attempt) == [1, 1, 1, 1, 1])
    for _ in 0..<200 {
      if try await running.store.attempts(of: running.fixture.job).first?.storedAt != nil { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try await running.store.attempts(of: running.fixture.job).first?.storedAt != nil)
    #expect(running.fixture.repairs == 1)
    #expect(running.fixture.document == nil)
    // The folder of the first attempt may be gone then: what was known of it is in the database.
    try FileManager.default.removeItem(atPath: running.fixture.folder(1))
    Foundation.close(running.lock)
    await running.spool.remove(running.fixture.job)
    try await running.storer.store(running.fixture.job)
    let document = try #require(running.fixture.document)
    #expect(document.complete)
    #expect(document.users.map(\.id) == ["../é", "u"])
    #expect(document.users.last?.files.map(\.attempt) == [1, 2])
    #expect(document.users.last?.gaps.map(\.reason) == [.processLost])
    #expect(Set(running.objects.puts.values) == [1])
    await running.spool.end()
  }

  @Test(
    "What is not stored is never removed; copies go after their time, and earlier, the oldest first, on a full disk")
  func localCopies() async throws {
    let running = try await Running()
    let media = "\(running.fixture.folder(2))/media"
    // Segments that the manifest calls complete, one that it does not list, and one that is not stored.
    for (index, name) in ["Ann.0001.webm", "Ann.0002.webm", "Ann.0003.webm"].enumerated() {
      try running.close(name, text: "segment", segment: index + 1)
    }
    try running.fixture.write("open", to: "\(media)/Ann.0004.webm")
    let listed = ["Ann.0001.webm", "Ann.0002.webm", "Ann.0004.webm"].map {
      #"{"name": "\#($0)", "kind": "webm", "start": 0, "duration": 5, "bytes": 7, "complete": true}"#
    }
    try running.fixture.write(
      """
      {"version": 2, "finished": false, "user": "u", "start": "2026-03-01T09:30:00.000Z", "duration": 5, "alignment": {},
      "files": [\(listed.joined(separator: ", "))], "tracks": [], "problems": []}
      """, to: "\(media)/Ann.json")
    _ = try await running.rows(3)
    func present() -> Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []) }
    let all = present()
    let young = try await running.storer.removeLocalCopies { false }
    #expect(young == 0)
    #expect(present() == all)
    try await running.store.connection.execute(
      "UPDATE files SET stored_at = stored_at - 4000000 WHERE name = 'Ann.0002.webm'")
    let old = try await running.storer.removeLocalCopies { false }
    #expect(old == 1)
    #expect(present() == all.subtracting(["Ann.0002.webm"]))
    // The manifest is written by a recorder that holds its lock.
    let lock = open("\(media)/Ann.json", O_RDONLY)
    #expect(flock(lock, LOCK_EX) == 0)
    let short = try await running.storer.removeLocalCopies { true }
    close(lock)
    #expect(short == 1)
    #expect(present() == all.subtracting(["Ann.0001.webm", "Ann.0002.webm"]))
    await running.end()
  }

  @Test("Room is spared for the database while there is some, and given up a piece at a time")
  func spareRoom() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let store = try await JobStore.open("\(fixture.path)/service.db")
    var settings = Storer.Settings(data: fixture.path, program: ["\(fixture.path)/chatbot"])
    settings.spareBytes = 1 << 20
    let notes = Mutex(0)
    let objects = try await FileObjectStore.open("\(fixture.path)/store")
    let storer = Storer(store, objects: objects, settings: settings) { step in
      guard step == .fileNoting else { return }
      let number = notes.withLock { notes in
        notes += 1
        return notes
      }
      // The first file has no room, also not with a piece; the second one has room with a piece.
      if [1, 2, 4].contains(number) { throw SQLError(.full, "The disk is full.") }
    }
    func pieces() -> Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "\(fixture.path)/spare"))?.count ?? 0
    }
    try await storer.removeLocalCopies { true }
    #expect(pieces() == 0)
    try await storer.removeLocalCopies { false }
    #expect(pieces() == 16)
    await #expect(throws: SQLError.self) { try await storer.store(fixture.job) }
    #expect(pieces() == 15)
    try await storer.store(fixture.job)
    // There is room here to take it again.
    #expect(pieces() == 16)
    #expect(notes.withLock { $0 } > 5)
    await (store.connection as? SQLiteConnection)?.close()
  }

  @Test("Copies of a job that has ended go after their time as a whole, and with its recording at once")
  func endedCopies() async throws {
    let running = try await Running()
    Foundation.close(running.lock)
    try await running.storer.store(running.fixture.job)
    #expect(FileManager.default.fileExists(atPath: running.fixture.folder(2)))
    try await running.store.connection.execute("UPDATE jobs SET state = 'finished', ended_at = now_ms()")
    try await running.storer.removeLocalCopies { false }
    #expect(FileManager.default.fileExists(atPath: running.fixture.folder(2)))
    try await running.store.requestDeletion(of: running.fixture.job)
    let deleted = try await running.storer.deleteDue(retention: nil)
    #expect(deleted == 1)
    #expect(!FileManager.default.fileExists(atPath: "\(running.fixture.path)/jobs/\(running.fixture.job)"))
    #expect(running.fixture.keys.isEmpty)
    await running.spool.end()
  }

  @Test(
    "A folder of a job that ended without it is stored, and a second description lists it, whatever step ends the call")
  func amendment() async throws {
    struct Stop: Error {}
    var tried: Set<StoringStep> = []
    while true {
      let fixture = try await StoringFixture()
      try fixture.writeCall()
      // The first attempt is not here when the job ends.
      let away = "\(fixture.path)/away"
      try FileManager.default.moveItem(atPath: fixture.folder(1), toPath: away)
      try await fixture.store()
      let first = try #require(fixture.document)
      #expect(!first.complete)
      #expect(first.missing.map(\.name) == ["1-aaa"])
      try FileManager.default.createDirectory(
        atPath: "\(fixture.path)/jobs/\(fixture.job)", withIntermediateDirectories: true)
      try FileManager.default.moveItem(atPath: away, toPath: fixture.folder(1))
      try await fixture.withStorer { _, store in
        try await store.connection.execute("UPDATE jobs SET state = 'finished', ended_at = now_ms()")
      }
      let known = tried
      let stopped = Mutex<StoringStep?>(nil)
      do {
        try await fixture.withStorer { name in
          guard let step = StoringStep(rawValue: name), stopped.withLock({ $0 }) == nil, !known.contains(step) else {
            return
          }
          stopped.withLock { $0 = step }
          throw Stop()
        } _: { storer, _ in
          try await storer.amend(fixture.job)
        }
      } catch is Stop {
        if let step = stopped.withLock({ $0 }) { tried.insert(step) }
        try await fixture.withStorer { storer, _ in
          // What is not described yet is no copy.
          try await storer.removeLocalCopies { true }
          try await storer.removeLeftovers()
        }
      }
      let second = try #require(fixture.content("recording.2.json").flatMap { RecordingDocument(parsing: $0) })
      #expect(second.complete)
      #expect(second.users.last?.files.map(\.attempt) == [1, 2])
      #expect(fixture.document == first)
      #expect(fixture.content("recording.3.json") == nil)
      #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/jobs/\(fixture.job)"))
      #expect(try await fixture.events().types.suffix(2).last == "recording.amended")
      #expect(try await fixture.events().types.count { $0 == "recording.amended" } == 1)
      // Nothing new: nothing follows.
      try await fixture.withStorer { storer, _ in try await storer.removeLeftovers() }
      #expect(fixture.content("recording.3.json") == nil)
      if tried == known { break }
    }
    #expect(tried.isSuperset(of: [.filePut, .fileNoted, .attemptStored, .documentPut, .documentNoting]))
  }

  @Test("A folder that is in no description is not removed when the storing of its job is repeated")
  func describedWithout() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let away = "\(fixture.path)/away"
    try FileManager.default.moveItem(atPath: fixture.folder(1), toPath: away)
    try await fixture.store()
    #expect(fixture.document?.complete == false)
    try FileManager.default.createDirectory(
      atPath: "\(fixture.path)/jobs/\(fixture.job)", withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: away, toPath: fixture.folder(1))
    // The service ended before it noted the end of the job.
    try await fixture.store()
    #expect(FileManager.default.fileExists(atPath: "\(fixture.folder(1))/media/Ann.webm"))
  }
}
