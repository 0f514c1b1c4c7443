internal import Glibc
internal import Media
internal import NIOCore
internal import Recorder

/// The summary of a call, in a file beside the recordings.
package enum SessionFile {
  private static let maximumNumber = 1_000

  /// Writes `ROOM-TIME.session.json`; when that is taken, `ROOM-TIME-2.session.json` and so on. Never over an existing file. It is on the
  /// disk when this returns.
  ///
  /// - Returns: its path.
  package static func write(_ summary: SessionSummary, into folder: String) throws -> String {
    let directory = try RecordingDirectory(path: folder)
    let content = ByteBuffer(string: try summary.json)
    let stem = stem(of: summary)
    for number in 1...maximumNumber {
      let name = stem + (number > 1 ? "-\(number)" : "") + ".session.json"
      if directory.contains(name) { continue }
      do throws(RoomRecorder.StorageError) {
        _ = try directory.create(name, containing: content, durably: true)
        return (folder.hasSuffix("/") ? folder : folder + "/") + name
      } catch {
        if !error.isNameTaken { throw error }
      }
    }
    throw RoomRecorder.StorageError("create", "\(folder)/\(stem).session.json", code: EEXIST)
  }

  /// The room's name, made safe, and when the call began: `100-20260301T093000Z`.
  static func stem(of summary: SessionSummary) -> String {
    let digits = summary.start.prefix(19).filter { $0 != "-" && $0 != ":" }
    // Names of files are at most 255 bytes long; this leaves room for the time, a number, the ending and the name of a draft.
    return "\(SafeFileName(of: summary.room))-\(digits)Z"
  }
}
