import CallCheck
import CallReport

/// The media files of an inspection as a page shows them: those that are small are put into it, the others are linked to.
struct InspectionPage {
  /// Where the page is written.
  let path: String

  func content(of report: CheckReport) -> (report: CheckReport, recordings: [String: HTMLReport.Recording]) {
    var recordings: [String: HTMLReport.Recording] = [:]
    var left = HTMLReport.maximumEmbeddedInAll
    // A film has both tracks, so films go first where there is not room for all.
    let files = report.peers.flatMap(\.recordings)
    let films = files.filter { $0.hasSuffix(".webm") }
    for file in films + files where recordings[file] == nil {
      let isPlayable = !file.hasSuffix(".ivf")
      if isPlayable, let bytes = RecordingStore.bytes(of: file, most: min(left, HTMLReport.maximumEmbedded)) {
        left -= bytes.count
        recordings[file] = .bytes(bytes)
      } else {
        recordings[file] = .file(RecordingStore.path(of: file, from: path))
      }
    }
    return (report, recordings)
  }
}
