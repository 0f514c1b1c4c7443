import Foundation

/// The outcomes of calls as tables in Markdown, one for each kind of ICE server: a row for each place of the playing bot, a
/// column for each place of the recording one.
struct NATTable: Sendable {
  private struct Cell {
    let sender: NATCall.Place
    let receiver: NATCall.Place
    let text: String
    /// The text without times, which differ from run to run.
    let lastingText: String
  }

  private var servers: [NATCall.Servers] = []
  private var cells: [NATCall.Servers: [Cell]] = [:]

  /// Adds a call. Its cell has the time until it was connected, the share of frames that was recorded, and the types of
  /// the candidates.
  mutating func add(
    _ outcome: NATCall.Outcome, from sender: NATCall.Place, to receiver: NATCall.Place, with server: NATCall.Servers
  ) {
    if cells[server] == nil { servers.append(server) }
    let share = 100 * Double(outcome.frames) / Double(max(outcome.expectedFrames, 1))
    let types = outcome.candidateTypes ?? "unknown"
    let text = outcome.connectedAfter.map { String(format: "%.2f s, %.0f %%, \(types)", $0, share) } ?? "no"
    let lasting = outcome.connectedAfter.map { _ in share == 100 ? types : String(format: "\(types), %.0f %%", share) }
    cells[server, default: []].append(
      Cell(sender: sender, receiver: receiver, text: text, lastingText: lasting ?? "no"))
  }

  var markdown: String { servers.map { markdown(of: $0, \.text) }.joined(separator: "\n") }

  private func markdown(of server: NATCall.Servers, _ text: KeyPath<Cell, String>) -> String {
    let cells = cells[server] ?? []
    let (rows, columns) = (Self.distinct(cells.map(\.sender)), Self.distinct(cells.map(\.receiver)))
    let head = "| \(server) | \(columns.map { "\($0)" }.joined(separator: " | ")) |\n"
    let line = String(repeating: "|---", count: columns.count + 1) + "|\n"
    let body = rows.map { row in
      let texts = columns.map { column in
        cells.first { $0.sender == row && $0.receiver == column }?[keyPath: text] ?? ""
      }
      return "| \(row) | \(texts.joined(separator: " | ")) |\n"
    }
    return head + line + body.joined()
  }

  /// Returns each place once, in the order of the first one.
  private static func distinct(_ places: [NATCall.Place]) -> [NATCall.Place] {
    places.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  // MARK: The document

  /// The document with the tables, each between two lines: `<!-- STUN -->` and `<!-- end -->`, for example.
  private static let document = BuiltProgram.repository.appendingPathComponent("docs/network.md")

  struct NotInDocument: Error, CustomStringConvertible {
    let servers: String

    var description: String { "docs/network.md has no lines <!-- \(servers) --> and <!-- end --> after it." }
  }

  /// Compares these tables, without times, with those of docs/network.md. Where `CHATBOT_UPDATE_REFERENCE` is set, it
  /// writes them there.
  ///
  /// - Returns: the rows that differ, each as it should be.
  func differencesFromDocument() throws -> [String] {
    var text = try String(contentsOf: Self.document, encoding: .utf8)
    var differences: [String] = []
    for server in servers {
      let begin = "<!-- \(server) -->\n"
      guard let start = text.range(of: begin)?.upperBound,
        let end = text[start...].range(of: "<!-- end -->")?.lowerBound
      else { throw NotInDocument(servers: "\(server)") }
      let (found, stated) = (markdown(of: server, \.lastingText), text[start..<end])
      let rows = Set(stated.split(separator: "\n"))
      differences += found.split(separator: "\n").filter { !rows.contains($0) }.map(String.init)
      text.replaceSubrange(start..<end, with: found)
    }
    guard ProcessInfo.processInfo.environment["CHATBOT_UPDATE_REFERENCE"] != nil else { return differences }
    try text.write(to: Self.document, atomically: true, encoding: .utf8)
    return []
  }
}
