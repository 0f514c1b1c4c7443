import Console
import Foundation
import Testing

@Suite("a file that an option names")
final class DocumentFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("document-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

  @Test("it is written whole, and replaced with its mode; nothing else is left")
  func replaced() throws {
    let path = folder.appendingPathComponent("report.json").path
    try DocumentFile.write("first", to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try DocumentFile.write("second", to: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600 && names == ["report.json"])
  }

  @Test("what cannot be written throws, and leaves nothing")
  func failures() throws {
    #expect(throws: OutputError.self) { try DocumentFile.write("x", to: self.folder.path) }
    #expect(throws: OutputError.self) { try DocumentFile.write("x", to: self.folder.path + "/no/file") }
    let full = #expect(throws: OutputError.self) { try DocumentFile.write("x", to: "/dev/full") }
    #expect(full?.description == "No space left on device" && names.isEmpty)
  }

  @Test("what cannot be written is known before")
  func checked() throws {
    try DocumentFile.check(folder.appendingPathComponent("new.json").path)
    try DocumentFile.check("/dev/null")
    for path in [folder.path, folder.path + "/no/file", "/no/file"] {
      #expect(throws: OutputError.self) { try DocumentFile.check(path) }
    }
    #expect(names.isEmpty)
  }

  @Test("a device is written directly")
  func device() throws {
    try DocumentFile.write("x", to: "/dev/null")
    #expect(FileManager.default.fileExists(atPath: "/dev/null"))
  }
}
