import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The built programs with moto as their store, behind a proxy that disturbs requests: see `Tests/Interop/service-store.py`.
  @Suite("storing in S3", .serialized) struct ServiceStoreTests {
    private static let python = ProcessInfo.processInfo.environment["CHATBOT_MOTO_PYTHON"]
    private static let isWhole = ProcessInfo.processInfo.environment["CHATBOT_SERVICE_TESTS"] == "whole"
    static let isMissing: Comment =
      "CHATBOT_MOTO_PYTHON names no interpreter: run scripts/install-python-packages.sh and set it."
    static var isInstalled: Bool { python.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false }

    private func run(_ words: [String], _ name: String, limit: Duration) async throws {
      try await Scenario.run(name, limit: limit) { scenario in
        _ = try BuiltProgram.path()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
          .deletingLastPathComponent().appendingPathComponent("Interop/service-store.py").path
        let folder = scenario.folder.appendingPathComponent("store").path
        let process = try await scenario.program(
          "store", [try #require(Self.python), "-u", script, BuiltProgram.folder.path, folder] + words, environment: [:]
        )
        let end = try await process.ending(within: limit)
        #expect(process.output.contains("all holds"), "\(end)\n\(process.output)")
      }
    }

    @Test(
      "after kills of the service and of its job, with half of the requests disturbed, every object is there once and whole",
      .enabled(if: isInstalled, isMissing))
    func kills() async throws {
      try await run(["kills", Self.isWhole ? "25" : "4"], "75 store kills", limit: .seconds(Self.isWhole ? 500 : 130))
    }

    @Test(
      "while the store is away files wait, a refusal is named, and in the end all is stored and copies go",
      .enabled(if: isInstalled && isWhole, isMissing))
    func outage() async throws {
      try await run(["outage", "600"], "76 store outage", limit: .seconds(1_200))
    }

    @Test(
      "after half a minute without the store everything is stored, once",
      .enabled(if: isInstalled && !isWhole, isMissing))
    func shortOutage() async throws {
      try await run(["away", "30"], "79 short store outage", limit: .seconds(120))
    }

    @Test(
      "a disk that was full while the store was away gets room again, and everything is stored",
      .enabled(if: isInstalled && isWhole, isMissing))
    func full() async throws {
      try await run(["full"], "78 store full", limit: .seconds(600))
    }

    @Test(
      "a recorder with --store uploads beside it; kills of either lose nothing, and exit codes say what is missing",
      .enabled(if: isInstalled, isMissing))
    func upload() async throws {
      try await run(["upload"], "77 store upload", limit: .seconds(240))
    }
  }
}
