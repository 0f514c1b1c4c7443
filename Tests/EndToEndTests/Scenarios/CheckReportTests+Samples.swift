import Foundation
import Testing

extension EndToEnd.CheckReportTests {
  /// Where the samples for a CI job lie.
  private static let samples = BuiltProgram.repository.appendingPathComponent("samples/ci")

  @Test(
    "the sample for a CI job ends with 0 for a call that works and with 1 for another, and leaves its files",
    .enabled(if: Machine.hasChromium))
  func samples() async throws {
    try await Scenario.run("24b samples of a CI job") { scenario in
      let server = try await scenario.server()
      let browser = try await scenario.chromium()
      var jobs: [(fault: CameraFault, job: ChildProcess, out: URL)] = []
      for fault in [CameraFault.none, .slow] {
        let call = try await scenario.call(
          in: browser, room: fault.rawValue, server: server, camera: .faulty(fault))
        try await call.joined()
        let out = scenario.folder.appendingPathComponent("call-check \(fault)")
        let job = try ChildProcess(
          "job", ["sh", "samples/ci/check.sh", "--expect-file", "samples/ci/rules.yml", "--for", "4s"],
          log: scenario.folder.appendingPathComponent("job \(fault).log"),
          environment: [
            "SERVER": server.address, "ROOM": fault.rawValue, "OUT": out.path, "CHATBOT": try BuiltProgram.path(),
          ], folder: BuiltProgram.repository)
        jobs.append((fault, job, out))
      }
      for (fault, job, out) in jobs {
        let ending = try await job.ending(within: .seconds(30))
        let text = try String(contentsOf: out.appendingPathComponent("report.json"), encoding: .utf8)
        let verdict = CheckVerdict(ending: ending, output: job.output, json: try JSON(parsing: text))
        await scenario.note("measured: \(fault): \(verdict.summary), \(ending)")
        #expect(ending == .exit(fault == .none ? 0 : 1))
        #expect(verdict.failed == (fault == .none ? [] : ["video.fps"]))
        for file in ["report.html", "junit.xml"] {
          #expect(FileManager.default.fileExists(atPath: out.appendingPathComponent(file).path), "\(file)")
        }
      }
    }
  }

  @Test("the sample has less than ten lines, and the workflow calls it as its description does")
  func workflow() throws {
    func text(_ name: String) throws -> String {
      try String(contentsOf: Self.samples.appendingPathComponent(name), encoding: .utf8)
    }
    #expect(try text("check.sh").split(separator: "\n").count < 10)
    let command = "samples/ci/check.sh --expect-file samples/ci/rules.yml"
    #expect(try text("call-check.yml").contains(command))
    #expect(try text("README.md").contains(command))
  }
}
