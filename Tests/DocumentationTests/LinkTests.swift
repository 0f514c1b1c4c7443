import Foundation
import Testing

@Suite("The documents")
struct LinkTests {
  @Test("every link leads to a file and a heading that exist", arguments: try Repository.documents())
  func links(path: String) throws {
    let document = MarkdownDocument(try Repository.text(of: path))
    for (line, target) in document.links where !target.contains("://") && !target.hasPrefix("mailto:") {
      let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let folder = URL(fileURLWithPath: path, relativeTo: Repository.folder).deletingLastPathComponent()
      let file =
        parts[0].isEmpty ? Repository.folder.appendingPathComponent(path) : folder.appendingPathComponent(parts[0])
      guard FileManager.default.fileExists(atPath: file.path) else {
        Issue.record("\(path):\(line): there is no \(target).")
        continue
      }
      guard parts.count > 1, file.path.hasSuffix(".md") else { continue }
      let anchors = MarkdownDocument(try String(contentsOf: file, encoding: .utf8)).anchors
      #expect(anchors.contains(parts[1]), "\(path):\(line): there is no heading for \(target).")
    }
  }

  @Test("the README has at most 200 lines")
  func readmeIsShort() throws {
    #expect(try Repository.text(of: "README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 201)
  }
}
