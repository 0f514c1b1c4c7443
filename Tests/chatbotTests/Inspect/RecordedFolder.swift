import ArgumentParser
import CallCheck
import Foundation
import Logging
import Media
import Recorder

@testable import chatbot

/// A temporary folder with recordings, deleted with the object.
final class RecordedFolder {
  /// The start of every call: 2026-03-01 09:30:00.250 UTC, in seconds since 1970.
  static let wallClock = 1_772_357_400.25

  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// `samples/test.webm`.
  static let sample = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("samples/test.webm").path

  // MARK: Recording

  /// Records a call, faster than real time.
  ///
  /// - Parameter counts: The statistics of each track, the same for every peer.
  func record(
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

  func file(_ name: String) -> String { "\(path)/\(name)" }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name)))) }

  func store(_ bytes: [UInt8], as name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  func copy(_ path: String, as name: String) throws {
    try FileManager.default.copyItem(atPath: path, toPath: file(name))
  }

  /// Edits the text of a manifest.
  func edit(_ name: String, _ change: (String) -> String) throws {
    try store(Array(change(String(decoding: try bytes(name), as: UTF8.self)).utf8), as: name)
  }

  // MARK: Inspecting

  /// Inspects files as the command does.
  ///
  /// - Parameters:
  ///   - files: The files to inspect, or nil for the whole folder.
  ///   - options: Options as on the command line.
  func inspect(_ files: [String]? = nil, _ options: String..., peers: Int? = nil) throws -> Inspection.Outcome {
    let screen = try Screen()
    let inspection = Inspection(
      files: files ?? [path], peers: peers, rules: try RuleOptions.parse(options),
      console: screen.console(isQuiet: true),
      log: Logger(label: "inspect") { _ in SwiftLogNoOpLogHandler() })
    let outcome = try inspection.run()
    try inspection.report(outcome)
    return outcome
  }
}

extension CheckReport {
  /// The rules that failed.
  var failedRules: [String] { results.filter { !$0.holds }.map(\.rule) }

  func result(_ rule: String, of peer: String? = nil) -> RuleResult? {
    results.first { $0.rule == rule && (peer == nil || $0.peer == peer) }
  }

  func peer(_ id: String) -> PeerReport? { peers.first { $0.id == id } }
}
