import Foundation
import TestSupport
import Testing

/// A block of commands that a document marks as runnable: ```` ```sh runnable ````.
struct RunnableBlock: Sendable, CustomTestStringConvertible {
  var path: String
  var line: Int
  var commands: String

  var testDescription: String { "\(path):\(line)" }

  static func all() throws -> [RunnableBlock] {
    try Repository.documents().flatMap { path in
      MarkdownDocument(try Repository.text(of: path)).blocks.filter { $0.info.contains("runnable") }
        .map { RunnableBlock(path: path, line: $0.line, commands: $0.text) }
    }
  }
}

@Suite("The commands of the documents, in real time", .serialized, .realTime)
struct CommandBlocksInRealTime {
  @Test("every block marked as runnable does what it says, with the built program", arguments: try RunnableBlock.all())
  func runs(block: RunnableBlock) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("commands-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["samples", "docs"] {
      try FileManager.default.createSymbolicLink(
        at: folder.appendingPathComponent(name), withDestinationURL: Repository.folder.appendingPathComponent(name))
    }
    let script = """
      set -eu
      cd '\(folder.path)'
      PATH='\(Repository.products.path)':"$PATH"
      \(block.commands)
      """
    // At the priority of the stall meter, which otherwise would not notice that the commands had to wait.
    let result = try ExternalTool.run("sh", ["-c", script], limit: 120, niceness: 0)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
  }

  @Test("there are such blocks")
  func exist() throws {
    #expect(try RunnableBlock.all().count >= 5)
  }
}
