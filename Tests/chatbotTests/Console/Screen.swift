import Foundation

@testable import chatbot

/// What a program writes to standard output and standard error, caught in two files that go with it.
final class Screen {
  private let folder: URL
  private let outputFile: URL
  private let errorFile: URL
  private let outputHandle: FileHandle
  private let errorHandle: FileHandle

  /// - Parameter output: a file to take for standard output, such as `/dev/full`; nil for one of its own.
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

  func console(isQuiet: Bool = false) -> Console {
    Console(isQuiet: isQuiet, output: outputHandle.fileDescriptor, errors: errorHandle.fileDescriptor)
  }

  /// What was written until now.
  var output: String { Self.text(of: outputFile) }
  var errors: String { Self.text(of: errorFile) }

  private static func text(of file: URL) -> String {
    String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
  }
}
