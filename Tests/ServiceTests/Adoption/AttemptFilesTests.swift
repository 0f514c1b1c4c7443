import Foundation
import JobProtocol
import Service
import Testing

@Suite("the files of an attempt")
struct AttemptFilesTests {
  private let specification = JobSpecification(
    job: "j1", attemptID: "a1", kind: .record, server: JobServer(url: "ws://127.0.0.1:1"))

  private func withDirectory(_ body: (AttemptDirectory) throws -> Void) throws {
    let data = NSTemporaryDirectory() + "attempt-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: data) }
    let directory = AttemptDirectory(data: data, job: "j1", attempt: 1, attemptID: "a1")
    try directory.create(specification)
    try body(directory)
  }

  @Test("the folder and the specification are this user's only, and are written once")
  func created() throws {
    try withDirectory { directory in
      #expect(directory.specification()?.attemptID == "a1")
      let folder = try FileManager.default.attributesOfItem(atPath: directory.path)
      #expect(folder[.posixPermissions] as? Int == 0o700)
      let file = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/spec.json")
      #expect(file[.posixPermissions] as? Int == 0o600)
      #expect(throws: AttemptDirectory.WriteError.self) { try directory.create(specification) }
    }
  }

  @Test("the lock of a process that was never there can be taken, and then keeps a late process away")
  func fence() throws {
    try withDirectory { directory in
      #expect(AttemptLock.state(of: directory.path) == .free)
      var fence = AttemptLock.fence(directory.path)
      #expect(fence != nil)
      #expect(AttemptLock.state(of: directory.path) == .held)
      #expect(AttemptLock.fence(directory.path) == nil)
      fence = nil
      #expect(AttemptLock.state(of: directory.path) == .free)
    }
  }

  private func entry(_ seq: Int64) throws -> Data {
    try JournalEntry(seq: seq, time: 1, event: .joined(user: "me")).line + Data("\n".utf8)
  }

  @Test("a journal is read as it grows, without an incomplete line, up to a broken one")
  func journal() throws {
    try withDirectory { directory in
      var tail = JournalTail(folder: directory)
      let nothing = tail.more().entries
      #expect(nothing.isEmpty)
      let path = "\(directory.path)/journal.ndjson"
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      let file = try #require(FileHandle(forWritingAtPath: path))
      let second = try entry(2)
      try file.write(contentsOf: entry(1) + second.prefix(10))
      let first = tail.more().entries
      #expect(first.map(\.seq) == [1])
      let incomplete = tail.more().entries
      #expect(incomplete.isEmpty)
      try file.write(contentsOf: second.dropFirst(10))
      let complete = tail.more().entries
      #expect(complete.map(\.seq) == [2])
      try file.write(contentsOf: entry(3) + entry(5) + entry(6))
      let beforeBroken = tail.more().entries
      #expect(beforeBroken.map(\.seq) == [3])
      #expect(tail.problem != nil)
      let after = tail.more().entries
      #expect(after.isEmpty)
    }
  }
}
