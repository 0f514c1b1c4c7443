import DataMessages
import Foundation
import Media
import NIOCore
import RoomMessages
import Testing

@Suite("The folder of received files")
struct ReceivedFilesTests {
  /// A new folder, which is removed after the test.
  final class Scratch {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("received-\(UUID().uuidString)")
    var path: String { url.path }
    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
    func text(_ name: String) throws -> String {
      try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
    }
  }

  private func receive(
    _ announced: String, _ content: String, from user: ParticipantID = "eve", into folder: ReceivedFileFolder
  ) async throws -> String {
    let name = try FileName(announced: UntrustedText(announced))
    let file = try await folder.create(name, size: Int64(content.utf8.count))
    try file.write(ByteBuffer(string: content))
    return try await folder.complete(file, of: user, sha256: "00")
  }

  @Test("a file that is called like the log does not become the log, whatever its case")
  func log() async throws {
    let scratch = try Scratch()
    let folder = try ReceivedFileFolder(scratch.path)
    let forged = #"{"user":"bob","complete":true}"# + "\n"
    #expect(try await receive("received.jsonl", forged, into: folder) == "_received.jsonl")
    #expect(try await receive("Received.JSONL", forged, into: folder) == "_Received.JSONL")
    #expect(try await receive("a.txt", "a", into: folder) == "a.txt")
    let lines = try scratch.text("received.jsonl").split(separator: "\n")
    #expect(lines.count == 3 && lines.allSatisfy { $0.contains(#""user":"eve""#) })
  }

  @Test("a call writes a log of its own beside that of an earlier one, or beside a stranger's file or link")
  func laterCalls() async throws {
    let scratch = try Scratch()
    try "forged\n".write(to: scratch.url.appendingPathComponent("received.jsonl"), atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(
      at: scratch.url.appendingPathComponent("received (2).jsonl"), withDestinationURL: URL(filePath: "/dev/null"))
    let folder = try ReceivedFileFolder(scratch.path)
    _ = try await receive("a.txt", "a", into: folder)
    #expect(try scratch.text("received.jsonl") == "forged\n")
    #expect(try scratch.text("received (3).jsonl").contains("a.txt"))
  }

  @Test("a call in which nothing was received leaves no log, and users' names are escaped in it")
  func empty() async throws {
    let scratch = try Scratch()
    do { _ = try ReceivedFileFolder(scratch.path) }
    #expect(try scratch.names.isEmpty)
    let folder = try ReceivedFileFolder(scratch.path)
    _ = try await receive("a.txt", "a", from: "\u{202E}\u{9B}", into: folder)
    #expect(try scratch.text("received.jsonl").contains(#""user":"\u202e\u009b""#))
  }

  @Test("recordings and received files need folders of their own, by whatever path")
  func oneFolder() throws {
    let scratch = try Scratch()
    let link = scratch.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.path)
    defer { try? FileManager.default.removeItem(atPath: link) }
    for path in [scratch.path, scratch.path + "/.", link] {
      do {
        _ = try ReceivedFileFolder(path, recordings: scratch.path)
        Issue.record("\(path) was accepted.")
      } catch {
        #expect(error.cause == .sharedFolder && error.description.contains("folders of their own"))
      }
    }
    _ = try ReceivedFileFolder(scratch.path + "/in", recordings: scratch.path)
    #expect(try scratch.names == ["in"])
  }
}
