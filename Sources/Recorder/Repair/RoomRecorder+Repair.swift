import FoundationEssentials
import NIOCore

extension RoomRecorder {
  /// Returns the names of the manifests in a folder whose recordings were never finished, for example because the
  /// program was killed, and that no program is writing; in alphabetical order. Each can be passed to `repair`.
  public static func unfinished(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().filter { name in
      // Locked for a moment, to check that no other process has it locked.
      guard let file = try? OpenRecording(path: "\(folder)/\(name)", followsLinks: false, writes: false) else {
        return false
      }
      return (try? RecordingManifest.read(file))?.finished == false
    }
  }

  /// Completes recordings that were never closed, by adding cues and durations in place.
  ///
  /// It can be interrupted at any moment and run again. It does not change files that are complete, that another
  /// program wrote, or that are being recorded.
  ///
  /// - Parameter path: a `.webm`, `.mkv`, `.ogg` or `.mka` file, a manifest to repair its files, or a folder to repair all unfinished
  ///   recordings in it.
  /// - Returns: a report for each file, including manifests.
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
  /// The maximum size of a manifest, whose lists are bounded.
  private static let maximumManifestSize: Int64 = 16 << 20

  /// Reads a manifest from its file; nil when it is not one.
  static func read(_ file: OpenRecording) throws(RoomRecorder.StorageError) -> RecordingManifest? {
    let json = try bytes(of: file)
    return try? RecordingManifest(parsing: json)
  }

  /// Returns what is wrong with a file that is no manifest, as a clause that follows its name.
  static func refusal(of file: OpenRecording) throws(RoomRecorder.StorageError) -> String {
    refusal(of: try bytes(of: file))
  }

  /// The bytes of a file that may be a manifest; none if its size is not that of one.
  private static func bytes(of file: OpenRecording) throws(RoomRecorder.StorageError) -> [UInt8] {
    guard file.size > 1, file.size <= maximumManifestSize else { return [] }
    return Array(try file.read(at: 0, count: Int(file.size)).readableBytesView)
  }
}

/// The result of repairing one file.
public struct RepairReport: Sendable, Hashable, CustomStringConvertible {
  public enum Outcome: Sendable, Hashable {
    /// The file is complete now, and has this playing time.
    case repaired(Duration)
    /// The file was complete, and was not changed.
    case intact
    /// The file was not changed, for a reason that completes “FILE …”.
    case refused(String)
    /// The file does not exist.
    case missing
    /// The file could not be read or written.
    case failed(RoomRecorder.StorageError)
  }

  public let path: String
  public let outcome: Outcome

  /// Whether the file is complete now.
  public var isComplete: Bool {
    switch outcome {
    case .repaired, .intact: true
    case .refused, .missing, .failed: false
    }
  }

  /// The report as one sentence.
  public var description: String {
    switch outcome {
    case .repaired(let duration):
      duration == .zero ? "“\(path)” is complete now." : "“\(path)” is complete now, \(duration.roundedSeconds) s."
    case .intact: "“\(path)” was complete already."
    case .refused(let reason): "“\(path)” \(reason). It was not changed."
    case .missing: "“\(path)” does not exist."
    case .failed(let error): error.description
    }
  }
}
