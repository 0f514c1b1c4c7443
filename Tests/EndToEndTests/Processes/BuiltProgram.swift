import Foundation
import TestSupport

/// The `chatbot` of the same build, and the folder for the files of the scenarios.
enum BuiltProgram {
  struct Missing: Error, CustomStringConvertible {
    let path: String

    var description: String {
      "The program under test is not at \(path). Build it first (`swift build --build-tests`), or set its path in"
        + " CHATBOT_PROGRAM."
    }
  }

  /// The folder of the built products, which contains this test bundle.
  static let folder = Bundle.module.bundleURL.deletingLastPathComponent()

  /// The program's path.
  static func path() throws -> String {
    let path =
      ProcessInfo.processInfo.environment["CHATBOT_PROGRAM"] ?? folder.appendingPathComponent("chatbot").path
    guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
    return path
  }

  /// The repository that this test was built from.
  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The repository's sample for playing.
  static let sample = repository.appendingPathComponent("samples/test.webm")

  /// Creates a file with the first 4 s of the sample: 120 frames.
  static func shortSample(in folder: URL) throws -> URL {
    let file = folder.appendingPathComponent("short.webm")
    let cut = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-y", "-i", sample.path, "-t", "4", "-c", "copy", file.path])
    guard cut.status == 0 else { throw FakeCamera.NotMade(errors: cut.errors) }
    return file
  }
}
