import Foundation
import Testing

/// A block of code that a document says is a file of `Examples`: ```` ```python Examples/Folder/file.py ````.
struct ExampleBlock: Sendable, CustomTestStringConvertible {
  var path: String
  var line: Int
  var file: String
  var text: String

  var testDescription: String { "\(path):\(line): \(file)" }

  static func all() throws -> [ExampleBlock] {
    try Repository.documents().flatMap { path in
      MarkdownDocument(try Repository.text(of: path)).blocks.compactMap { block in
        guard let file = block.info.dropFirst().first(where: { $0.hasPrefix("Examples/") }) else { return nil }
        return ExampleBlock(path: path, line: block.line, file: file, text: block.text)
      }
    }
  }
}

@Suite("The examples in documents")
struct ExampleFileTests {
  @Test("a block that names a file of Examples has its text", arguments: try ExampleBlock.all())
  func isTheFile(block: ExampleBlock) throws {
    #expect(try Repository.text(of: block.file) == block.text)
  }

  @Test("the adapters of docs/exec-signalling.md are such blocks")
  func exist() throws {
    let folder = Repository.folder.appendingPathComponent("Examples/ExecSignalling")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { "Examples/ExecSignalling/\($0)" }
    let shown = try ExampleBlock.all().filter { $0.path == "docs/exec-signalling.md" }.map(\.file)
    #expect(Set(files.filter { !$0.contains("__pycache__") }) == Set(shown))
  }
}
