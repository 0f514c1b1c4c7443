import Foundation
import ObjectStore
import Synchronization
import Testing

@Suite("Objects as files")
struct FileObjectStoreTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = "\(folder.path)/store"
  }

  private func source(_ text: String, _ name: String = "source") throws -> SourceFile {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
    return try SourceFile(path: "\(folder.path)/\(name)")
  }

  private func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

  @Test("A file is stored and read, whole and in part")
  func roundTrip() async throws {
    let store = try await FileObjectStore.open(root)
    let text = String(repeating: "0123456789", count: 100_000)
    let object = try await store.put(try source(text), at: try key("a/b/c.webm"))
    #expect(object.bytes == 1_000_000)
    #expect(object.sha256 == ObjectDigest.hex(of: Array(text.utf8)))
    let reader = try await store.open(try key("a/b/c.webm"))
    #expect(reader.size == 1_000_000)
    let all = try await reader.readAll(limit: 1_000_000)
    #expect(String(decoding: all, as: UTF8.self) == text)
    var part: [UInt8] = []
    for try await piece in reader.pieces(of: 999_995..<2_000_000) { part += piece }
    #expect(part == Array("56789".utf8))
    await #expect(throws: ObjectStoreError.self) { try await reader.readAll(limit: 999_999) }
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/a/b/c.webm")
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o400)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/.incoming").isEmpty)
  }

  @Test("The digests of an empty object and of a known text are those of FIPS 180-4")
  func digests() {
    #expect(ObjectDigest.hex(of: []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      ObjectDigest.hex(of: Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test("An object is never overwritten; the same content counts as stored")
  func noOverwriting() async throws {
    let store = try await FileObjectStore.open(root)
    let key = try key("a/x")
    let first = try await store.put(try source("one"), at: key)
    let again = try await store.put(try source("one"), at: key)
    #expect(first == again)
    #expect(try await store.put(Array("one".utf8), at: key) == first)
    for text in ["two", "three"] {
      let other = try source(text)
      let error = await #expect(throws: ObjectStoreError.self) { try await store.put(other, at: key) }
      #expect(error?.kind == .exists)
    }
    #expect(try await store.open(key).readAll(limit: 10) == Array("one".utf8))
  }

  @Test("Of a hundred puts of one key at once, one content wins and stays")
  func race() async throws {
    let store = try await FileObjectStore.open(root)
    let key = try key("race")
    let winners = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<100 {
        group.addTask { (try? await store.put(Array("\(number)".utf8), at: key)).map { _ in number } }
      }
      return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
    }
    let content = try await store.open(key).readAll(limit: 10)
    #expect(winners.map { Array("\($0)".utf8) } == [content])
  }

  @Test("An object has its name only when all of it is on the disk", arguments: FileObjectStore.Step.allCases)
  func order(step: FileObjectStore.Step) async throws {
    struct Stop: Error {}
    let stops = Mutex(true)
    let store = try await FileObjectStore.open(root) { reached in
      if reached == step, stops.withLock({ $0 }) { throw Stop() }
    }
    let key = try key("a/b")
    await #expect(throws: Stop.self) { try await store.put(Array("text".utf8), at: key) }
    let isThere = FileManager.default.fileExists(atPath: "\(root)/a/b")
    #expect(isThere == (step == .linked || step == .folderSynchronized))
    stops.withLock { $0 = false }
    _ = try await store.put(Array("text".utf8), at: key)
    #expect(try await store.open(key).readAll(limit: 10) == Array("text".utf8))
  }

  @Test("What another process has not finished is removed, what it writes now is not")
  func abandoned() async throws {
    _ = try await FileObjectStore.open(root)
    let abandoned = "\(root)/.incoming/old.part"
    let live = "\(root)/.incoming/live.part"
    for path in [abandoned, live] { try Data([1]).write(to: URL(fileURLWithPath: path)) }
    let lock = open(live, O_RDONLY)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    _ = try await FileObjectStore.open(root)
    #expect(!FileManager.default.fileExists(atPath: abandoned))
    #expect(FileManager.default.fileExists(atPath: live))
  }

  @Test("Only plain files that nobody writes are stored")
  func sources() throws {
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: "\(folder.path)/link", withDestinationPath: "/etc/passwd")
    #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
    try manager.createDirectory(atPath: "\(folder.path)/folder", withIntermediateDirectories: false)
    func kind(_ name: String) -> ObjectStoreError.Kind? {
      do throws(ObjectStoreError) {
        _ = try SourceFile(path: "\(folder.path)/\(name)")
        return nil
      } catch {
        return error.kind
      }
    }
    #expect(kind("link") == .notAFile)
    #expect(kind("pipe") == .notAFile)
    #expect(kind("folder") == .notAFile)
    #expect(kind("none") == .missing)
    _ = try source("x", "busy")
    let lock = open("\(folder.path)/busy", O_RDONLY)
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(kind("busy") == .busy)
    close(lock)
    #expect(kind("busy") == nil)
  }

  @Test("Objects below a path are listed and deleted, and empty folders go with them")
  func deletion() async throws {
    let store = try await FileObjectStore.open(root)
    for text in ["d/j1/recording.json", "d/j1/1-a/x", "d/j1/1-a/y", "d/j2/z"] {
      _ = try await store.put(Array(text.utf8), at: try key(text))
    }
    let found = try await store.keys(below: try key("d/j1"))
    #expect(found.map(\.text) == ["d/j1/1-a/x", "d/j1/1-a/y", "d/j1/recording.json"])
    for key in found {
      try await store.delete(key)
      try await store.delete(key)
    }
    #expect(try await store.keys(below: try key("d/j1")).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(root)/d/j1"))
    #expect(try await store.keys(below: try key("d")).map(\.text) == ["d/j2/z"])
    let gone = try key("d/j1/1-a/x")
    let error = await #expect(throws: ObjectStoreError.self) { _ = try await store.open(gone) }
    #expect(error?.kind == .missing)
  }

  @Test("The free space is that of the file system")
  func free() async throws {
    let store = try await FileObjectStore.open(root)
    let free = try await store.freeBytes
    #expect((free ?? 0) > 0)
  }

  @Test(
    "A URL names an absolute folder",
    arguments: [
      ("file:///srv/a", "/srv/a"), ("file://srv/a", nil), ("/srv/a", nil), ("s3://a", nil), ("file:///a%20b", nil),
    ] as [(String, String?)])
  func url(text: String, path: String?) {
    #expect(FileObjectStore.path(ofURL: text) == path)
  }

  @Test("A thread that gives no answer is not waited for longer than the limit")
  func timeout() async throws {
    let error = await #expect(throws: ObjectStoreError.self) {
      try await BlockingWork.run("slow", within: .milliseconds(50)) { _ = usleep(2_000_000) }
    }
    #expect(error?.kind == .timeout)
  }
}
