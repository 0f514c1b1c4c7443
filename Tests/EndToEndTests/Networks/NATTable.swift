import Foundation

/// The outcomes of calls as tables in Markdown, one for each kind of ICE server: a row for each place of the playing bot, a
/// column for each place of the recording one.
struct NATTable: Sendable {
  private struct Cell {
    let sender: NATCall.Place
    let receiver: NATCall.Place
    let text: String
  }

  private var servers: [NATCall.Servers] = []
  private var cells: [NATCall.Servers: [Cell]] = [:]

  /// Adds a call. Its cell has the time until it was connected, and the share of frames that was recorded.
  mutating func add(
    _ outcome: NATCall.Outcome, from sender: NATCall.Place, to receiver: NATCall.Place, with server: NATCall.Servers
  ) {
    if cells[server] == nil { servers.append(server) }
    let share = 100 * Double(outcome.frames) / Double(max(outcome.expectedFrames, 1))
    let text = outcome.connectedAfter.map { String(format: "%.2f s, %.0f %%", $0, share) } ?? "no"
    cells[server, default: []].append(Cell(sender: sender, receiver: receiver, text: text))
  }

  var markdown: String {
    servers.map { server in
      let cells = cells[server] ?? []
      let (rows, columns) = (Self.distinct(cells.map(\.sender)), Self.distinct(cells.map(\.receiver)))
      let head = "| \(server) | \(columns.map { "\($0)" }.joined(separator: " | ")) |\n"
      let line = String(repeating: "|---", count: columns.count + 1) + "|\n"
      let body = rows.map { row in
        let texts = columns.map { column in
          cells.first { $0.sender == row && $0.receiver == column }?.text ?? ""
        }
        return "| \(row) | \(texts.joined(separator: " | ")) |\n"
      }
      return head + line + body.joined()
    }.joined(separator: "\n")
  }

  /// Returns each place once, in the order of the first one.
  private static func distinct(_ places: [NATCall.Place]) -> [NATCall.Place] {
    places.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
