import CallCheck
import CallReport
import FoundationEssentials

/// Where a verdict is written to besides the table: files, and at most one of them standard output.
struct CheckOutputs: Sendable {
  var json: String?
  var junit: String?
  var html: String?

  /// What stands for standard output in place of a file's name.
  static let standardOutput = "-"

  private var all: [String] { [json, junit, html].compactMap(\.self) }

  /// Those that are files.
  var files: [String] { all.filter { $0 != Self.standardOutput } }

  /// Whether standard output belongs to one of them, so that nothing else may be written there.
  var takesStandardOutput: Bool { files.count < all.count }

  /// Whether a path can be written to; files that are there are requested themselves.
  var mayWrite: @Sendable (String) -> Bool = { FileManager.default.isWritableFile(atPath: $0) }

  /// Whether each of them can be written; found out before anybody is disturbed.
  func prepare() throws(CallFailure) {
    for path in files {
      var isFolder = false
      if path.isEmpty { throw CallFailure(.usage, "--json, --junit and --html need the name of a file.") }
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
        throw CallFailure(.disk, "\(path) is a folder; a report needs the name of a file.")
      }
      if FileManager.default.fileExists(atPath: path) {
        if mayWrite(path) || (Self.isFile(path) && mayWrite(Self.folder(of: path))) { continue }
        throw CallFailure(.disk, "\(path) cannot be written: there is no right to.")
      }
      guard mayWrite(Self.folder(of: path)) else {
        throw CallFailure(.disk, "\(path) cannot be written: there is no such folder, or no right to write into it.")
      }
    }
  }

  /// Writes them all, each file as a whole or not at all. One that cannot be written does not keep the others from it.
  ///
  /// - Parameter page: the report with what only the page shows, and its media files by the names that they have there.
  /// - Throws: what could not be written, and why.
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
        problems.append("\(name) cannot be written: \(FileReason.sentence(error))")
      }
    }
    put(json) { try report.json }
    put(junit) { report.junit }
    put(html) { HTMLReport(page?.report ?? report, recordings: page?.recordings ?? [:]).text }
    if !problems.isEmpty { throw CallFailure(.disk, problems.joined(separator: " ")) }
  }

  private func write(_ text: String, to path: String) throws {
    // A pipe or a device is written to; only a file is replaced as a whole, and only where one can be put beside it.
    let isReplaced = !Self.isThere(path) || (Self.isFile(path) && mayWrite(Self.folder(of: path)))
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: isReplaced ? .atomic : [])
  }

  /// Whether there is something of that name, be it a link to nowhere.
  private static func isThere(_ path: String) -> Bool { kind(of: path) != nil }

  /// Whether it is a file, and not a link, a pipe or a device.
  private static func isFile(_ path: String) -> Bool { kind(of: path) == .typeRegular }

  private static func kind(of path: String) -> FileAttributeType? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
  }

  private static func folder(of path: String) -> String {
    URL(fileURLWithPath: path).deletingLastPathComponent().path
  }

}
