import Foundation
import Media
import Recorder
import TestSupport

/// A folder that is deleted with the test, and recorders that write into it.
final class TestFolder {
  /// Seconds since 1970 at the beginning of every script: 2026-03-01 09:30:00.250 UTC.
  static let wallClock = 1_772_357_400.25

  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("recorder-\(UUID().uuidString)").path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
  }

  func recorder(
    alignmentDelay: Duration = .seconds(3), verifies: Bool = true, segment: SegmentLimit? = nil,
    memoryLimit: Int? = nil, bufferedSegments: Int = 1_000, paused: PausedUsers = .nobody,
    disk: any FileSystem = POSIXFileSystem()
  ) throws -> RoomRecorder {
    var configuration = RoomRecorder.Configuration(folder: path, room: "100")
    configuration.alignmentDelay = alignmentDelay
    configuration.verifies = verifies
    configuration.segment = segment
    configuration.memoryLimit = memoryLimit ?? configuration.memoryLimit
    configuration.bufferedSegments = bufferedSegments
    configuration.paused = paused
    configuration.usesSystemClock = false
    configuration.session = RecordingSession(
      clock: WallClock(moment: Script.beginning, secondsSince1970: Self.wallClock))
    return try RoomRecorder(configuration, disk: disk)
  }

  /// Plays scripts to a recorder, simultaneously and faster than real time, and ends them one after the other.
  func record(
    _ scripts: Script..., names: [String?] = [], alignmentDelay: Duration = .seconds(3), verifies: Bool = true,
    segment: SegmentLimit? = nil, reason: RecordingEndReason = .left
  ) async throws -> [RecordingSummary] {
    let recorder = try recorder(alignmentDelay: alignmentDelay, verifies: verifies, segment: segment)
    for (index, script) in scripts.enumerated() {
      recorder.begin(
        script.owner, name: names.indices.contains(index) ? names[index] : nil, now: Script.beginning,
        wallClock: Self.wallClock)
    }
    let last = await play(scripts, to: recorder)
    for script in scripts { recorder.end(script.owner, reason: reason, now: last) }
    await recorder.finish(now: last)
    var summaries: [RecordingSummary] = []
    for await summary in recorder.summaries { summaries.append(summary) }
    return summaries
  }

  /// Plays scripts to a recorder without ending them, and advances it every 100 ms.
  ///
  /// - Parameters:
  ///   - begin: the time in seconds before which events are ignored.
  ///   - end: the time in seconds after which events are ignored; nil for the last event.
  /// - Returns: the time of the last event.
  @discardableResult
  func play(
    _ scripts: [Script], to recorder: RoomRecorder, from begin: Double = 0, until end: Double? = nil
  ) async -> MonotonicInstant {
    var all = scripts.flatMap { script in script.inOrder.map { (owner: script.owner, at: $0.at, event: $0.event) } }
    all.removeAll { $0.at < Script.beginning + .seconds(begin) }
    if let end { all.removeAll { $0.at > Script.beginning + .seconds(end) } }
    let last = end.map { Script.beginning + .seconds($0) } ?? all.map(\.at).max() ?? Script.beginning
    var clock = Script.beginning + .seconds(begin)
    func look(until moment: MonotonicInstant) async {
      while clock + RoomRecorder.tick < moment {
        clock += RoomRecorder.tick
        await recorder.advance(now: clock)
      }
    }
    let ordered = all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    for (_, entry) in ordered {
      await look(until: entry.at)
      recorder.receive(entry.event, of: entry.owner, now: entry.at)
    }
    await look(until: last)
    await recorder.drain()
    return last
  }
}
