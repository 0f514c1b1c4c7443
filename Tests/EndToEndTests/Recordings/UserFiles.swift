import Foundation
import TestSupport
import Testing

/// The files of one user that the manifest lists.
struct UserFiles: Sendable {
  let webms: [Recording]
  /// Matroska files of codecs that WebM does not have.
  let mkvs: [Recording]
  let oggs: [Recording]
  let manifest: JSON

  /// Reads a manifest and the files that it lists.
  init(describedBy description: URL) throws {
    let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
    func recordings(_ kind: String) throws -> [Recording] {
      try manifest["files"].list.filter { $0["kind"].string == kind }.compactMap { $0["name"].string }
        .map { try Recording(description.deletingLastPathComponent().appendingPathComponent($0)) }
    }
    webms = try recordings("webm")
    mkvs = try recordings("mkv")
    oggs = try recordings("ogg")
    self.manifest = manifest
  }

  /// Returns the start of a file on the manifest's timeline, in seconds.
  func start(of recording: Recording) -> Double {
    manifest["files"].list.first { $0["name"].string == recording.file.lastPathComponent }?["start"].double ?? 0
  }

  /// Returns the manifest's entry of a track.
  func track(_ kind: String) -> JSON {
    manifest["tracks"].list.first { $0["kind"].string == kind } ?? .null
  }

  /// Returns the gaps of a track in the manifest.
  func gaps(_ kind: String) -> [JSON] { track(kind)["gaps"].list }

  /// What a page sent, on its own timeline.
  struct PageActivity: Sendable {
    /// The page's `performance.timeOrigin`, in seconds since 1970: it flashes and beeps whole seconds after it.
    var origin: Double
    /// The end of the page's call, in seconds since 1970.
    var end: Double
    /// When the page's flashes and beeps began, in seconds since the origin: a page that paused begins one late.
    var flashes: [Double] = []
    /// The intervals without video or audio, by kind, in seconds since 1970.
    var pauses: [String: [ClosedRange<Double>]] = [:]
  }

  /// Checks that a file contains the page's flashes and beeps at the right times, without missing or additional ones.
  func expectInPlace(
    _ recording: Recording, _ activity: PageActivity, within limit: Double = 0.1, name: String, in scenario: Scenario
  ) async throws {
    let begun = try #require(manifest.date("start")) + start(of: recording)
    let signs = try FlashesAndBeeps(in: recording)
    // A page that is not scheduled flashes late.
    let limit = limit + (await scenario.stall) / 1000
    for (kind, times) in [("video", signs.flashes), ("audio", signs.beeps)]
    where recording.streams.contains(where: { $0.kind == kind }) {
      let positions = times.map { $0 + begun - activity.origin }
      let pageTimes = positions.map { position in
        activity.flashes.min { abs($0 - position) < abs($1 - position) } ?? position.rounded()
      }
      let late = zip(positions, pageTimes).map { $0 - $1 }
      // A flash may begin a few milliseconds early.
      let seconds = Set(pageTimes.map { Int(($0 + 0.010).rounded(.down)) })
      // The first flash needs a dark frame before it, and the last moment of the call may not be sent.
      let first = Int((begun - activity.origin + 0.5).rounded(.up))
      let last = Int((activity.end - activity.origin - 0.5).rounded(.down))
      let expected = Set(first...max(first, last)).filter { second in
        !(activity.pauses[kind] ?? []).contains { $0.contains(Double(second) + activity.origin) }
      }
      let list = late.map { String(format: "%+.0f", 1000 * $0) }.joined(separator: " ")
      let sign = kind == "video" ? "flashes" : "beeps"
      await scenario.note("measured: \(name): \(times.count) \(sign), later than the page's full second by \(list) ms")
      let missing = expected.subtracting(seconds).sorted()
      let wrong = seconds.filter { $0 > first && $0 < last }.subtracting(expected).sorted()
      #expect(
        missing.isEmpty && wrong.isEmpty,
        .onQuietMachine("\(name): \(sign) missing at \(missing), wrong at \(wrong), from \(first)"))
      guard !late.isEmpty else { continue }
      let middle = late.sorted()[late.count / 2]
      #expect(
        abs(middle) < limit + 0.05,
        .onQuietMachine("\(sign) are at the right times; the browser's own delay is allowed for"))
      #expect(
        late.allSatisfy { abs($0 - middle) < limit },
        .onQuietMachine("no \(sign) moved after a change"))
    }
  }
}
