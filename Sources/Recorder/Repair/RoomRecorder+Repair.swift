import FoundationEssentials
import NIOCore

extension RoomRecorder {
  /// The names of the manifests in a folder whose recordings were never finished, for example because the program was killed,
  /// and that nobody is writing; in alphabetical order. Each can be given to `repair`.
  public static func unfinished(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().filter { name in
      // Locked for a moment, to know that nobody else has it locked.
      guard let file = try? OpenRecording(path: "\(folder)/\(name)", followsLinks: false, writes: false) else {
        return false
      }
      return (try? RecordingManifest.read(file))?.finished == false
    }
  }

  /// Makes recordings whole that were never closed: cues and durations, in place.
  ///
  /// It can be interrupted at any moment and run again. A file that is whole, or somebody else's, or being recorded at this
  /// moment, is left alone.
  ///
  /// - Parameter path: a `.webm` or `.ogg` file, a manifest, which stands for its files, or a folder, which stands for all
  ///   unfinished recordings in it.
  /// - Returns: a report for each file, the manifests included.
  public static func repair(_ path: String) -> [RepairReport] {
    var isFolder = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
      let folder = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
      return unfinished(in: folder).flatMap { repair("\(folder)/\($0)") }
    }
    return RecordingRepair(path: path).run()
  }
}

extension RecordingManifest {
  /// No manifest is larger: its lists are bounded.
  private static let largest: Int64 = 16 << 20

  /// Reads a manifest from its file; nil when it is not one.
  static func read(_ file: OpenRecording) throws(RoomRecorder.StorageError) -> RecordingManifest? {
    guard file.size > 1, file.size <= largest else { return nil }
    let bytes = try file.read(at: 0, count: Int(file.size))
    return try? RecordingManifest(parsing: Array(bytes.readableBytesView))
  }
}
