import Foundation
import Glibc

/// A directory for the files of one test, removed after it.
final class ScratchFolder: Sendable {
  let url: URL
  private let folder: String

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
    folder = url.path + "/"
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Returns the path of a file in the directory.
  func path(_ name: String) -> String { folder + name }

  /// Writes a file.
  ///
  /// - Returns: its path.
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    let path = folder + name
    // Thousands of damaged files are written, and Foundation takes longer to write one than the program to read it.
    guard let file = fopen(path, "w") else { throw POSIXError(.EIO) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw POSIXError(.EIO) }
    return path
  }
}
