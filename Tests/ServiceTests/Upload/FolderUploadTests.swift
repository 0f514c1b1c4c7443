import Foundation
import Logging
import Media
import ObjectStore
import Service
import Testing

@Suite("Uploading the folder of a recorder")
struct FolderUploadTests {
  /// A folder of recordings, and a store beside it.
  private final class Folder: Sendable {
    let path: String
    var media: String { "\(path)/out" }
    var store: String { "\(path)/store" }

    init() throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: "\(path)/out", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(media)/\(name)"))
    }

    func writeManifest(_ base: String, finished: Bool, files: [(name: String, complete: Bool)]) throws {
      let list = files.map {
        #"{"name": "\#($0.name)", "kind": "webm", "start": 0, "duration": 5, "bytes": 9, "complete": \#($0.complete)}"#
      }
      try write(
        """
        {"version": 2, "finished": \(finished), "room": "100", "user": "\(base)", "start": "2026-03-01T09:30:00.000Z",
        "duration": 5, "endReason": "left", "alignment": {}, "files": [\(list.joined(separator: ", "))],
        "tracks": [{"kind": "video", "start": 0, "duration": 5, "gaps": []}], "problems": []}
        """, to: "\(base).json")
    }

    func upload(waits: Bool = false, _ change: (inout FolderUpload.Settings) -> Void = { _ in }) -> FolderUpload {
      var settings = FolderUpload.Settings(folder: media, url: "file://\(store)", version: "1")
      settings.waitsForEnd = waits
      change(&settings)
      return FolderUpload(settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The keys in the store, without the two first parts.
    var keys: [String] {
      (FileManager.default.subpaths(atPath: store) ?? []).filter { $0.contains(".") && !$0.hasPrefix(".incoming") }
        .map { $0.split(separator: "/").dropFirst(2).joined(separator: "/") }.sorted()
    }

    /// The names of the files in the store.
    var names: [String] { keys.map { String($0.split(separator: "/").last ?? "") }.sorted() }

    func document(_ result: FolderUpload.Result) throws -> RecordingDocument {
      let path = String(result.document.dropFirst("file://".count))
      return try #require(RecordingDocument(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
    }

    /// The name of the file in which the upload notes what it has stored.
    var state: String? {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []
      return names.first { $0.hasPrefix(".upload-") && $0.hasSuffix(".json") }
    }

    func wait(for name: String) async throws {
      for _ in 0..<300 where !names.contains(name) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(names.contains(name))
    }
  }

  @Test(
    "Closed segments are stored while it is recorded, the rest when standard input says the end, recording.json last")
  func whileRecording() async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.0001.webm")
    try folder.write("tw", to: "Ann.0002.webm")
    try folder.writeManifest("Ann", finished: false, files: [("Ann.0001.webm", true), ("Ann.0002.webm", false)])
    // As the recorder holds it.
    let lock = open("\(folder.media)/Ann.json", O_RDONLY)
    #expect(flock(lock, LOCK_EX) == 0)
    let upload = folder.upload(waits: true)
    async let running = upload.run(environment: [:])
    try await folder.wait(for: "Ann.0001.webm")
    #expect(folder.names == ["Ann.0001.webm"])
    close(lock)
    try folder.write("two", to: "Ann.0002.webm")
    try folder.write("{}", to: "100.chat.jsonl")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.0001.webm", true), ("Ann.0002.webm", true)])
    upload.ended()
    let result = try await running
    #expect(folder.names == ["100.chat.jsonl", "Ann.0001.webm", "Ann.0002.webm", "Ann.json", "recording.json"])
    let document = try folder.document(result)
    #expect(document.complete)
    #expect(document.room == "100")
    #expect(document.users.map { $0.files.count } == [2])
    #expect(Set(document.objects.map(\.kind)) == ["chat", "manifest", "webm"])
    for object in document.objects {
      let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder.store)/\(object.object)"))
      #expect(ObjectDigest.hex(of: Array(content)) == object.sha256)
    }
    // Nothing of the folder was changed.
    #expect(FileManager.default.fileExists(atPath: "\(folder.media)/Ann.0001.webm"))
  }

  @Test("What cannot be noted for a while, as on a full disk, does not end the upload while it is recorded")
  func notNoted() async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.0001.webm")
    try folder.writeManifest("Ann", finished: false, files: [("Ann.0001.webm", true)])
    let upload = folder.upload(waits: true)
    async let running = upload.run(environment: [:])
    try await folder.wait(for: "Ann.0001.webm")
    for _ in 0..<300 where folder.state == nil { try await Task.sleep(for: .milliseconds(20)) }
    let state = try #require(folder.state)
    // No draft of it can be written.
    let draft = "\(folder.media)/\(state).part"
    try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
    try folder.write("two", to: "Ann.0002.webm")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.0001.webm", true), ("Ann.0002.webm", true)])
    try await folder.wait(for: "Ann.0002.webm")
    try await Task.sleep(for: .milliseconds(500))
    try FileManager.default.removeItem(atPath: draft)
    upload.ended()
    let result = try await running
    #expect(result.files == 3)
    #expect(folder.names == ["Ann.0001.webm", "Ann.0002.webm", "Ann.json", "recording.json"])
  }

  @Test("Without standard input it waits as long as a recorder has locked the folder")
  func locked() async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.webm")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.webm", true)])
    var lock = FolderLock(sharing: folder.media)
    #expect(lock != nil)
    #expect(FolderLock.isHeld(folder.media))
    let upload = folder.upload()
    async let running = upload.run(environment: [:])
    try await folder.wait(for: "Ann.json")
    try await Task.sleep(for: .milliseconds(1_200))
    #expect(!folder.names.contains("recording.json"))
    lock = nil
    _ = try await running
    #expect(folder.names.contains("recording.json"))
  }

  @Test("A repeated upload changes nothing; what came later is described by another description")
  func repeated() async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.webm")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.webm", true)])
    let first = try await folder.upload().run(environment: [:])
    let keys = folder.keys
    let second = try await folder.upload().run(environment: [:])
    #expect(second == first)
    #expect(folder.keys == keys)
    try folder.write("two", to: "Bob.webm")
    try folder.writeManifest("Bob", finished: true, files: [("Bob.webm", true)])
    let third = try await folder.upload().run(environment: [:])
    #expect(third.document.hasSuffix("/recording.2.json"))
    #expect(try folder.document(third).users.map(\.id) == ["Ann", "Bob"])
    #expect(try folder.document(first).users.map(\.id) == ["Ann"])
    // Another store gets all of it.
    let other = try await folder.upload { $0.url += "2" }.run(environment: [:])
    #expect(other.files == 4)
    #expect(other.document.hasSuffix("/recording.json"))
  }

  @Test("A file that was changed after it was stored is another object; none is overwritten")
  func changed() async throws {
    let folder = try Folder()
    try folder.write("one", to: "notes.txt")
    _ = try await folder.upload().run(environment: [:])
    try folder.write("one and more", to: "notes.txt")
    let result = try await folder.upload().run(environment: [:])
    #expect(folder.keys.count == 4)
    let object = try #require(try folder.document(result).objects.first)
    #expect(object.bytes == 12)
    #expect(object.object.contains("/2/"))
  }

  @Test("Files whose names look the same are two files")
  func equalNames() async throws {
    let folder = try Folder()
    try folder.write("one", to: "\u{E9}.txt")
    try folder.write("three", to: "e\u{301}.txt")
    let first = try await folder.upload().run(environment: [:])
    #expect(first.files == 2)
    #expect(try folder.document(first).objects.map(\.bytes).sorted() == [3, 5])
    #expect(try await folder.upload().run(environment: [:]) == first)
  }

  @Test("What is no plain file is named, and the rest is stored and described")
  func incomplete() async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.webm")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.webm", true)])
    try FileManager.default.createSymbolicLink(atPath: "\(folder.media)/passwd", withDestinationPath: "/etc/passwd")
    await #expect {
      try await folder.upload().run(environment: [:])
    } throws: { error in
      guard let failure = error as? FolderUpload.Failure else { return false }
      return failure.kind == .incomplete && failure.description.contains("passwd")
    }
    #expect(folder.names == ["Ann.json", "Ann.webm", "recording.json"])
  }

  @Test("A folder that is missing, a store that is none, and an empty folder")
  func unusable() async throws {
    let folder = try Folder()
    await #expect {
      try await folder.upload { $0.folder += "/none" }.run(environment: [:])
    } throws: { ($0 as? FolderUpload.Failure)?.kind == .unreadable }
    await #expect {
      try await folder.upload { $0.url = "s3://x" }.run(environment: [:])
    } throws: { ($0 as? FolderUpload.Failure)?.kind == .usage }
    let result = try await folder.upload().run(environment: [:])
    #expect(result.files == 0)
    #expect(folder.keys.isEmpty)
  }

  @Test("A store that cannot be used for too long ends the upload; the next one goes on", arguments: [false, true])
  func away(waits: Bool) async throws {
    let folder = try Folder()
    try folder.write("one", to: "Ann.webm")
    try folder.writeManifest("Ann", finished: true, files: [("Ann.webm", true)])
    // Nothing can be created in it.
    try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: "\(folder.store)/2026"))
    let upload = folder.upload(waits: waits) { settings in
      settings.template = (try? ObjectPathTemplate("2026/{job}")) ?? .standard
      settings.patience = .seconds(1)
    }
    if waits { upload.ended() }
    await #expect {
      try await upload.run(environment: [:])
    } throws: { ($0 as? FolderUpload.Failure)?.kind == .unreachable }
    try FileManager.default.removeItem(atPath: "\(folder.store)/2026")
    let result = try await folder.upload().run(environment: [:])
    #expect(result.files == 2)
    #expect(folder.names == ["Ann.json", "Ann.webm", "recording.json"])
  }
}
