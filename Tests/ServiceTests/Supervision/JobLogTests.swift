import Foundation
import JobProtocol
import Logging
import SQLStore
import Service
import Testing

@Suite("what job processes write and count, in the service", .serialized)
struct JobLogTests {
  @Test("lines of the log of a process reach that of the service with its job and attempt, and cannot be forged")
  func lines() async throws {
    let service = try await TestService()
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    let lines = service.log.ofProcesses
    #expect(lines.map(\.message) == ["user joined", "a \\u{1b}[31m line\\u{a}", "the last line"])
    #expect(lines.map(\.level) == [.info, .warning, .info])
    #expect(lines.allSatisfy { $0.fields["job"] == job.text && $0.fields["attempt"] == "1" })
    #expect(lines.first?.fields["user"] == "anna")
    #expect(lines.dropFirst().first?.fields["name"] == "b\\u{202e}")
    await service.supervisor.detach()
  }

  @Test("of a process that writes too much, some lines are passed on, and the others are counted")
  func rate() async throws {
    let service = try await TestService()
    let job = try await service.submit("talk")
    _ = try await service.wait(job, for: .running)
    try await Task.sleep(for: .milliseconds(500))
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    let lines = service.log.ofProcesses
    #expect((200...400).contains(lines.count), "\(lines.count)")
    let skipped = lines.compactMap { $0.fields["lines skipped before"].flatMap { Int($0) } }.reduce(0, +)
    #expect(lines.count + skipped == 1_003)
    await service.supervisor.detach()
  }

  @Test("a service that takes over a process neither repeats its lines nor counts again what it received before")
  func adoption() async throws {
    let service = try await TestService()
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    while await service.supervisor.mediaCounts.packets < 1_001 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(await service.supervisor.mediaCounts.frames == 10)
    await service.supervisor.detach()
    let before = service.log.ofProcesses.count
    try await service.start()
    while await service.supervisor.mediaCounts.packets == 0 { try await Task.sleep(for: .milliseconds(20)) }
    let counts = await service.supervisor.mediaCounts
    #expect(counts.packets < 100 && counts.frames == 0)
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    #expect(service.log.ofProcesses.dropFirst(before).map(\.message) == ["the last line"])
    await service.supervisor.detach()
  }

  @Test("a log whose older half was dropped is read on behind the last line")
  func dropped() throws {
    let folder = NSTemporaryDirectory() + "log-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/\(JobFolder.log)"
    func line(_ number: Int) -> String { "{\"level\":\"info\",\"message\":\"\(number)\"}\n" }
    try (1...4).map(line).joined().write(toFile: path, atomically: true, encoding: .utf8)
    var tail = JobLogTail(
      folder: AttemptDirectory(data: NSTemporaryDirectory(), name: String(folder.split(separator: "/").last ?? "")))
    #expect(tail.more().map(\.message) == ["1", "2", "3", "4"])
    #expect(tail.more().isEmpty)
    // Another file, which has the newer half and what was written since.
    try (3...6).map(line).joined().write(toFile: path, atomically: true, encoding: .utf8)
    #expect(tail.more().map(\.message) == ["5", "6"])
    // What was read last is no longer there.
    try (8...9).map(line).joined().write(toFile: path, atomically: true, encoding: .utf8)
    #expect(tail.more().map(\.message) == ["8", "9"])
    // A line that is not complete yet.
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("{\"message\":".utf8))
    #expect(tail.more().isEmpty)
    try file.write(contentsOf: Data("\"10\"}\n".utf8))
    #expect(tail.more() == [try #require(JobLogLine(parsing: Array("{\"message\":\"10\"}".utf8)))])
  }

  @Test("what is no line of a log, and what is too long or too much of one, is left out")
  func parsing() throws {
    for text in ["", "x", "[]", "{}", "{\"message\":1}", String(repeating: "[", count: 70_000)] {
      #expect(JobLogLine(parsing: Array(text.utf8)) == nil)
    }
    let fields = (0..<50).map { "\"f\($0)\":\"\(String(repeating: "x", count: 1_100))\"" }.joined(separator: ",")
    let line = try #require(
      JobLogLine(parsing: Array("{\"level\":\"loud\",\"message\":\"m\",\"fields\":{\(fields),\"a\\nb\":\"c\"}}".utf8)))
    #expect(line.level == .info && line.fields.count == 20)
    #expect(line.fields.values.allSatisfy { $0.utf8.count == 1_000 })
  }
}
