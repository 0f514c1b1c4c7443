import Composition
import Foundation
import Media
import RecordedCalls
import Testing

/// A synthetic call, recorded into a temporary folder and planned.
final class PlannedCall {
  let call: RecordedCall
  let plan: CompositionPlan
  private let folder: URL

  init(_ call: RecordedCall, _ change: (inout CompositionOptions) -> Void = { _ in }) async throws {
    self.call = call
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("composed-\(UUID().uuidString)")
    try await call.record(into: folder.path)
    var options = CompositionOptions(
      inputs: [folder.path], output: "meeting.mp4",
      format: OutputFormat(container: .mp4, video: .h264, audio: .aac))
    change(&options)
    let calls = try CallList(searching: [folder.path])
    #expect(calls.problems.isEmpty)
    plan = try CompositionPlan(of: try #require(try calls.selected(by: options).first), options: options)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The user with an id.
  func user(_ id: String) -> Int? { plan.users.firstIndex { $0.ids.contains { $0.string == id } } }
}
