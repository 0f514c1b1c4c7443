import Foundation
import TestSupport
import Testing

/// The sample file, and files made from it.
enum Sample {
  /// `samples/test.webm`.
  static let path = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("samples/test.webm").path

  static func bytes() throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Creates a file with ffmpeg.
  static func make(_ path: String, _ arguments: String...) throws {
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [path])
    try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
  }
}
