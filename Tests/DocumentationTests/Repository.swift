import Foundation

/// The files that these tests read: those of the repository, and the programs of the same build.
enum Repository {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The built programs lie beside this test program.
  static let products = Bundle.main.executableURL?.deletingLastPathComponent() ?? folder

  static let program = products.appendingPathComponent("chatbot").path

  /// Whether files are to be written instead of compared: `make reference` sets it.
  static let isUpdating = ProcessInfo.processInfo.environment["CHATBOT_UPDATE_REFERENCE"] != nil

  /// The paths of all Markdown documents, relative to the repository's folder.
  static func documents() throws -> [String] {
    let skipped: Set = [".build", ".git", "out"]
    var found: [String] = []
    var pending = [""]
    while let directory = pending.popLast() {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + directory).sorted() {
        let path = directory.isEmpty ? name : directory + "/" + name
        var isDirectory: ObjCBool = false
        guard !skipped.contains(name),
          FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isDirectory)
        else { continue }
        if isDirectory.boolValue { pending.append(path) } else if name.hasSuffix(".md") { found.append(path) }
      }
    }
    return found.sorted()
  }

  static func text(of path: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
  }

  /// Writes the file if files are to be updated; says whether it did.
  static func update(_ path: String, with text: String) throws -> Bool {
    guard isUpdating else { return false }
    let file = folder.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    return true
  }
}
