import Console
import Foundation
import Media
import Synchronization
import Testing

@Suite("a log file")
final class RotatingFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotating-\(UUID().uuidString)")
  private var path: String { folder.appendingPathComponent("log").path }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private func text(_ name: String) -> String? {
    try? String(contentsOfFile: folder.appendingPathComponent(name).path, encoding: .utf8)
  }

  private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  private func note(_ missing: Int, _ reason: String) -> String { "\(missing) missing: \(reason)" }

  @Test("a full one is renamed, five are kept, and no line is divided")
  func rotation() throws {
    var file = try RotatingFile(path: path, maximumBytes: 25)
    for number in 100..<130 { file.write(line: "line \(number)", note: note) }
    #expect(names == ["log", "log.1", "log.2", "log.3", "log.4", "log.5"])
    #expect(text("log") == "line 128\nline 129\n" && text("log.1") == "line 126\nline 127\n")
    #expect(text("log.5") == "line 118\nline 119\n")
    file.close()
    var again = try RotatingFile(path: path, maximumBytes: 25)
    again.write(line: "appended", note: note)
    #expect(text("log") == "appended\n" && text("log.1") == "line 128\nline 129\n")
    let long = String(repeating: "x", count: 100)
    again.write(line: long, note: note)
    #expect(text("log") == long + "\n", "a line longer than a file has a file of its own")
  }

  @Test("of a full one that drops its oldest half the newer lines are kept, none is divided, and no other file is left")
  func oldestHalf() throws {
    var file = try RotatingFile(path: path, maximumBytes: 90, whenFull: .dropOldestHalf)
    for number in 100..<110 { file.write(line: "line \(number)", note: note) }
    #expect(text("log") == (100..<110).map { "line \($0)\n" }.joined())
    file.write(line: "line 110", note: note)
    #expect(text("log") == (105..<111).map { "line \($0)\n" }.joined())
    for number in 111..<200 {
      file.write(line: "line \(number)", note: note)
      let lines = (text("log") ?? "").split(separator: "\n")
      #expect(lines.count >= 5 && lines.count <= 10)
      #expect(lines == ((number - lines.count + 1)...number).map { "line \($0)" })
    }
    let long = String(repeating: "x", count: 100)
    file.write(line: long, note: note)
    file.write(line: "last", note: note)
    #expect(text("log") == "last\n", "a line longer than half of a file is dropped with what is older")
    #expect(names == ["log"])
    file.close()
  }

  /// A disk that is full for a while, at once or in the middle of a line.
  private final class Disk: Sendable {
    let room = Mutex<Int?>(nil)

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
      room.withLock { room in
        guard let left = room else { return RotatingFile.systemWrite(descriptor, bytes) }
        if left == 0 { return -28 }
        let count = RotatingFile.systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(left)))
        room = left - max(0, count)
        return count
      }
    }
  }

  @Test(
    "lines that a full disk does not take are counted, and the next one says how many are missing", arguments: [0, 3])
  func fullDisk(room: Int) throws {
    let disk = Disk()
    var file = try RotatingFile(path: path, maximumBytes: 1_000) { disk.write($0, $1) }
    file.write(line: "first", note: note)
    disk.room.withLock { $0 = room }
    for _ in 0..<3 {
      let error = file.write(line: "lost", note: note)
      #expect(error == 28)
    }
    #expect(file.missingLines == 3)
    disk.room.withLock { $0 = nil }
    let error = file.write(line: "last", note: note)
    #expect(error == 0)
    let rest = room == 0 ? "" : "los\n"
    #expect(text("log") == "first\n\(rest)3 missing: No space left on device\nlast\n")
  }

  @Test("a folder that is gone does not end the log")
  func noFolder() throws {
    var file = try RotatingFile(path: path, maximumBytes: 10)
    file.write(line: "0123456789", note: note)
    try FileManager.default.removeItem(at: folder)
    for _ in 0..<3 { file.write(line: "0123456789", note: note) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    file.write(line: "again", note: note)
    #expect(text("log") == "3 missing: No such file or directory\nagain\n")
    #expect(throws: OutputError.self) { _ = try RotatingFile(path: "/no/such/folder/log", maximumBytes: 10) }
  }

  /// A clock that the test sets.
  private final class Clock: Sendable {
    let seconds = Mutex(0.0)
    var now: MonotonicInstant { MonotonicInstant(sinceOrigin: .seconds(seconds.withLock(\.self))) }
    func advance(_ time: Double) { seconds.withLock { $0 += time } }
  }

  @Test("a file that is deleted is created again a second later", arguments: [false, true])
  func deleted(isMoved: Bool) throws {
    let clock = Clock()
    var file = try RotatingFile(path: path, maximumBytes: 1_000, now: { clock.now })
    file.write(line: "first", note: note)
    if isMoved {
      try FileManager.default.moveItem(atPath: path, toPath: path + "-20260301")
    } else {
      try FileManager.default.removeItem(atPath: path)
    }
    clock.advance(0.9)
    file.write(line: "second", note: note)
    #expect(text("log") == nil)
    clock.advance(0.2)
    file.write(line: "third", note: note)
    #expect(text("log") == "third\n")
    #expect(text("log-20260301") == (isMoved ? "first\nsecond\n" : nil))
  }

  @Test("a file that another program put at the path is continued and not renamed, unless it is full as well")
  func replaced() throws {
    let clock = Clock()
    var file = try RotatingFile(path: path, maximumBytes: 20, now: { clock.now })
    file.write(line: "0123456789", note: note)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
    try Data("other\n".utf8).write(to: URL(fileURLWithPath: path))
    file.write(line: "0123456789", note: note)
    #expect(names == ["log", "log.1"] && text("log") == "other\n0123456789\n" && text("log.1") == "0123456789\n")
    try FileManager.default.removeItem(atPath: path)
    try Data("another that is full\n".utf8).write(to: URL(fileURLWithPath: path))
    file.write(line: "last", note: note)
    #expect(names == ["log", "log.1", "log.2"] && text("log") == "last\n" && text("log.1") == "another that is full\n")
  }

  @Test("two programs with one file rename it once when it is full")
  func twoPrograms() throws {
    let clock = Clock()
    var one = try RotatingFile(path: path, maximumBytes: 25, now: { clock.now })
    var other = try RotatingFile(path: path, maximumBytes: 25, now: { clock.now })
    for number in 10..<20 {
      clock.advance(1)
      one.write(line: "one \(number)", note: note)
      other.write(line: "two \(number)", note: note)
    }
    // 3 lines of 7 bytes fit into a file.
    #expect(text("log") == "one 19\ntwo 19\n" && names.count == 6)
    for number in 1...5 { #expect(text("log.\(number)")?.split(separator: "\n").count == 3) }
  }

  @Test("a device is written and never renamed; what it does not take is missing")
  func device() throws {
    var null = try RotatingFile(path: "/dev/null", maximumBytes: 1)
    let written = [null.write(line: "x", note: note), null.write(line: "x", note: note)]
    #expect(written == [0, 0])
    var full = try RotatingFile(path: "/dev/full", maximumBytes: 1)
    let error = full.write(line: "x", note: note)
    #expect(error == 28 && full.missingLines == 1)
  }

  @Test("10,000 lines of several threads are all in the files, in whole lines")
  func threads() async throws {
    let file = try LogFile(path: path, size: 100_000)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<2_500 { file.write(LogRecord(level: "info", message: "task \(task) line \(number) end")) }
        }
      }
    }
    file.close(within: .seconds(30))
    let all = names.compactMap { text($0) }.joined()
    let lines = all.split(separator: "\n")
    #expect(lines.count == 10_000 && names.count == 6)
    #expect(lines.allSatisfy { $0.hasSuffix(" end") && $0.contains("Z INFO    task ") })
  }
}
