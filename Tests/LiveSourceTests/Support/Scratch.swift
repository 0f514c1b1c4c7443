import Foundation
import LiveSource
import Media
import TestSupport
import Testing

/// A directory for the files of one test, removed after it.
final class Scratch: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("inputs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Returns the path of a file in the directory.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes a file.
  ///
  /// - Returns: its path.
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: url.appendingPathComponent(name))
    return path(name)
  }

  /// Creates a file with ffmpeg.
  ///
  /// - Returns: its path.
  func make(_ name: String, _ arguments: String...) throws -> String {
    let path = path(name)
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [path])
    try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
    return path
  }

  /// Converts a file with ffmpeg, and returns the output.
  func judge(_ path: String, _ arguments: String...) throws -> [UInt8] {
    let output = self.path("judged-\(UUID().uuidString)")
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y", "-i", path] + arguments + [output])
    try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
  }
}

let someone = ParticipantID("me")

/// Returns why an input cannot be opened; nil if it can.
func rejection(
  _ path: String, size: VideoSize? = nil, fps: Double? = nil, audio: String? = nil, live: Bool = true
) -> String? {
  do {
    _ = try LiveCamera.open(
      .init(input: .file(path), audio: audio, size: size, fps: fps, live: live, owner: someone))
    return nil
  } catch {
    return error.description.replacing("\(path) cannot be played: ", with: "")
  }
}
