import CallCheck
import CallReport
import FoundationEssentials
import Media
import Recorder

/// The recordings of a check: kept in the requested folder, or made only to embed them in the page.
final class RecordingStore {
  /// The folder to record into, or nil for no recording.
  let folder: String?
  private let isKept: Bool
  private var files: [String: [String]] = [:]

  /// - Parameters:
  ///   - kept: The folder to keep them in.
  ///   - isWanted: Whether there is a page to embed them in.
  init(kept: String?, isWanted: Bool) throws(CallFailure) {
    isKept = kept != nil
    if kept != nil || !isWanted {
      folder = kept
      return
    }
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("chatbot-check-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: scratch, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CallFailure(.disk, "\(scratch.path) cannot be created: \(FileErrorDescription.sentence(error))")
    }
    folder = scratch.path
  }

  /// Adds the files of finished recordings.
  func enter(_ recordings: [RecordingSummary]) {
    for recording in recordings {
      // The WebM file has both tracks; the Ogg file is used only if there was no video.
      let media = recording.paths.filter { !$0.hasSuffix(".json") }
      let webMFiles = media.filter { $0.hasSuffix(".webm") }
      files[recording.participant.text, default: []] += webMFiles.isEmpty ? media : webMFiles
    }
  }

  /// Lists each peer's files in a report.
  func list(in report: inout CheckReport) {
    for index in report.peers.indices { report.peers[index].recordings = files[report.peers[index].id] ?? [] }
  }

  /// Returns the report and its files for a page at a path: large files that are kept are linked, the others are
  /// embedded.
  func page(
    of report: CheckReport, at path: String
  ) -> (report: CheckReport, recordings: [String: HTMLReport.Recording]) {
    var report = report
    list(in: &report)
    var recordings: [String: HTMLReport.Recording] = [:]
    var left = HTMLReport.maximumTotalEmbedded
    for index in report.peers.indices {
      for file in report.peers[index].recordings {
        if let bytes = HTMLReport.bytes(of: file, most: min(left, HTMLReport.maximumEmbedded)) {
          left -= bytes.count
          recordings[file] = .bytes(bytes)
        } else if isKept {
          recordings[file] = .file(HTMLReport.link(to: file, from: path))
        } else {
          report.peers[index].recordings.removeAll { $0 == file }
        }
      }
    }
    return (report, recordings)
  }

  /// Removes recordings that must not be kept.
  func clear() {
    if !isKept, let folder { try? FileManager.default.removeItem(atPath: folder) }
  }
}
