import Foundation

/// The table of signalling systems and uses in `docs/signalling.md`, with what the end-to-end tests found.
struct SignallingTable {
  /// The names of the systems in lines of the end-to-end tests, and in the table.
  static let titles = [
    "skyrtc": "SkyRTC", "socket.io": "socket.io calls", "firestore": "Firestore", "whip": "WHIP", "whep": "WHEP",
    "janus": "Janus VideoRoom", "exec": "Child process",
  ]
  static let uses = ["record", "play", "loopback", "check", "load"]

  /// The document before and after the table.
  private let before: String
  private let after: String
  private let heading: [String]
  /// The cells of each row, with the system's name as the first one.
  private var rows: [[String]]

  struct NoTable: Error {}

  /// - Parameter document: the text of `docs/signalling.md`.
  init(document: String) throws {
    let lines = document.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("| system |") }),
      let end = lines[start...].firstIndex(where: { !$0.hasPrefix("|") })
    else { throw NoTable() }
    func cells(_ line: String) -> [String] {
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    before = lines[..<start].joined(separator: "\n")
    after = lines[end...].joined(separator: "\n")
    heading = cells(lines[start])
    rows = lines[(start + 2)..<end].map(cells)
    guard rows.allSatisfy({ $0.count == heading.count }) else { throw NoTable() }
  }

  /// Enters what the end-to-end tests found; the last line of a system and a use counts. What they did not try stays, and
  /// so does what failed: the run says that this test failed, or that it was not judged.
  ///
  /// - Parameter outcomes: lines such as `janus record passed`.
  /// - Returns: the systems and uses without an outcome, such as `janus load`.
  mutating func enter(_ outcomes: String) -> Set<String> {
    var missing: Set<String> = []
    var last: [String: String] = [:]
    for line in outcomes.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.count == 3 { last["\(words[0]) \(words[1])"] = words[2] }
    }
    for (name, title) in Self.titles {
      for use in Self.uses {
        guard let outcome = last["\(name) \(use)"], let row = rows.firstIndex(where: { $0[0] == title }),
          let column = heading.firstIndex(of: use)
        else {
          missing.insert("\(name) \(use)")
          continue
        }
        if let value = ["passed": "yes", "refused": "no"][outcome] { rows[row][column] = value }
      }
    }
    return missing
  }

  /// The whole document.
  var document: String {
    let lines = [heading, heading.map { _ in "---" }].enumerated().map { index, cells in
      index == 0 ? "| " + cells.joined(separator: " | ") + " |" : "|" + cells.joined(separator: "|") + "|"
    }
    let body = rows.map { "| " + $0.joined(separator: " | ") + " |" }
    return ([before] + lines + body + [after]).joined(separator: "\n")
  }
}
