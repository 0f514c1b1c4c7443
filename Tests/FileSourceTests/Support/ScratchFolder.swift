import Foundation

/// A folder for one test's files, gone with the test.
final class ScratchFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The path of a file in the folder.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes a file.
  ///
  /// - Returns: its path.
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: url.appendingPathComponent(name))
    return path(name)
  }
}
