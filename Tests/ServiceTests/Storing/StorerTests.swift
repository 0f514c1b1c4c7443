import Foundation
import JobProtocol
import ObjectStore
import SQLStore
import Service
import Synchronization
import Testing

@Suite("Storing the folders of a job")
struct StorerTests {
  private static let stored = [
    "1-aaa/Ann.json", "1-aaa/Ann.webm", "1-aaa/__=C3=A9.json", "1-aaa/__=C3=A9.webm", "1-aaa/log.ndjson",
    "2-bbb/Ann.json", "2-bbb/Ann.webm", "2-bbb/log.ndjson", "recording.json",
  ]

  /// Checks all that holds of a stored call.
  private func checkStored(_ fixture: StoringFixture) async throws {
    #expect(fixture.keys == Self.stored)
    #expect(FileManager.default.subpaths(atPath: "\(fixture.path)/store/.incoming") == [])
    let document = try #require(fixture.document)
    #expect(document.complete)
    #expect(document.objects.map(\.object) == Self.stored.dropLast().map { "\(fixture.prefix)/\($0)" })
    for object in document.objects {
      let content = try #require(fixture.content(String(object.object.dropFirst(fixture.prefix.utf8.count + 1))))
      #expect(content.count == Int(object.bytes))
      #expect(ObjectDigest.hex(of: content) == object.sha256)
    }
    #expect(document.users.map(\.id) == ["../é", "u"])
    #expect(document.users.last?.files.map(\.attempt) == [1, 2])
    #expect(document.users.last?.gaps.map(\.reason) == [.processLost])
    #expect(document.users.last?.gaps.map(\.duration) == [16])
    #expect(fixture.content("1-aaa/Ann.webm") == Array("frames of u in 1repaired".utf8))
    let events = try await fixture.events()
    #expect(events.types == Array(repeating: "recording.file", count: 6) + ["recording.finished"])
    let media = Self.stored.filter { !$0.hasSuffix("log.ndjson") && $0 != "recording.json" }
    #expect(events.files == media.map { "\(fixture.prefix)/\($0)" })
    #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/jobs/\(fixture.job)"))
  }

