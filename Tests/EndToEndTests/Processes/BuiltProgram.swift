import Foundation
import TestSupport

/// The `chatbot` that the same build made, and the folder the scenarios leave their files in.
enum BuiltProgram {
  struct Missing: Error, CustomStringConvertible {
    let path: String

    var description: String {
      "The program under test is not at \(path). Build it first (`swift build --build-tests`), or say where it is with"
        + " CHATBOT_PROGRAM."
    }
  }

  /// The folder of the built products: the one this test bundle lies in.
  static let folder = Bundle.module.bundleURL.deletingLastPathComponent()

  /// The program's path.
  static func path() throws -> String {
    let path =
      ProcessInfo.processInfo.environment["CHATBOT_PROGRAM"] ?? folder.appendingPathComponent("chatbot").path
    guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
    return path
  }

  /// The repository this test was built from.
  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The playable sample of the repository.
  static let sample = repository.appendingPathComponent("samples/test.webm")

  /// The first 4 s of the sample: 120 frames.
  static func shortSample(in folder: URL) throws -> URL {
    let file = folder.appendingPathComponent("short.webm")
    let cut = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-y", "-i", sample.path, "-t", "4", "-c", "copy", file.path])
    guard cut.status == 0 else { throw FakeCamera.NotMade(errors: cut.errors) }
    return file
  }
}
