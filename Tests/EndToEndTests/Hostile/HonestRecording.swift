import Foundation
import TestSupport
import Testing

/// The recording of an honest participant.
struct HonestRecording: Sendable {
  let user: String
  let manifest: JSON
  private let folder: URL

  /// Returns all recordings of a folder, of honest participants and of others.
  static func all(in folder: RecordingFolder) throws -> [HonestRecording] {
    try folder.files("json").map { file in
      let manifest = try JSON(parsing: String(contentsOf: file, encoding: .utf8))
      return HonestRecording(user: manifest["user"].string ?? "", manifest: manifest, folder: folder.url)
    }
  }

  /// Whether it has video in a file of this kind.
  func hasVideo(in container: String) -> Bool {
    manifest["files"].list.contains { $0["kind"].string == container }
  }

  /// Returns the manifest's entry of a track.
  func track(_ kind: String) -> JSON {
    manifest["tracks"].list.first { $0["kind"].string == kind } ?? .null
  }

  /// Expects the packets of a file that was played in a loop, in order, without missing or additional ones.
  func expectWhole(of played: PlayedFile, seconds: Double, in scenario: Scenario) async throws {
    let name = "player \(user.prefix(8))"
    var counts: [String] = []
    for (container, letter, kind, rate) in [
      (played.container, "v", "video", 15.0), (played.container, "a", "audio", 50), ("ogg", "a", "audio", 50),
    ] {
      let parts = manifest["files"].list.filter { $0["kind"].string == container }.compactMap { $0["name"].string }
      try #require(parts.count == 1, "\(name): one \(container) file")
      let recorded = try PlayedFile.digests(of: folder.appendingPathComponent(parts[0]), letter)
      let played = letter == "v" ? played.videoFrames : played.audio
      let same = Self.longestMatch(of: recorded, with: played)
      counts.append("\(recorded.count) packets of \(kind) in the .\(container)")
      // An .ogg lasts as long as the call: after the last received packet it contains silence.
      let came = container == "ogg" ? frames("audio") : recorded.count
      #expect(same >= came, .onQuietMachine("\(name): the \(container)'s \(kind) is the played one"))
      #expect(recorded.count - came <= 5, .onQuietMachine("\(name): no long silence follows"))
      #expect(
        Double(recorded.count) > rate * seconds, .onQuietMachine("\(name): \(kind) during all attacks"))
      // Lost audio is concealed, but a video frame is never made up.
      if letter == "v" { #expect(Set(recorded).isSubset(of: played), "\(name): no frame of another participant") }
    }
    for track in manifest["tracks"].list {
      let kind = track["kind"].string ?? ""
      #expect(track["lost"] == 0, .onQuietMachine("\(name): no socket overflows"))
      let gaps = track["gaps"].list.compactMap { $0["reason"].string }
      #expect(gaps == [], .onQuietMachine("\(name): a player that is not scheduled pauses"))
      #expect(track["decodeErrors"] == 0, "\(name): \(kind)")
      #expect(track["timestampBreaks"] == 0, .onQuietMachine("\(name): \(kind)"))
      if kind == "video" { #expect(track["unverified"] == 0, "\(name)") }
    }
    #expect(manifest["tracks"].list.count == 2, "\(name)")
    #expect(manifest["problems"].list.isEmpty, "\(name)")
    await scenario.note("measured: \(name): \(counts.joined(separator: ", "))")
  }

  private func frames(_ kind: String) -> Int { track(kind)["frames"].int ?? 0 }

  /// Returns how many packets from the start match a file that is played in a loop, begun at any packet.
  private static func longestMatch(of recorded: [String], with played: [String]) -> Int {
    played.indices.map { start in
      recorded.indices.first { recorded[$0] != played[(start + $0) % played.count] } ?? recorded.count
    }.max() ?? 0
  }
}
