package import CallCheck
import Foundation
package import Inspection
package import Media
package import Recorder

/// A temporary folder with recordings, deleted with the object.
package final class RecordedFolder {
  /// The start of every call: 2026-03-01 09:30:00.250 UTC, in seconds since 1970.
  package static let wallClock = 1_772_357_400.25

  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// `samples/test.webm`.
  package static let sample = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("samples/test.webm").path

  // MARK: Recording

  /// Records a call, faster than real time.
  ///
  /// - Parameter counts: The statistics of each track, the same for every peer.
  package func record(
    _ peers: SyntheticPeer..., room: String = "100", segment: SegmentLimit? = nil, reason: RecordingEndReason = .left,
    counts: [MediaKind: TrackStatistics] = [:], wallClock: Double = RecordedFolder.wallClock
  ) async throws {
    var configuration = RoomRecorder.Configuration(folder: path, room: room)
    configuration.verifies = false
    configuration.segment = segment
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    var all: [(at: Double, peer: ParticipantID, event: MediaEvent)] = []
    for peer in peers {
      let id = ParticipantID(peer.id)
      recorder.begin(id, now: SyntheticPeer.beginning, wallClock: wallClock)
      all += try peer.arrivals().map { ($0.at, id, $0.event) }
      all += counts.map { (peer.seconds + 0.02, id, .statistics(TrackID(of: id, kind: $0.key), $0.value)) }
    }
    var look = 0.0
    let inOrder = all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    for arrival in inOrder {
      while look + 0.1 < arrival.at {
        look += 0.1
        await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(look)))
      }
      recorder.receive(arrival.event, of: arrival.peer, now: SyntheticPeer.instant(arrival.at))
    }
    let end = SyntheticPeer.instant((all.map(\.at).max() ?? 0) + 0.05)
    await recorder.advance(now: MonotonicInstant(end))
    for peer in peers { recorder.end(ParticipantID(peer.id), reason: reason, now: end) }
    await recorder.finish(now: end)
  }

  // MARK: Files

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  package func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }

  package func store(_ bytes: [UInt8], as name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }

  package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  package func copy(_ path: String, as name: String) throws {
    try FileManager.default.copyItem(atPath: path, toPath: file(name))
  }

  /// Edits the text of a manifest.
  package func edit(_ name: String, _ change: (String) -> String) throws {
    try store(Array(change(String(decoding: try bytes(name), as: UTF8.self)).utf8), as: name)
  }

  // MARK: Inspecting

  /// Inspects files.
  ///
  /// - Parameters:
  ///   - files: The files to inspect, or nil for the whole folder.
  ///   - rules: Rules as on the command line; without one the default rules apply.
  ///   - peers: How many peers must be there; nil for as many as are found.
  ///   - audio: Whether audio is expected.
  package func inspect(
    _ files: [String]? = nil, _ rules: String..., peers: Int? = nil, audio: Bool = true
  ) throws -> RecordingInspection.Outcome {
    let inspection = try RecordingInspection(opening: files ?? [path])
    var settings = RecordingInspection.Settings(peers: peers, audio: audio)
    if !rules.isEmpty { settings.rules = RuleList() }
    for rule in rules { try settings.rules.add(rule) }
    return inspection.run(settings)
  }
}

extension CheckReport {
  /// The rules that failed.
  package var failedRules: [String] { results.filter { !$0.holds }.map(\.rule) }

  package func result(_ rule: String, of peer: String? = nil) -> RuleResult? {
    results.first { $0.rule == rule && (peer == nil || $0.peer == peer) }
  }

  package func peer(_ id: String) -> PeerReport? { peers.first { $0.id == id } }
}
