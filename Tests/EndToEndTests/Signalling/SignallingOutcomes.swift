import Foundation
import Synchronization
import Testing

/// Writes what the scenarios found about each signalling system into `end-to-end/signalling-outcomes.txt`, one line each,
/// such as `janus record passed`, and compares it with the table of `docs/signalling.md`.
enum SignallingOutcomes {
  enum System: String, CaseIterable, Sendable {
    case socketIO = "socket.io"
    case firestore, whip, whep, janus

    /// The system's name in the table.
    fileprivate var title: String {
      switch self {
      case .socketIO: "socket.io calls"
      case .firestore: "Firestore"
      case .whip: "WHIP"
      case .whep: "WHEP"
      case .janus: "Janus VideoRoom"
      }
    }
  }

  enum Use: String, CaseIterable, Sendable {
    case record, play, loopback, check, load
  }

  enum Outcome: String, Sendable {
    /// It works.
    case passed
    /// It should work, and does not.
    case failed
    /// The program says that the system does not allow it.
    case refused
  }

  struct NotInTable: Error, CustomStringConvertible {
    let description: String
  }

  /// The outcomes of the last run.
  static let file = BuiltProgram.folder.appendingPathComponent("end-to-end/signalling-outcomes.txt")

  private static let isBegun = Mutex(false)

  /// Appends a line; the first one of a test run replaces the file.
  static func append(_ system: System, _ use: Use, _ outcome: Outcome) throws {
    try isBegun.withLock { isBegun in
      if !isBegun { try Data().write(to: file) }
      isBegun = true
      let handle = try FileHandle(forWritingTo: file)
      defer { try? handle.close() }
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("\(system.rawValue) \(use.rawValue) \(outcome.rawValue)\n".utf8))
    }
    guard outcome != .failed else { return }
    let isPossible = try isPossible(system, use)
    #expect(isPossible == (outcome == .passed), "docs/signalling.md says the same: \(system.title), \(use.rawValue)")
  }

  /// Writes that a use passed, or that it failed if `verify` throws.
  static func record(_ system: System, _ uses: Use..., verify: () async throws -> Void) async throws {
    do {
      try await verify()
    } catch {
      for use in uses { try append(system, use, .failed) }
      throw error
    }
    for use in uses { try append(system, use, .passed) }
  }

  /// Whether the table of `docs/signalling.md` has a yes in that cell.
  private static func isPossible(_ system: System, _ use: Use) throws -> Bool {
    let document = BuiltProgram.repository.appendingPathComponent("docs/signalling.md")
    let rows = try String(contentsOf: document, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("|") }
      .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    guard let heading = rows.first(where: { $0.first == "system" }), let column = heading.firstIndex(of: use.rawValue),
      let row = rows.first(where: { $0.first == system.title }), row.indices.contains(column),
      ["yes", "no"].contains(row[column])
    else {
      throw NotInTable(description: "docs/signalling.md does not say whether \(system.title) allows \(use.rawValue).")
    }
    return row[column] == "yes"
  }
}
