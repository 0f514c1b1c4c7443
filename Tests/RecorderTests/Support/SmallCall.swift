import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// A call with small frames, cheap enough for tests that need many of them, and helpers to inspect its recording.
enum SmallCall {
  /// Returns video and audio, with sender reports after half a second, so that the hold ends then.
  static func script(_ seconds: Double, owner: String = "anna", keyframeEvery distance: Int = 30) throws -> Script {
    var script = Script(owner)
    script.add(try TestMedia.tone(seconds), codec: .opus)
    script.add(
      try TestMedia.videoFrames(seconds, size: VideoSize(width: 64, height: 48), keyframeEvery: distance), codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    return script
  }
}

extension Script {
  /// Returns the payloads of one track in the order of arrival.
  func payloads(_ codec: Codec, stream: Int = 1) -> [[UInt8]] {
    inOrder.compactMap { entry in
      guard case .frame(let frame) = entry.event, frame.codec == codec, frame.stream == stream else { return nil }
      return Array(frame.payload.readableBytesView)
    }
  }
}

extension TestFolder {
  /// Writes files into the folder.
  func store(_ files: [String: [UInt8]]) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
  }
}

extension RoomRecorder {
  /// Returns all problems reported until `finish`.
  func allProblems() async -> [Problem] {
    var all: [Problem] = []
    for await problem in problems { all.append(problem) }
    return all
  }

  func allKeyframeRequests() async -> Int {
    var count = 0
    for await _ in keyframeRequests { count += 1 }
    return count
  }
}

/// Expects two payload lists to be equal, without printing them if they are not.
func expectSame(_ same: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(same, "The payloads differ.", sourceLocation: sourceLocation)
}
