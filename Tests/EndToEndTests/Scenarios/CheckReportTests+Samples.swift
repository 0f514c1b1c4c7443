import Foundation
import TestSupport
import Testing

extension EndToEnd.CheckReportTests {
  /// The folder of the samples for a CI job.
  private static let samples = BuiltProgram.repository.appendingPathComponent("samples/ci")

  @Test(
    "the sample CI job ends with 0 for a working call and with 1 for a faulty one, and writes its files",
    .enabled(if: Machine.hasChromium))
  func samples() async throws {
    try await Scenario.run("24b samples of a CI job") { scenario in
      let server = try await scenario.server()
      let browser = try await scenario.chromium()
      // One after the other: the rules require 24 frames a second, which a small machine may not reach for two cameras.
      for fault in [CameraFault.none, .slow] {
        let call = try await scenario.call(
          in: browser, room: fault.rawValue, server: server, camera: .faulty(fault, framesPerSecond: 30))
        try await call.joined()
        let out = scenario.folder.appendingPathComponent("call-check \(fault)")
        let job = try await scenario.program(
          "job", ["sh", "samples/ci/check.sh", "--expect-file", "samples/ci/rules.yml", "--for", "4s"],
          environment: [
            "SERVER": server.address, "ROOM": fault.rawValue, "OUT": out.path, "CHATBOT": try BuiltProgram.path(),
          ], folder: BuiltProgram.repository)
        let ending = try await job.ending(within: .seconds(30))
        let report = try #require(try await call.reports().first)
        await call.page.close()
        let text = try String(contentsOf: out.appendingPathComponent("report.json"), encoding: .utf8)
        let verdict = CheckVerdict(ending: ending, output: job.output, json: try JSON(parsing: text))
        let sent = report.framesSentPerSecond
        await scenario.note(
          "measured: \(fault): \(verdict.summary), \(ending); the page sent \(String(format: "%.1f", sent)) frames a second"
        )
        // A page that cannot paint in time has the fault that the rule must find.
        let isSlow = fault == .slow
        #expect(isSlow || sent > 25, .onQuietMachine("the page sends the frame rate that the rules require"))
        guard isSlow || sent > 25 else { return }
        #expect(ending == .exit(isSlow ? 1 : 0), .verdict)
        #expect(verdict.failed == (isSlow ? ["video.fps"] : []), .verdict)
        for file in ["report.html", "junit.xml"] {
          #expect(FileManager.default.fileExists(atPath: out.appendingPathComponent(file).path), "\(file)")
        }
      }
    }
  }

  @Test("the sample has less than ten lines, and the workflow calls it as documented")
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
