import Foundation
import TestSupport
import Testing

/// The files that tests play.
enum Sample {
  /// `samples/test.webm`.
  static let path = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("samples/test.webm").path

  static func bytes() throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Has ffmpeg make a file.
  static func make(_ path: String, _ arguments: String...) throws {
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [path])
    try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
  }
}
