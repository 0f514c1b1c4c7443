import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The service as somebody meets it who has read nothing but two commands.
  @Suite("the first start of the service") struct ServiceFirstStartTests {
    /// The free space, in bytes, below which a service with the default settings accepts no job.
    private static let minimumFree: Int64 = 10_000_000_000

    private static let hasSpace: Bool = {
      let values = try? BuiltProgram.folder.resourceValues(forKeys: [.volumeAvailableCapacityKey])
      return Int64(values?.volumeAvailableCapacity ?? 0) > minimumFree + 1_000_000_000
    }()

    @Test(
      "in an empty folder, without settings, it records a room of three users until it is stopped",
      .enabled(if: Machine.canIsolate, "The default ports need a network namespace."),
      .enabled(if: hasSpace, "The default settings need 10 GB of free disk."))
    func emptyFolder() async throws {
      try await Scenario.run("97 first start", isolated: true, limit: .seconds(120)) { scenario in
        let server = try await scenario.server(port: 3_000)
        for number in 1...3 {
          _ = try await scenario.bot(
            in: "100", of: server, ["--play", "pattern", "--size", "160x120", "--fps", "15"], name: "user \(number)")
        }
        let folder = scenario.folder.appendingPathComponent("empty")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program = BuiltProgram.folder.appendingPathComponent("chatbot-service").path
        let service = try await scenario.program("service", [program], folder: folder)
        try await eventually("service", within: .seconds(10)) {
          try #require(service.isRunning, "\(service.output)")
          return service.output.contains("listens at http://127.0.0.1:8080") ? true : nil
        }
        let jobs = Jobs(scenario: scenario, program: program, folder: folder)

        let submitted = try JSON(parsing: try await jobs.run(["submit", "--room", "100", "--json"]))
        let id = try #require(submitted["id"].string)
        ProcessSupervisor.shared.watch(try await jobs.process(of: id))
        try await eventually("three users", within: .seconds(20), every: .milliseconds(300)) {
          let events = try await jobs.run(["events", id])
          return events.components(separatedBy: "participant.joined").count == 4 ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(3))
        let store = folder.appendingPathComponent("chatbot-data/store")
        let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/watch-names.py").path
        let names = try await scenario.program("names", ["python3", script, store.path])
        try await eventually("watch of the store", within: .seconds(10)) {
          names.output.contains("watching") ? true : nil
        }
        _ = try await jobs.run(["stop", id])
        let ended = try await eventually("end of the job", within: .seconds(30), every: .milliseconds(300)) {
          let job = try JSON(parsing: try await jobs.run(["show", id, "--json"]))
          // A plain nil would be JSON's null.
          return ["stopping", "storing"].contains(job["state"]) ? JSON?.none : job
        }
        #expect(ended["state"] == "finished" && ended["reason"] == "stopped")

        let listed = try ExternalTool.run("find", [store.path, "-type", "f", "-printf", "%P\\n"])
        let files = listed.output.split(separator: "\n").map(String.init)
        let manifest = try #require(files.first { $0.hasSuffix("/recording.json") })
        // The names in the order in which the kernel reported them; those before the stop may be missing.
        names.signal(SIGKILL)
        let seen = names.output.split(separator: "\n").dropFirst().map(String.init)
        #expect(seen.last == manifest, "the manifest is the last object")
        #expect(seen.count > 2 && Set(seen).isSubset(of: files), "no object has had another name")
        let recording = try JSON(
          parsing: String(contentsOf: store.appendingPathComponent(manifest), encoding: .utf8))
        #expect(recording["complete"] == true)
        #expect(recording["users"].list.count == 3)
        #expect(recording["users"].list.allSatisfy { $0["gaps"].list.isEmpty && $0["files"].list.count == 2 })
        #expect(recording["objects"].list.count == files.count - 1, "nothing else is in the store")
        let types = try await jobs.run(["events", id]).split(separator: "\n").map { $0.split(separator: " ")[2] }
        #expect(types.first == "job.started")
        #expect(types.suffix(2) == ["recording.finished", "job.finished"])

        service.signal(SIGTERM)
        #expect(try await service.ending(within: .seconds(20)) == .exit(0))
      }
    }

    /// The command `chatbot-service jobs` in the folder of the service.
    private actor Jobs {
      let scenario: Scenario
      let program: String
      let folder: URL
      private var count = 0

      init(scenario: Scenario, program: String, folder: URL) {
        self.scenario = scenario
        self.program = program
        self.folder = folder
      }

      func run(_ arguments: [String]) async throws -> String {
        count += 1
        let command = try await scenario.program(
          "jobs \(count)", [program, "jobs"] + arguments, folder: folder)
        let ending = try await command.ending(within: .seconds(10))
        try #require(ending == .exit(0), "\(arguments): \(command.output)")
        return command.output
      }

      /// The id of the process of a job, by its journal.
      func process(of job: String) async throws -> Int32 {
        let attempts = folder.appendingPathComponent("chatbot-data/jobs/\(job)")
        return try await eventually("process of the job", within: .seconds(10)) {
          let names = (try? FileManager.default.contentsOfDirectory(atPath: attempts.path)) ?? []
          let journals = names.map { attempts.appendingPathComponent("\($0)/journal.ndjson") }
          let lines = journals.compactMap { try? String(contentsOf: $0, encoding: .utf8).split(separator: "\n").first }
          return lines.compactMap { try? JSON(parsing: String($0))["process"].int }.first.map { Int32($0) }
        }
      }
    }
  }
}
