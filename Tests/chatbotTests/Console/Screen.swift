import Console
import Foundation

@testable import chatbot

/// Captures standard output and standard error in two files that are deleted with it.
final class Screen {
  private let folder: URL
  private let outputFile: URL
  private let errorFile: URL
  private let outputHandle: FileHandle
  private let errorHandle: FileHandle

  /// - Parameter output: A file to use as standard output, such as `/dev/full`; nil for a temporary file.
  init(output: String? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("screen-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    outputFile = output.map { URL(fileURLWithPath: $0) } ?? folder.appendingPathComponent("output")
    errorFile = folder.appendingPathComponent("errors")
    try Data().write(to: errorFile)
    if output == nil { try Data().write(to: outputFile) }
    outputHandle = try FileHandle(forWritingTo: outputFile)
    errorHandle = try FileHandle(forWritingTo: errorFile)
  }

  deinit {
    try? outputHandle.close()
    try? errorHandle.close()
    try? FileManager.default.removeItem(at: folder)
  }

  func console(isQuiet: Bool = false, isInWorkflow: Bool = false) -> Console {
    Console(
      isQuiet: isQuiet, isInWorkflow: isInWorkflow, output: outputHandle.fileDescriptor,
      errors: errorHandle.fileDescriptor)
  }

  /// What was written so far.
  var output: String { Self.text(of: outputFile) }
  var errors: String { Self.text(of: errorFile) }

  private static func text(of file: URL) -> String {
    String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
  }
}
