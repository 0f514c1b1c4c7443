import Composer
import Composition
import Foundation
import RecordedCalls
import Testing

@Suite("Several calls that are composed one after the other")
final class CompositionJobsTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("jobs-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Two calls of a user who only sounds, so long after each other that they are two.
  private func jobs() async throws -> CompositionJobs {
    for begin in [0.0, 1_000] {
      let user = RecordedUser(
        "a1", begin..<begin + 1, camera: nil, microphone: SentAudio(isPattern: false))
      try await RecordedCall([user]).record(into: folder.path + "/\(Int(begin))")
    }
    var options = CompositionOptions(
      inputs: [folder.path + "/0", folder.path + "/1000"], output: folder.path + "/meeting.m4a",
      format: OutputFormat(container: .m4a, video: .h264, audio: .aac))
    options.calls = .all
    return try CompositionJobs(for: options, checksOutput: true)
  }

  private func isWritten(_ call: Int) -> Bool {
    FileManager.default.fileExists(atPath: folder.path + "/meeting-\(call).m4a")
  }

  @Test("each is announced before and reported when its file is written")
  func turns() async throws {
    var log: [String] = []
    let refused = try await jobs().compose(until: { nil }) { job in
      log.append("began \(job.call.number)")
      #expect(!self.isWritten(job.call.number))
    } ended: { job, outcome, elapsed in
      log.append("ended \(job.call.number)")
      #expect(self.isWritten(job.call.number) && outcome.mix != nil && elapsed > .zero)
    }
    #expect(refused.isEmpty && log == ["began 1", "ended 1", "began 2", "ended 2"])
  }

  @Test("one that is refused does not prevent the others")
  func refusals() async throws {
    let jobs = try await jobs()
    let parts = folder.appendingPathComponent("meeting-1.m4a.parts")
    try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: false)
    for name in ["plan.json", "video-00000.part"] { try Data().write(to: parts.appendingPathComponent(name)) }
    var ended: [Int] = []
    let refused = try await jobs.compose(until: { nil }) { job, _, _ in ended.append(job.call.number) }
    #expect(refused.map(\.call) == [1] && ended == [2] && !isWritten(1) && isWritten(2))
  }

  @Test("an output that cannot be written ends them")
  func failures() async throws {
    let jobs = try await jobs()
    // A file has the name of the folder in which parts are kept.
    try Data().write(to: folder.appendingPathComponent("meeting-1.m4a.parts"))
    let failure = await #expect(throws: ComposerFailure.self) {
      _ = try await jobs.compose(until: { nil }) { _, _, _ in }
    }
    #expect(failure?.concernsOneCall == false && !isWritten(2))
  }

  @Test("a signal ends them, and says what is kept")
  func signals() async throws {
    let jobs = try await jobs()
    let interruption = await #expect(throws: CompositionInterruption.self) {
      _ = try await jobs.compose(until: { 15 }) { _, _, _ in }
    }
    #expect(interruption?.signal == 15 && interruption?.description.hasPrefix("Interrupted: ") == true)
  }
}
