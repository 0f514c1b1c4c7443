import FileSource
import Recorder

/// A manifest as stored in a folder, read with bounded memory.
enum ManifestFile {
  /// No manifest is larger: its lists are bounded.
  static let largest = 16 << 20

  /// Why a file is not taken as a manifest, as a clause that follows its name.
  struct ReadError: Error {
    let clause: String
  }

  static func read(_ path: String) throws(ReadError) -> RecordingManifest {
    let bytes = try bytes(path)
    do {
      return try RecordingManifest(parsing: bytes)
    } catch {
      // Which field of it is missing helps nobody; that a newer program wrote it does.
      let reason = error.reason.hasPrefix("its version") ? ": \(error.reason)" : ""
      throw ReadError(clause: "is not a recording's manifest\(reason)")
    }
  }

  private static func bytes(_ path: String) throws(ReadError) -> [UInt8] {
    do {
      let file = try OpenFile(path)
      if file.size <= UInt64(largest) { return try file.bytes(Int(file.size), from: 0) }
    } catch {
      throw ReadError(clause: "cannot be inspected: \(error)")
    }
    throw ReadError(clause: "is not a recording's manifest: it is larger than \(largest >> 20) MiB")
  }
}
