import Foundation
import TestSupport
import Testing

/// The built programs with moto as their store, behind a proxy that disturbs requests: see `Tests/Interop/service-store.py`.
enum ServiceStoreProgram {
  private static let python = ProcessInfo.processInfo.environment["CHATBOT_MOTO_PYTHON"]

  static let isMissing: Comment =
    "CHATBOT_MOTO_PYTHON names no interpreter: run scripts/install-python-packages.sh and set it."
  static var isInstalled: Bool { python.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false }

  /// Runs the program in a scenario of its own, and expects that all holds.
  ///
  /// - Parameter words: what it does, after its folders.
  static func run(_ words: [String], _ name: String, limit: Duration) async throws {
    try await Scenario.run(name, limit: limit) { scenario in
      _ = try BuiltProgram.path()
      let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/service-store.py").path
      let folder = scenario.folder.appendingPathComponent("store").path
      let process = try await scenario.program(
        "store", [try #require(python), "-u", script, BuiltProgram.folder.path, folder] + words, environment: [:])
      let end = try await process.ending(within: limit)
      #expect(process.output.contains("all holds"), "\(end)\n\(process.output)")
    }
  }
}
