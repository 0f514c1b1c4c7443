import CallCheck
import CallReport
import Console

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

  /// Checks that each file can be written, before the call is joined.
  func prepare() throws(CallFailure) {
    for path in files {
      if path.isEmpty {
        throw CallFailure(.usage, "--json, --junit, --html and --summary-markdown need the name of a file.")
      }
      do {
        // A file is replaced, unless something is added to it.
        if path == markdown { try AppendedFile.check(path) } else { try DocumentFile.check(path) }
      } catch {
        throw CallFailure(.disk, DocumentFile.sentence(error, writing: path))
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
      let isFile = path != Self.standardOutput
      do {
        if isFile { try DocumentFile.write(try text(), to: path) } else { try console.document(try text()) }
      } catch {
        problems.append(DocumentFile.sentence(error, writing: isFile ? path : "Standard output"))
      }
    }
    put(json) { try report.json }
    put(junit) { report.junit }
    put(html) { HTMLReport(page?.report ?? report, recordings: page?.recordings ?? [:]).text }
    if let markdown {
      do throws(AppendedFile.WriteError) {
        try AppendedFile.append(to: markdown) { report.markdown(addedTo: $0) }
      } catch {
        problems.append(DocumentFile.sentence(error, writing: markdown))
      }
    }
    if !problems.isEmpty { throw CallFailure(.disk, problems.joined(separator: " ")) }
  }
}
