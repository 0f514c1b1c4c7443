import Console
import Foundation
import Glibc
import Testing

@Suite("standard error that is not read")
struct ErrorOutputTests {
  /// Reads all that can be read from a pipe without waiting.
  private func drained(_ descriptor: Int32) -> String {
    var text = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&input, 1, 0) > 0 else { break }
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test("a full pipe delays the writer by 50 ms once, and skipped lines are counted when there is room again")
  func blockedPipe() throws {
    let pipe = Pipe()
    let output = ErrorOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    let begun = ContinuousClock.now
    for number in 0..<10_000 { output.write("line \(number) of a log that nobody reads\n") }
    #expect(begun.duration(to: .now) < .seconds(5))
    let first = drained(pipe.fileHandleForReading.fileDescriptor)
    let lines = first.split(separator: "\n")
    #expect(lines.count > 1_000)
    #expect(lines.last?.hasSuffix("nobody reads") == true)
    output.write("the next line\n")
    let second = drained(pipe.fileHandleForReading.fileDescriptor)
    #expect(second.contains("\(10_000 - lines.count) lines were skipped.\nthe next line\n"), "\(second)")
  }

  @Test("a full pipe does not block several threads that write lines")
  func severalThreads() async throws {
    let pipe = Pipe()
    let console = Console(isQuiet: false, errors: pipe.fileHandleForWriting.fileDescriptor)
    let begun = ContinuousClock.now
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<1_000 { console.write(line: String(repeating: "x", count: 200)) } }
      }
    }
    #expect(begun.duration(to: .now) < .seconds(10))
    _ = pipe
  }
}