  @Test("A call is repaired, stored, described and reported")
  func call() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try await fixture.store()
    try await checkStored(fixture)
    #expect(fixture.repairs == 1)
    let document = try #require(fixture.document)
    #expect(document.labels == ["meeting": "42"])
    #expect(document.attempts.map(\.id) == ["aaa", "bbb"])
    // Once more changes nothing.
    let text = fixture.content("recording.json")
    try await fixture.store()
    try await checkStored(fixture)
    #expect(fixture.content("recording.json") == text)
  }

  @Test("After an error at any step, storing begins again, and every object is there once")
  func everyStep() async throws {
    struct Stop: Error {}
    var tried = Set<String>()
    while true {
      let fixture = try await StoringFixture()
      try fixture.writeCall()
      let known = tried
      let stop = Mutex("")
      do {
        try await fixture.store { step in
          // Who sees the description can read all that it lists, at each moment.
          if let document = fixture.document {
            #expect(fixture.keys.count == document.objects.count + 1)
            #expect(document.objects.count == Self.stored.count - 1)
          }
          if stop.withLock({ $0 }).isEmpty, !known.contains(step) {
            stop.withLock { $0 = step }
            throw Stop()
          }
        }
      } catch is Stop {
        tried.insert(stop.withLock { $0 })
        try await fixture.store()
      }
      try await checkStored(fixture)
      if tried == known { break }
    }
    let steps = StoringStep.allCases.prefix { $0 != .deletionBegun }.map { "\($0)" }
    #expect(tried == Set(steps + FileObjectStore.Step.allCases.map { "object \($0)" }))
  }

  @Test("After a kill at each of 25 points, every object is there once", arguments: 1...25)
  func kill(point: Int) async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    // The call has 93 steps.
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = fixture.path as String, job = fixture.job.text as String, stop = 1 + (point - 1) * 15 / 4 as Int] in
      let store = try await JobStore.open("\(path)/service.db")
      let count = Mutex(0)
      let step: @Sendable () -> Void = {
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == stop { Foundation.kill(getpid(), SIGKILL) }
      }
      let objects = try await FileObjectStore.open("\(path)/store") { _ in step() }
      var settings = Storer.Settings(data: path, program: ["\(path)/chatbot"])
      settings.template = try ObjectPathTemplate("recordings/{job}")
      let storer = Storer(store, objects: objects, settings: settings) { _ in step() }
      let id = try #require(JobID(job))
      try await storer.store(id, attempts: try await store.attempts(of: id))
      Issue.record("The call has fewer than \(stop) steps.")
    }
    try await fixture.store()
    try await checkStored(fixture)
  }

  @Test(
    "Hostile names, links and pipes stay within the prefix, and are reported as missing where they cannot be stored")
  func hostile() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let media = "\(fixture.folder(2))/media"
    let emoji = String(repeating: "😀", count: 60)
    for name in ["<b>\n.txt", "a\\..\\b", "=41", emoji, "%2e%2e", "-rf", "folder/deep/x", "con:"] {
      try fixture.write(name, to: "\(media)/\(name)")
    }
    try fixture.write("log", to: "\(media)/log.ndjson")
    try FileManager.default.createSymbolicLink(atPath: "\(media)/passwd", withDestinationPath: "/etc/passwd")
    try FileManager.default.createSymbolicLink(atPath: "\(media)/etc", withDestinationPath: "/etc")
    #expect(mkfifo("\(media)/pipe", 0o600) == 0)
    // A name that is not UTF-8.
    let raw = open("\(media)/", O_RDONLY | O_DIRECTORY)
    let bytes: [CChar] = [0x61, -1, 0x62, 0]
    let file = openat(raw, bytes, O_CREAT | O_WRONLY, 0o600)
    #expect(file >= 0)
    close(file)
    close(raw)
    try await fixture.store()
    let document = try #require(fixture.document)
    #expect(!document.complete)
    #expect(document.missing.map(\.name) == ["a\u{FFFD}b", "etc", "passwd", "pipe"])
    for key in fixture.keys {
      #expect(ObjectKey(key) != nil, "\(key)")
      #expect(key.utf8.allSatisfy { $0 < 0x80 })
    }
    let keys = Set(fixture.keys)
    for key in [
      "2-bbb/=3Cb=3E=0A.txt", "2-bbb/a=5C..=5Cb", "2-bbb/=3D41", "2-bbb/=252e=252e", "2-bbb/-rf",
      "2-bbb/folder/deep/x", "2-bbb/con=3A", "2-bbb/log.ndjson", "2-bbb/process-log.ndjson",
    ] {
      #expect(keys.contains(key), "\(key)")
    }
    #expect(fixture.content("2-bbb/log.ndjson") == Array("log".utf8))
    #expect(
      Set(FileManager.default.subpaths(atPath: "\(fixture.path)/store") ?? []).allSatisfy {
        $0.hasPrefix("recordings") || $0.hasPrefix(".incoming")
      })
  }

  @Test("What the journal or a manifest lists and is gone is missing")
  func missing() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try FileManager.default.removeItem(atPath: "\(fixture.folder(2))/media/Ann.webm")
    try fixture.writeJournal(
      2,
      [
        (20_000, fixture.started(2)),
        (21_000, .fileClosed(.init(name: "chat.ndjson", kind: .chat, bytes: 3, sha256: "00"))),
      ])
    try await fixture.store()
    let document = try #require(fixture.document)
    #expect(!document.complete)
    #expect(document.missing.map(\.name) == ["Ann.webm", "chat.ndjson"])
  }

  @Test("A store that is gone makes storing fail, and no file missing")
  func noStore() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    await #expect(throws: ObjectStoreError.self) {
      try await fixture.store { step in
        if step == "fileBegins" { try FileManager.default.removeItem(atPath: "\(fixture.path)/store") }
      }
    }
    #expect(FileManager.default.fileExists(atPath: "\(fixture.folder(2))/media/Ann.webm"))
    try await fixture.store()
    try await checkStored(fixture)
  }

  @Test("A broken line of a journal hides only what comes after it")
  func brokenJournal() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let joined = JournalEvent.participantJoined(.init(user: "w", name: "Wim"))
    try fixture.writeJournal(1, [(0, fixture.started(1)), (500, joined)], rest: "broken\n{}\n")
    try await fixture.store()
    let user = try #require(fixture.document?.users.last)
    #expect(user.id == "w")
    #expect(user.gaps.map(\.reason) == [.processLost])
  }

  @Test("A folder that is gone is missing, and the rest is stored")
  func noFolder() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try FileManager.default.removeItem(atPath: fixture.folder(1))
    try await fixture.store()
    #expect(fixture.document?.missing.map(\.name) == ["1-aaa"])
    #expect(fixture.keys.contains("2-bbb/Ann.webm"))
  }

  @Test("What cannot be repaired is stored as it is")
  func unrepairable() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try fixture.write(
      "#!/bin/sh\necho run >>\"\(fixture.path)/repairs\"\nkill -SEGV $$\n", to: "\(fixture.path)/chatbot")
    try await fixture.store()
    #expect(fixture.repairs == 3)
    #expect(fixture.document?.complete == false)
    #expect(fixture.document?.users.last?.files.map(\.complete) == [false, true])
    #expect(fixture.content("1-aaa/Ann.webm") == Array("frames of u in 1".utf8))
  }

  @Test("A repair that hangs is killed")
  func hangingRepair() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try fixture.write("#!/bin/sh\nexec sleep 1000\n", to: "\(fixture.path)/chatbot")
    let store = try await JobStore.open("\(fixture.path)/service.db")
    let objects = try await FileObjectStore.open("\(fixture.path)/store")
    var settings = Storer.Settings(data: fixture.path, program: ["\(fixture.path)/chatbot"])
    settings.repairLimit = .milliseconds(100)
    let storer = Storer(store, objects: objects, settings: settings)
    try await storer.store(fixture.job, attempts: try await store.attempts(of: fixture.job))
    #expect(try await store.storedJob(fixture.job)?.manifestStoredAt != nil)
  }

  @Test("Nothing is stored while the process lives, or a file is being written")
  func alive() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    for name in ["lock", "media/Ann.webm"] {
      let lock = open("\(fixture.folder(1))/\(name)", O_RDONLY)
      #expect(flock(lock, LOCK_EX) == 0)
      await #expect(throws: StoringError.self) { try await fixture.store() }
      close(lock)
      #expect(fixture.keys.isEmpty)
    }
    try await fixture.store()
    try await checkStored(fixture)
  }

  @Test("A job that records nobody has no files but its description; of one that plays, only the log is stored")
  func nothing() async throws {
    for kind in ["record", "play"] {
      let fixture = try await StoringFixture(kind: kind)
      try fixture.write("{}", to: "\(fixture.folder(2))/log.ndjson")
      try fixture.write("", to: "\(fixture.folder(1))/lock")
      try await fixture.store()
      #expect(fixture.keys == ["2-bbb/log.ndjson"] + (kind == "record" ? ["recording.json"] : []))
      #expect(try await fixture.events().types == (kind == "record" ? ["recording.finished"] : []))
      #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/jobs/\(fixture.job)"))
    }
  }

  @Test("An object that others have put under a key stays, and the file gets another key")
  func otherContent() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try fixture.write("other", to: "\(fixture.path)/store/\(fixture.prefix)/2-bbb/Ann.webm")
    try await fixture.store()
    #expect(fixture.content("2-bbb/Ann.webm") == Array("other".utf8))
    #expect(fixture.content("2-bbb/2/Ann.webm") == Array("frames of u in 2".utf8))
    #expect(fixture.document?.users.last?.files.last?.object == "\(fixture.prefix)/2-bbb/2/Ann.webm")
  }

  // MARK: Deletion

  private func end(_ fixture: StoringFixture) async throws {
    try await fixture.withStorer { _, store in
      try await store.connection.execute(
        "UPDATE jobs SET state = 'finished', ended_at = now_ms() - 5000 WHERE id = $1", [fixture.job.value])
    }
  }

  @Test("Deleting can stop at any step: the description goes first, and in the end all objects are gone")
  func deletion() async throws {
    struct Stop: Error {}
    var point = 0
    while true {
      point += 1
      let stop = point
      let fixture = try await StoringFixture()
      try fixture.writeCall()
      try await fixture.store()
      try await end(fixture)
      let count = Mutex(0)
      var stopped = false
      do {
        try await fixture.withStorer { _ in
          // While the description is there, so is all that it lists.
          if let document = fixture.document { #expect(fixture.keys.count == document.objects.count + 1) }
          let number = count.withLock { count in
            count += 1
            return count
          }
          if number == stop { throw Stop() }
        } _: { storer, _ in
          let asked = try await storer.deleteDue(retention: nil)
          let young = try await storer.deleteDue(retention: 60_000)
          #expect(asked + young == 0)
          _ = try await storer.deleteDue(retention: 1_000)
        }
      } catch is Stop {
        stopped = true
      }
      if stopped { try await fixture.withStorer { storer, _ in _ = try await storer.deleteDue(retention: nil) } }
      #expect(fixture.keys.isEmpty)
      #expect(try await fixture.events().types.suffix(2) == ["recording.finished", "recording.deleted"])
      try await fixture.withStorer { storer, store in
        let files = try await store.files(of: fixture.job)
        let job = try await store.storedJob(fixture.job)
        let deleted = try await storer.deleteDue(retention: 0)
        #expect(files.isEmpty)
        #expect(job?.deleted == true)
        #expect(deleted == 0)
      }
      if !stopped { break }
    }
    #expect(point > 8)
  }

  @Test("A recording that cannot be deleted holds up no other one")
  func undeletable() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try await fixture.store()
    try await end(fixture)
    try fixture.write("no folder", to: "\(fixture.path)/store/blocked")
    try await fixture.withStorer { storer, store in
      try await store.connection.execute(
        """
        INSERT INTO jobs (id, project, kind, state, paused, request, room, server, created_at, ended_at, object_path,
          delete_requested_at)
        VALUES ('blocked', 'p', 'record', 'finished', '{}', '{}', '100', 'main', 1, 2, 'blocked/job', 3)
        """)
      try await store.requestDeletion(of: fixture.job)
      await #expect(throws: ObjectStoreError.self) { try await storer.deleteDue(retention: nil) }
      #expect(try await store.storedJob(fixture.job)?.deleted == true)
      #expect(try await store.deletionsToDo(limit: 10).map(\.id.text) == ["blocked"])
    }
    #expect(fixture.keys.isEmpty)
  }

  @Test("Folders that a crash has left behind are removed once their job has ended")
  func leftovers() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    try fixture.write("x", to: "\(fixture.path)/jobs/unknown/1-a/spec.json")
    try await fixture.withStorer { storer, _ in try await storer.removeLeftovers() }
    #expect(FileManager.default.fileExists(atPath: fixture.folder(1)))
    try await end(fixture)
    try await fixture.withStorer { storer, _ in try await storer.removeLeftovers() }
    #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/jobs/\(fixture.job)"))
    #expect(FileManager.default.fileExists(atPath: "\(fixture.path)/jobs/unknown/1-a/spec.json"))
  }
}
