import Foundation
import RecordedCalls
import TestSupport
import Testing

/// Compositions of the built program.
extension Scenario {
  /// Records a synthetic call into a folder of the scenario.
  func record(_ call: RecordedCall, as name: String = "recordings") async throws -> URL {
    let folder = folder.appendingPathComponent(name)
    try await call.record(into: folder.path)
    return folder
  }

  /// Runs `chatbot compose` to its end.
  ///
  /// - Parameter expected: the expected exit code.
  /// - Returns: the output file.
  @discardableResult
  func compose(
    _ recordings: URL, to name: String = "meeting.mp4", _ options: [String] = [], expecting expected: Int32 = 0,
    within limit: Duration = .seconds(120)
  ) async throws -> URL {
    let file = folder.appendingPathComponent(name)
    let begun = ContinuousClock.now
    let bot = try bot("compose \(name)", ["compose", recordings.path, "-o", file.path] + options)
    let reason = try await bot.ending(within: limit)
    try #require(reason == .exit(expected), "\(bot.output.suffix(2_000))")
    note("measured: composed \(name) within \((ContinuousClock.now - begun) / .seconds(1)) s")
    return file
  }

  /// Composes a call and reads the result.
  func composed(
    _ call: RecordedCall, to name: String = "meeting.mp4", _ options: [String] = []
  ) async throws -> (file: ComposedFile, times: ManifestTimes, url: URL) {
    let recordings = try await record(call)
    let url = try await compose(recordings, to: name, options)
    return (try ComposedFile.read(url, of: call), try ManifestTimes(recordings), url)
  }
}
