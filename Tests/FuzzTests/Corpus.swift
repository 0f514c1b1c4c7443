import Foundation
import FuzzTargets

/// The inputs stored in `Tests/Fuzz`.
enum Corpus {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz")

  /// The names of the inputs that once caused a failure: the target's name, a dash, a hash.
  static let crashes = names(in: folder.appendingPathComponent("Crashes"))

  static func crash(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appendingPathComponent("Crashes").appendingPathComponent(name)))
  }

  static func target(ofCrash name: String) -> FuzzTarget? {
    name.split(separator: "-").first.flatMap { FuzzTarget(rawValue: String($0)) }
  }

  /// The valid inputs of a target, sorted by name.
  static func inputs(for target: FuzzTarget) throws -> [[UInt8]] {
    let position = folder.appendingPathComponent("Corpus").appendingPathComponent(target.rawValue)
    return try names(in: position).map { [UInt8](try Data(contentsOf: position.appendingPathComponent($0))) }
  }

  private static func names(in position: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: position.path)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }
}

/// Stores the current input in a file, where it can be found if the process crashes.
struct InputTrace {
  private let path: String
  private let file: FileHandle

  init(_ target: FuzzTarget) throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("chatbot-fuzz-\(target.rawValue)-\(ProcessInfo.processInfo.processIdentifier)").path
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { throw CocoaError(.fileWriteUnknown) }
    self.file = file
    print("If the process ends here, the input is in \(path).")
  }

  func note(_ input: [UInt8]) {
    file.truncateFile(atOffset: 0)
    file.write(Data(input))
  }

  func remove() {
    try? file.close()
    try? FileManager.default.removeItem(atPath: path)
  }
}
