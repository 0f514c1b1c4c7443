import CallCheck
import CallReport
import Console
import FoundationEssentials

/// The outputs of a verdict besides the table: files, and at most one of them standard output.
struct CheckOutputs: Sendable {
  var json: String?
  var junit: String?
  var html: String?
  /// A file to which the verdict is added.
  var markdown: String?

  /// The file name that means standard output.
  static let standardOutput = "-"

  private var all: [String] { [json, junit, html, markdown].compactMap(\.self) }

  /// The outputs that are files.
  var files: [String] { all.filter { $0 != Self.standardOutput } }

  /// Whether an output uses standard output, so that nothing else may be written there.
  var takesStandardOutput: Bool { files.count < all.count }

  /// Whether a path is writable; for existing files the file itself is checked.
  var mayWrite: @Sendable (String) -> Bool = { FileManager.default.isWritableFile(atPath: $0) }

  /// Checks that each file can be written, before the call is joined.
  func prepare() throws(CallFailure) {
    for path in files {
      var isFolder = false
      if path.isEmpty {
        throw CallFailure(.usage, "--json, --junit, --html and --summary-markdown need the name of a file.")
      }
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
        throw CallFailure(.disk, "\(path) is a folder; a report needs the name of a file.")
      }
      if FileManager.default.fileExists(atPath: path) {
        // A file is replaced, unless something is added to it.
        if mayWrite(path) || (path != markdown && Self.isFile(path) && mayWrite(Self.folder(of: path))) { continue }
        throw CallFailure(.disk, "\(path) cannot be written: permission denied.")
      }
      guard mayWrite(Self.folder(of: path)) else {
        throw CallFailure(.disk, "\(path) cannot be written: its folder does not exist or is not writable.")
      }
    }
  }

  /// Writes all outputs, each file completely or not at all, except for the one to which the verdict is added. A file that
  /// cannot be written does not prevent the others.
  ///
  /// - Parameter page: The report with the data that only the page shows, and its media files by the names that they have
  ///   there.
  /// - Throws: What could not be written, and why.
  func write(
    _ report: CheckReport, page: (report: CheckReport, recordings: [String: HTMLReport.Recording])? = nil,
    on console: Console
  ) throws(CallFailure) {
    var problems: [String] = []
    func put(_ path: String?, _ text: () throws -> String) {
      guard let path else { return }
      do {
        let text = try text()
        if path == Self.standardOutput { try console.document(text) } else { try write(text, to: path) }
      } catch {
        let name = path == Self.standardOutput ? "Standard output" : path
        problems.append("\(name) cannot be written: \(FileErrorDescription.sentence(error))")
      }
    }
    put(json) { try report.json }
    put(junit) { report.junit }
    put(html) { HTMLReport(page?.report ?? report, recordings: page?.recordings ?? [:]).text }
    if let markdown {
      do throws(AppendedFile.WriteError) {
        try AppendedFile.append(to: markdown) { size in
          let separator = size > 0 ? "\n" : ""
          let left = CheckReport.maximumMarkdownBytes - size - separator.utf8.count
          let text = report.markdown(limit: left)
          return text.isEmpty ? "" : separator + text
        }
      } catch {
        problems.append("\(markdown) cannot be written: \(error.reason).")
      }
    }
    if !problems.isEmpty { throw CallFailure(.disk, problems.joined(separator: " ")) }
  }

  private func write(_ text: String, to path: String) throws {
    // Pipes and devices are written directly. Only a file is replaced atomically, and only if a temporary file can be
    // created beside it.
    let isReplaced = !Self.exists(path) || (Self.isFile(path) && mayWrite(Self.folder(of: path)))
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: isReplaced ? .atomic : [])
  }

  /// Whether the path exists, possibly as a dangling link.
  private static func exists(_ path: String) -> Bool { kind(of: path) != nil }

  /// Whether the path is a regular file, and not a link, a pipe or a device.
  private static func isFile(_ path: String) -> Bool { kind(of: path) == .typeRegular }

  private static func kind(of path: String) -> FileAttributeType? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
  }

  private static func folder(of path: String) -> String {
    URL(fileURLWithPath: path).deletingLastPathComponent().path
  }
}
