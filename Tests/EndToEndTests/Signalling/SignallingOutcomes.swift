import Foundation
import Synchronization

/// Writes what the scenarios found about each signalling system into `end-to-end/signalling-outcomes.txt`, one line each,
/// such as `janus record passed`. `DocumentationTests` makes the table of `docs/signalling.md` from it.
enum SignallingOutcomes {
  enum System: String, CaseIterable, Sendable {
    case skyRTC = "skyrtc"
    case socketIO = "socket.io"
    case firestore, whip, whep, janus, exec
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
}
