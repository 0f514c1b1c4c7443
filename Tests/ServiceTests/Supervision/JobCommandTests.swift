import Foundation
import Glibc
import JobProtocol
import SQLStore
import Service
import Testing

@Suite("the commands of a job, in the service", .serialized)
struct JobCommandTests {
  private let pause = PauseState(users: ["1", "Anna", "2"])

  private func submit(_ service: TestService, _ pause: PauseState) async throws -> JobID {
    try await service.submit("100", state: .scheduled, pause: pause) { $0.startAt = 4_000_000_000_000 }
  }

  private func paused(_ service: TestService, _ job: JobID) async throws -> PauseState {
    try JSONDecoder().decode(PauseState.self, from: Data(try await service.job(job).paused.utf8))
  }

  @Test(
    "without a process, who is resumed by an id is resumed under the names that they had, and the other way round",
    arguments: ["1", "Anna"])
  func names(user: String) async throws {
    let service = try await TestService()
    let job = try await submit(service, pause)
    try await service.store.connection.transaction { transaction in
      for data in ["{\"user\":\"2\",\"name\":\"Bert\"}", "{\"user\":\"1\",\"name\":\"Anna\"}", "no JSON"] {
        try transaction.append(.participantJoined, of: job, data: data)
      }
    }
    let result = try await service.command(.resume, job, users: [user])
    #expect(result != nil && result?.error == nil)
    #expect(try await paused(service, job) == PauseState(users: ["2"]))
    await service.supervisor.detach()
  }

  @Test("a command that cannot be read pauses everybody, and resumes nobody")
  func unreadable() async throws {
    let service = try await TestService()
    let job = try await submit(service, pause)
    for kind in [CommandRecord.Kind.resume, .pause] {
      let command = try await service.store.request(kind, of: job, project: "p", argument: "{\"users\":3}")?.command
      let id = try #require(command?.id)
      await service.supervisor.commandRequested(id, of: job)
      #expect(await service.supervisor.isDone(id, within: .seconds(10)))
      let result = try await service.store.command(id)?.result.map { CommandResult(stored: $0) }
      #expect(result?.error == (kind == .resume ? "The command cannot be read." : nil))
      #expect(try await paused(service, job) == (kind == .resume ? pause : PauseState(all: true)))
    }
    #expect(CommandResult(stored: "x").error != nil)
    await service.supervisor.detach()
  }

  @Test("a process that has the id of one that is dead gets no signal")
  func reusedID() async throws {
    let other = Process()
    other.executableURL = URL(fileURLWithPath: "/bin/sleep")
    other.arguments = ["60"]
    try other.run()
    defer { other.terminate() }
    let data = NSTemporaryDirectory() + "lock-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: "\(data)/a", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: data) }
    try "\(other.processIdentifier)\n".write(
      toFile: "\(data)/a/\(JobFolder.lock)", atomically: false, encoding: .utf8)
    let process = AttemptProcess(adopted: AttemptDirectory(data: data, name: "a"), isFenced: false)
    process.send(.kill)
    process.identify(other.processIdentifier)
    process.send(.kill)
    try await Task.sleep(for: .milliseconds(200))
    #expect(isAlive(other.processIdentifier))
    // The process that holds the lock gets it.
    let file = open("\(data)/a/\(JobFolder.lock)", O_RDWR | O_CLOEXEC)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    process.send(.kill)
    for _ in 0..<100 where isAlive(other.processIdentifier) { try await Task.sleep(for: .milliseconds(50)) }
    #expect(!isAlive(other.processIdentifier))
    close(file)
  }

  /// Whether there is a process with this id that has not ended.
  private func isAlive(_ id: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return false }
    return !text.contains(") Z ")
  }
}
