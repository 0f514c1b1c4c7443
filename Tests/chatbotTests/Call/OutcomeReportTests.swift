import ArgumentParser
import BotPeer
import Call
import Console
import Foundation
import Logging
import Media
import NIOPosix
import Recorder
import Signalling
import Testing

@testable import chatbot

@Suite("what a call says when it is over")
struct OutcomeReportTests {
  /// A client of a server that admits us, and then rejects what we are to do.
  private final class RejectingClient: SignallingClient {
    let events: SignallingEvents
    private let continuation: AsyncStream<SignallingEvent>.Continuation

    init() {
      let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
      events = SignallingEvents(stream)
      self.continuation = continuation
    }

    func connect() async throws(SignallingConnectError) {
      continuation.yield(.joined(id: "me", others: []))
      continuation.yield(.rejected(reason: "Nobody may publish."))
    }

    func send(_ message: SignallingMessage, to participant: ParticipantID) {}
    func leave() async { continuation.finish() }
  }

  @Test("the rejection of what we publish is the failure, also where a recording is required")
  func rejected() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outcome-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var settings = RoomCall.Settings()
    settings.peer.bindAddresses = ["127.0.0.1"]
    settings.recording = .init(folder: folder, room: "100")
    let call = try await RoomCall(
      settings, client: RejectingClient(), on: MultiThreadedEventLoopGroup.singleton.next(),
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await call.join()
    let outcome = await call.run()
    let console = try Screen().console()
    for arguments in [[], ["--require", "2"], ["--require", "anna"]] {
      let report = OutcomeReport(outcome: outcome, options: try EndingOptions.parse(arguments), console: console)
      let failure = #expect(throws: CallFailure.self) { try report.check() }
      #expect(failure?.code == .serverNotReached && failure?.sentence == "Nobody may publish.")
    }
  }

  @Test("a summary that cannot be written is an error before the call is joined")
  func unwritableSummary() throws {
    for path in ["/no/such/folder/summary.json", "/"] {
      let options = try EndingOptions.parse(["--summary", path])
      let failure = #expect(throws: CallFailure.self) { try options.checkFiles() }
      #expect(failure?.code == .disk && failure?.sentence.hasPrefix("\(path) cannot be written: ") == true)
    }
    for path in ["-", "/dev/null"] {
      #expect(throws: Never.self) { try EndingOptions.parse(["--summary", path]).checkFiles() }
    }
  }
}
