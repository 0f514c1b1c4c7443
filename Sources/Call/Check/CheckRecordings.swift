public import CallCheck
public import CallReport
internal import FoundationEssentials
internal import Glibc
internal import Media
public import Recorder

/// The recordings of a check: kept in the requested folder, or made only to embed them in the page.
public final class CheckRecordings {
  /// The folder to record into, or nil for no recording.
  public let folder: String?
  private let isKept: Bool
  private var files: [String: [String]] = [:]

  /// - Parameters:
  ///   - kept: The folder to keep them in.
  ///   - isWanted: Whether there is a page to embed them in.
  public init(kept: String?, isWanted: Bool) throws(RoomCall.FileError) {
    isKept = kept != nil
    if kept != nil || !isWanted {
      folder = kept
      return
    }
    let name = "chatbot-check-\(UUID().uuidString)"
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    guard mkdir(scratch, 0o700) == 0 else {
      let reason = String(cString: strerror(errno))
      throw RoomCall.FileError(.unwritable, "\(scratch) cannot be created: \(reason).")
    }
    folder = scratch
  }

  /// Adds the files of finished recordings.
  public func add(_ recordings: [RecordingSummary]) {
    for recording in recordings {
      // The file with video has both tracks; the one with audio alone is used only if there was no video.
      let media = recording.paths.filter { !$0.hasSuffix(".json") }
      let videoFiles = media.filter { RecordingFileKind(fileName: $0)?.hasVideo ?? false }
      files[recording.participant.text, default: []] += videoFiles.isEmpty ? media : videoFiles
    }
  }

  /// Lists each peer's files in a report.
  public func list(in report: inout CheckReport) {
    for index in report.peers.indices { report.peers[index].recordings = files[report.peers[index].id] ?? [] }
  }

  /// Returns the report and its files for a page at a path: large files that are kept are linked, the others are
  /// embedded.
  public func page(
    of report: CheckReport, at path: String
  ) -> (report: CheckReport, recordings: [String: HTMLReport.Recording]) {
    var report = report
    list(in: &report)
    let files = report.peers.flatMap(\.recordings)
    let recordings = HTMLReport.recordings(files, forPageAt: path, isLinking: isKept)
    for index in report.peers.indices { report.peers[index].recordings.removeAll { recordings[$0] == nil } }
    return (report, recordings)
  }

  /// Removes recordings that must not be kept.
  public func clear() {
    if !isKept, let folder { try? FileManager.default.removeItem(atPath: folder) }
  }
}
