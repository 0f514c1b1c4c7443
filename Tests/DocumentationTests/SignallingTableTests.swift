import Foundation
import Testing

@Suite("The table of signalling systems")
struct SignallingTableTests {
  private static let path = "docs/signalling.md"

  /// What the last run of end-to-end tests found; nil if there was none.
  private static var outcomes: String? {
    try? String(
      contentsOf: Repository.products.appendingPathComponent("end-to-end/signalling-outcomes.txt"), encoding: .utf8)
  }

  /// The systems of which each use must have an outcome, separated by spaces, after a run of all end-to-end tests.
  private static let required =
    (ProcessInfo.processInfo.environment["CHATBOT_REQUIRED_OUTCOMES"] ?? "").split(separator: " ").map(String.init)

  @Test("docs/signalling.md has what the end-to-end tests found; `make reference` writes it")
  func isCurrent() throws {
    let document = try Repository.text(of: Self.path)
    var table = try SignallingTable(document: document)
    let missing = table.enter(Self.outcomes ?? "")
    for system in Self.required {
      let uses = missing.filter { $0.hasPrefix("\(system) ") }.sorted()
      #expect(uses == [], "a run of all end-to-end tests has an outcome for each use")
    }
    if try Repository.update(Self.path, with: table.document) { return }
    #expect(table.document == document)
  }

  @Test("the last outcome of a use counts, one that failed changes nothing, and what was not tried is listed")
  func outcomes() throws {
    let document = """
      Text
      | system | address | record | play | loopback | check | load |
      |---|---|---|---|---|---|---|
      | WHIP | `whip+http://` | yes | no | no | no | yes |
      | WHEP | `whep+http://` | yes | no | no | no | yes |

      More
      """
    var table = try SignallingTable(document: document)
    #expect(table.enter("").count == SignallingTable.titles.count * SignallingTable.uses.count)
    #expect(table.document == document)
    let missing = table.enter("whip record passed\nwhip record refused\nwhip play passed\nwhip load failed\nnoise\n")
    #expect(missing.contains("whip check") && missing.contains("whep record"))
    #expect(missing.isDisjoint(with: ["whip record", "whip play", "whip load"]))
    #expect(
      table.document
        == document.replacing(
          "| WHIP | `whip+http://` | yes | no | no | no | yes |",
          with: "| WHIP | `whip+http://` | no | yes | no | no | yes |"))
  }
}
