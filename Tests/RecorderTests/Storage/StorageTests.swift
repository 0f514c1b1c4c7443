import Foundation
import Glibc
import NIOCore
import Recorder
import Testing

@Suite("Storage")
struct StorageTests {
  private let content = ByteBuffer(string: "one")

  @Test(
    "an untrusted name becomes a safe one",
    arguments: [
      ("anna", "anna"), ("3f2a-11", "3f2a-11"), ("", "user"), ("../../etc/passwd", "_._.._etc_passwd"), (".", "_"),
      ("..", "__"), ("-rf", "_rf"), (".hidden", "_hidden"), ("a/b\\c", "a_b_c"), ("a\u{0}b", "a_b"), ("CON", "_CON"),
      ("con.txt", "_con.txt"), ("com1", "_com1"), ("combo", "combo"), ("a\nb", "a_b"), ("dot.", "dot_"),
      ("张三", "张三"), ("Zoë", "Zoë"), ("a\u{202E}b", "a_b"), ("a\u{FF0F}b", "a_b"), ("a\u{2024}b", "a_b"),
      ("😀", "_"), (" a ", "_a_"), ("a:b*c?", "a_b_c_"),
    ])
  func names(text: String, name: String) {
    #expect(SafeFileName(of: text).description == name)
  }

  @Test("a name of 4 KiB is truncated at a whole character", arguments: ["x", "é", "张"])
  func longName(letter: String) {
    let name = SafeFileName(of: String(repeating: letter, count: 4_096)).description
    #expect(name.utf8.count <= 100 && name.utf8.count > 96)
    #expect(name.allSatisfy { String($0) == letter })
  }

  @Test("only the owner can access files and new folders")
  func permissions() throws {
    let temporary = TestFolder()
    let folder = try RecordingDirectory(path: "\(temporary.path)/a/b")
    _ = try folder.create("x", containing: content)
    let manager = FileManager.default
    let file = try manager.attributesOfItem(atPath: "\(temporary.path)/a/b/x")[.posixPermissions] as? Int
    let made = try manager.attributesOfItem(atPath: "\(temporary.path)/a")[.posixPermissions] as? Int
    #expect(file == 0o600)
    #expect(made == 0o700)
  }

  @Test("an existing file or link is never opened")
  func exclusive() throws {
    let temporary = TestFolder()
    let folder = try RecordingDirectory(path: temporary.path)
    _ = try folder.create("x", containing: content)
    try FileManager.default.createSymbolicLink(
      atPath: "\(temporary.path)/link", withDestinationPath: "\(temporary.path)/elsewhere")
    for name in ["x", "link"] {
      #expect(folder.contains(name))
      #expect(throws: RoomRecorder.StorageError.self) { try folder.create(name, containing: content) }
    }
    #expect(!FileManager.default.fileExists(atPath: "\(temporary.path)/elsewhere"))
  }

  @Test("a file that must be on the disk is an error, and is not there, if the disk does not accept it")
  func durable() throws {
    let disk = ScriptedDisk()
    let folder = try RecordingDirectory(path: "out", disk: disk)
    disk.failures[.sync] = EIO
    #expect(throws: RoomRecorder.StorageError.self) { try folder.create("x", containing: content, durably: true) }
    #expect(!folder.contains("x"))
    _ = try folder.create("y", containing: content)
    #expect(folder.contains("y"))
  }

  @Test("files are created in the opened folder even if its path changes")
  func movedFolder() throws {
    let temporary = TestFolder()
    let folder = try RecordingDirectory(path: "\(temporary.path)/a")
    try FileManager.default.moveItem(atPath: "\(temporary.path)/a", toPath: "\(temporary.path)/b")
    _ = try folder.create("x", containing: content)
    #expect(FileManager.default.fileExists(atPath: "\(temporary.path)/b/x"))
  }

  @Test("replacing a file leaves the new content and no draft")
  func replacing() throws {
    let temporary = TestFolder()
    let folder = try RecordingDirectory(path: temporary.path)
    _ = try folder.create("x", containing: content)
    try folder.replace("x", with: ByteBuffer(string: "one"), durably: false)
    try folder.replace("x", with: ByteBuffer(string: "two"), durably: true)
    #expect(try temporary.bytes("x") == Array("two".utf8))
    #expect(temporary.names == ["x"])
  }

  @Test("a full disk is an error with a sentence, and the file keeps its size")
  func fullDisk() throws {
    let file = OutputFile(descriptor: open("/dev/full", O_WRONLY), name: "full", path: "/dev/full")
    let error = #expect(throws: RoomRecorder.StorageError.self) {
      try file.write(FileWrite(offset: 0, bytes: ByteBuffer(string: "x")))
    }
    #expect(error?.description == "Cannot write to “/dev/full”: No space left on device (error 28).")
    #expect(file.size == 0)
  }

  @Test(
    "a folder that cannot be created is rejected immediately, with a sentence",
    arguments: ["/dev/null/x", "/proc/nothing/x"])
  func impossibleFolder(path: String) {
    let error = #expect(throws: RoomRecorder.StorageError.self) {
      _ = try RoomRecorder(RoomRecorder.Configuration(folder: path, room: "1"))
    }
    #expect(error?.description.hasPrefix("Cannot create the folder “/") == true)
  }
}
