import Console
import Foundation
import Glibc
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

  private func mode(of path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  /// Does something without the rights of the superuser.
  private func withoutPrivileges(_ body: () throws -> Void) throws {
    typealias SetID = @convention(c) (uid_t) -> CInt
    let setID = try #require(dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: SetID.self) })
    // The file system's user is that of one thread.
    if geteuid() == 0 { _ = setID(65_534) }
    defer { if geteuid() == 0 { _ = setID(0) } }
    try body()
  }

  @Test("a symbolic link stays, and the file to which it leads is written, also where there is none yet")
  func links() throws {
    let link = folder.appendingPathComponent("latest.json").path
    let target = folder.appendingPathComponent("a/today.json")
    try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a/today.json")
    for text in ["first", "second"] {
      try DocumentFile.check(link)
      try DocumentFile.write(text, to: link)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "a/today.json")
      #expect(try String(contentsOf: target, encoding: .utf8) == text)
    }
    let circle = folder.appendingPathComponent("circle").path
    try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: "circle")
    #expect(throws: OutputError.self) { try DocumentFile.write("x", to: circle) }
    #expect(throws: OutputError.self) { try DocumentFile.check(circle) }
    #expect(Set(names) == ["latest.json", "a", "circle"])
  }

  @Test("permissions that the process's mask would remove are kept")
  func mask() throws {
    let path = folder.appendingPathComponent("shared.json").path
    try DocumentFile.write("first", to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    try DocumentFile.write("second", to: path)
    #expect(try mode(of: path) == 0o666)
  }

  @Test("a file in a folder where nothing can be created is written directly")
  func unwritableFolder() throws {
    let path = folder.appendingPathComponent("report.json").path
    try DocumentFile.write("first, and longer", to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    try withoutPrivileges {
      try DocumentFile.check(path)
      try DocumentFile.write("second", to: path)
      #expect(throws: OutputError.self) { try DocumentFile.write("x", to: path + ".new") }
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "second" && names == ["report.json"])
  }

  @Test("a file with the longest name is written directly, because a draft's name would be longer")
  func longName() throws {
    let path = folder.appendingPathComponent(String(repeating: "x", count: 255)).path
    for text in ["first, and longer", "second"] {
      try DocumentFile.write(text, to: path)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text && names.count == 1)
    }
  }

  @Test("what cannot be written is known before")
  func checked() throws {
    #expect(throws: Never.self) { try DocumentFile.check(self.folder.path + "/new") }
    #expect(throws: Never.self) { try DocumentFile.check("/dev/null") }
    #expect(throws: Never.self) { try DocumentFile.check("new") }
    for path in [folder.path, folder.path + "/no/file", "/dev/null/x", ""] {
      let error = #expect(throws: OutputError.self) { try DocumentFile.check(path) }
      #expect(error?.description.isEmpty == false)
    }
    #expect(names.isEmpty)
  }

  @Test("an existing file needs the right to write it or its folder, and a new one that to write its folder")
  func rights() throws {
    let path = folder.appendingPathComponent("report.json").path
    try DocumentFile.write("first", to: path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    for (file, directory) in [(0o444, 0o555), (0o444, 0o777), (0o666, 0o555)] {
      try FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: path)
      try FileManager.default.setAttributes([.posixPermissions: directory], ofItemAtPath: folder.path)
      let (mayWriteFile, mayWriteFolder) = (file == 0o666, directory == 0o777)
      try withoutPrivileges {
        #expect(isAccepted { try DocumentFile.check(path) } == (mayWriteFile || mayWriteFolder))
        #expect(isAccepted { try DocumentFile.check(path + ".new") } == mayWriteFolder)
        // Text is added to a file itself, which other programs may have open.
        #expect(isAccepted { try AppendedFile.check(path) } == mayWriteFile)
        #expect(isAccepted { try AppendedFile.check(path + ".new") } == mayWriteFolder)
      }
    }
  }

  private func isAccepted(_ check: () throws -> Void) -> Bool {
    do { try check() } catch { return false }
    return true
  }

  @Test("the sentence for a document that was not written ends with one full stop")
  func sentence() {
    let full = #expect(throws: OutputError.self) { try DocumentFile.write("x", to: "/dev/full") }
    #expect(full.map { DocumentFile.sentence($0, writing: "a") } == "a cannot be written: No space left on device.")
    struct Other: Error, CustomStringConvertible { let description = "It is locked." }
    #expect(DocumentFile.sentence(Other(), writing: "a") == "a cannot be written: It is locked.")
  }

  @Test("a device is written directly")
  func device() throws {
    try DocumentFile.write("x", to: "/dev/null")
    #expect(FileManager.default.fileExists(atPath: "/dev/null"))
  }
}
