import Foundation
import NIOCore
import Recorder
import Testing

@Suite("Manifest file")
struct ManifestFileTests {
  private let disk = ScriptedDisk()

  private func text(_ length: Int) -> ByteBuffer {
    ByteBuffer(string: "{\"text\": \"\(String(repeating: "x", count: length))\"}\n")
  }

  /// The content of the file, without the trailing blanks.
  private var content: String {
    String(decoding: disk.files["anna.json"] ?? [], as: UTF8.self).replacingOccurrences(
      of: " *$", with: "", options: .regularExpression)
  }

  @Test(
    "a manifest has space for 3 KiB more on a full disk, and is valid JSON at all times",
    arguments: [100, 3_000, 9_000])
  func room(length: Int) throws {
    let folder = try RecordingDirectory(path: "out", disk: disk)
    var file = try ManifestFile("anna.json", in: folder, text: text(length))
    disk.capacity = disk.files.values.reduce(0) { $0 + $1.count }
    for more in [1_000, 3_000, 0] {
      try file.replace(text(length + more), isLast: more == 0)
      #expect(content == String(buffer: text(length + more)))
      let bytes = disk.files["anna.json"] ?? []
      #expect((try? JSONDecoder().decode([String: String].self, from: Data(bytes)))?["text"]?.count == length + more)
    }
    #expect(throws: RoomRecorder.StorageError.self) { try file.replace(text(length + 9_000), isLast: false) }
    #expect(content == String(buffer: text(length)))
    disk.capacity = .max
    try file.replace(text(length + 9_000), isLast: true)
    #expect(disk.files["anna.json"] == Array(text(length + 9_000).readableBytesView))
    #expect(disk.files.keys.sorted() == ["anna.json"])
  }

  @Test("a manifest stays unchanged when nothing can be written")
  func broken() throws {
    let folder = try RecordingDirectory(path: "out", disk: disk)
    var file = try ManifestFile("anna.json", in: folder, text: text(100))
    disk.failures = [.write: EIO]
    #expect(throws: RoomRecorder.StorageError.self) { try file.replace(text(200), isLast: true) }
    #expect(content == String(buffer: text(100)))
  }
}
