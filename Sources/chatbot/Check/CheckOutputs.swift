import CallCheck
import Foundation

/// The files that a verdict is written to.
struct CheckOutputs: Sendable {
  var json: String?
  var junit: String?
  var html: String?

  /// Whether each of them can be written; found out before anybody is disturbed.
  func prepare() throws(CallFailure) {
    for path in [json, junit, html].compactMap(\.self) {
      var isFolder: ObjCBool = false
      if path.isEmpty { throw CallFailure(.usage, "--json, --junit and --html need the name of a file.") }
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
        throw CallFailure(.disk, "\(path) is a folder; a report needs the name of a file.")
      }
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      guard FileManager.default.isWritableFile(atPath: folder) else {
        throw CallFailure(.disk, "\(path) cannot be written: there is no such folder, or no right to write into it.")
      }
    }
  }

  /// Writes them all, each as a whole or not at all.
  ///
  /// - Parameter page: the report with what only the page shows, and its media files by the names that they have there.
  func write(
    _ report: CheckReport, page: (report: CheckReport, recordings: [String: HTMLReport.Recording])? = nil
  ) throws(CallFailure) {
    if let json { try write(text(of: report), to: json) }
    if let junit { try write(report.junit, to: junit) }
    if let html { try write(HTMLReport(page?.report ?? report, recordings: page?.recordings ?? [:]).text, to: html) }
  }

  private func text(of report: CheckReport) throws(CallFailure) -> String {
    do { return try report.json } catch { throw CallFailure(.unexpected, "The report cannot be written: \(error)") }
  }

  private func write(_ text: String, to path: String) throws(CallFailure) {
    do {
      // A pipe or a device is written to; only a file is replaced as a whole.
      let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
      let isReplaced = type == nil || type == .typeRegular
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: isReplaced ? .atomic : [])
    } catch {
      throw CallFailure(.disk, "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
