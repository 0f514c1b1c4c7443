import ExecSignalling
import Foundation
import Logging
import Media
import NIOCore
import NIOPosix
import Processes
import Signalling
import TestSupport
import Testing

enum Python {
  /// Whether there is a version that the examples need.
  static let isInstalled: Bool = {
    let script = "import sys; sys.exit(sys.version_info < (3, 10))"
    return (try? ExternalTool.run("python3", ["-c", script]))?.status == 0
  }()
}

@Suite(
  "The adapter in Python of the documents", .enabled(if: Python.isInstalled), .timeLimit(.minutes(1)))
struct ExampleAdapterTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/ExecSignalling").path

  private static func client(_ user: String, port: Int) throws -> ExecClient {
    var options = ExecClient.Options()
    options.room = "100"
    options.user = user
    return ExecClient(
      command: try ExecCommand("python3 '\(folder)/adapter.py' tcp://127.0.0.1:\(port)"), options: options,
      logger: Logger(label: "quiet", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  @Test("two clients meet in a room of the hub, and one learns why it has lost the hub")
  func meeting() async throws {
    let port = try ServerPort.unused()
    let hub = try await ChildProcess.start(
      ["python3", "-u", "\(Self.folder)/hub.py", "\(port)"],
      on: MultiThreadedEventLoopGroup.singleton.any()
    ) { _ in }
    do {
      try await meet(at: port, hub)
      await hub.end(within: .zero)
    } catch {
      await hub.end(within: .zero)
      throw error
    }
  }

  private func meet(at port: Int, _ hub: ChildProcess) async throws {
    let (anna, bob) = (try Self.client("anna", port: port), try Self.client("bob", port: port))
    var annasEvents = anna.events.makeAsyncIterator()
    var bobsEvents = bob.events.makeAsyncIterator()
    // The hub does not listen yet.
    try await anna.connect(waiting: .seconds(30))
    try await bob.connect()
    let joined = (await annasEvents.next(), await bobsEvents.next())
    guard case (.joined(let annasID, [])?, .joined(let bobsID, let others)?) = joined else {
      Issue.record("They have joined as \(joined).")
      return
    }
    #expect(others == [SignalledParticipant(annasID, name: "anna", offerer: .local)])
    #expect(bob.capabilities.announcesLostParticipants)
    let arrived = await annasEvents.next()
    #expect(arrived == .participantJoined(SignalledParticipant(bobsID, name: "bob", offerer: .remote)))
    let candidate = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 0)
    for message in [SignallingMessage.offer("v=0\r\n"), .answer("é\u{2028}\\"), .candidate(candidate)] {
      bob.send(message, to: annasID)
      let received = await annasEvents.next()
      #expect(received == .message(message, from: bobsID))
    }
    await bob.leave()
    let left = await annasEvents.next()
    #expect(left == .participantLeft(bobsID, isRejoinVerified: false))
    await hub.end(within: .zero)
    let lost = await annasEvents.next()
    guard case .connectionLost(let reason, _)? = lost else { return #expect(Bool(false)) }
    #expect(reason.contains("The server has closed the connection."))
    await anna.leave()
  }
}
