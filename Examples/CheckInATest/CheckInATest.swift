import CallCheck
import Foundation
import Testing

/// A test that makes a call and judges it. In a project of your own, the app under test joins the room, and `--self` is replaced by
/// `--server` and `--room`.
@Suite("A check in a test, in real time")
struct CheckInATestRealTime {
  @Test("video and audio arrive at a peer, as rules state")
  func call() throws {
    let report = try check(
      "--self", "--wait", "30s", "--for", "3s", "--expect", "video.frames >= 1", "--expect", "audio.packets >= 1")
    // `inconclusive`: this machine could not keep up, and no rule failed.
    #expect(report.verdict != .failed, "\(report.summary)")
    for peer in report.peers {
      #expect(peer.video != nil, "\(peer.id) sent no video.")
    }
  }

  /// Runs `chatbot check` and reads its report.
  private func check(_ arguments: String...) throws -> CheckReport {
    let beside = try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent("chatbot")
    let program = ProcessInfo.processInfo.environment["CHATBOT"].map { URL(fileURLWithPath: $0) } ?? beside
    let output = Pipe()
    let process = Process()
    process.executableURL = program
    process.arguments = ["check", "--quiet", "--json", "-"] + arguments
    process.standardOutput = output
    try process.run()
    let json = try #require(try output.fileHandleForReading.readToEnd())
    process.waitUntilExit()
    return try CheckReport(parsing: [UInt8](json))
  }
}
