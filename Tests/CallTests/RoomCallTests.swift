import BotPeer
import Call
import Foundation
import Logging
import Media
import NIOPosix
import Recorder
import Signalling
import Synchronization
import Testing

@Suite("a call")
struct RoomCallTests {
  /// A source that ends at once, or never.
  private struct EmptySource: FrameSource {
    var ends = true
    var failure: String?
    let kinds: Set<MediaKind> = [.video]
    let isLive = false
    let summary = "nothing"
    let notes: [String] = []

    func frames() async -> AsyncStream<EncodedFrame> { ends ? AsyncStream { $0.finish() } : AsyncStream { _ in } }
    func requestKeyframe() {}
    func adapt(toBitrate bitrate: Int, fractionLost: Double) {}
  }

  /// A client of a server that does one thing with everybody.
  private final class Client: SignallingClient {
    enum Server {
      case unreachable
      /// Admits us to an empty room.
      case admits
      /// Admits us, and closes the room at once.
      case closes(String)
      case rejects(String)
      /// Refuses the join.
      case refuses(String)
    }

    let events: SignallingEvents
    private let continuation: AsyncStream<SignallingEvent>.Continuation
    private let server: Server
    let hasLeft = Mutex(false)

    init(_ server: Server) {
      let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
      events = SignallingEvents(stream)
      self.continuation = continuation
      self.server = server
    }

    func connect() async throws(SignallingConnectError) {
      switch server {
      case .unreachable: throw .unreachable("Nobody listens.")
      case .admits: continuation.yield(.joined(id: "me", others: []))
      case .closes(let reason):
        continuation.yield(.joined(id: "me", others: []))
        continuation.yield(.closed(reason: reason))
        continuation.finish()
      case .refuses(let reason): continuation.yield(.rejected(reason: reason))
      case .rejects(let reason):
        continuation.yield(.joined(id: "me", others: []))
        continuation.yield(.rejected(reason: reason))
      }
    }

    func send(_ message: SignallingMessage, to participant: ParticipantID) {}
    func leave() async {
      hasLeft.withLock { $0 = true }
      continuation.finish()
    }
  }

  private func call(
    _ client: Client, _ source: EmptySource? = nil, observer: (any RoomCallObserver)? = nil,
    log: Logger = LogRecorder().logger, _ change: (inout RoomCall.Settings) -> Void = { _ in }
  ) async throws -> RoomCall {
    var settings = RoomCall.Settings()
    settings.peer.bindAddresses = ["127.0.0.1"]
    change(&settings)
    return try await RoomCall(
      settings, client: client, source: source, observer: observer,
      on: MultiThreadedEventLoopGroup.singleton.next(), log: log)
  }

  @Test("lasts until it is asked to leave, and then the room is left")
  func leaves() async throws {
    let client = Client(.admits)
    let call = try await call(client)
    try await call.join()
    #expect(call.endReason == nil)
    call.leave(because: "the test is over")
    call.leave(because: "the second reason does not count")
    let outcome = await call.run()
    #expect(outcome.endReason == .left("the test is over") && call.endReason == outcome.endReason)
    #expect(!outcome.hasConnected && outcome.recordings.isEmpty && outcome.recordingProblem == nil)
    #expect(client.hasLeft.withLock { $0 })
  }

  @Test("the summary has the room of the recordings, unless the settings name another one")
  func room() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("room-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, expected) in [("", "100"), ("standup", "standup")] {
      let call = try await call(Client(.admits)) {
        $0.recording = .init(folder: folder, room: "100")
        $0.room = name
        $0.duration = .milliseconds(10)
      }
      try await call.join()
      let outcome = await call.run()
      #expect(outcome.summary.room == expected)
      #expect(outcome.summaryFile?.contains("/\(expected)-") == true)
    }
  }

  @Test("ends when its duration has passed, and a cancelled one leaves in order")
  func duration() async throws {
    let call = try await call(Client(.admits)) { $0.duration = .milliseconds(10) }
    try await call.join()
    #expect(await call.run().endReason == .timeIsUp)
    let client = Client(.admits)
    let other = try await self.call(client)
    try await other.join()
    let running = Task { await other.run() }
    running.cancel()
    #expect(await running.value.endReason == .left("the task was cancelled"))
    #expect(client.hasLeft.withLock { $0 })
  }

  @Test("ends when the server closes the room or rejects what it is asked for")
  func server() async throws {
    let closed = try await call(Client(.closes("The room is closed.")))
    try await closed.join()
    #expect(await closed.run().endReason == .signallingClosed("The room is closed."))
    let rejected = try await call(Client(.rejects("Nobody may publish.")))
    try await rejected.join()
    #expect(await rejected.run().endReason == .rejected("Nobody may publish."))
  }

  @Test("a program can wait until the server has admitted us, and learns why it did not")
  func admission() async throws {
    let admitted = try await call(Client(.admits))
    try await admitted.join()
    let stay = Task { await admitted.run() }
    try await admitted.admitted()
    // A second stay is the same one.
    let same = Task { await admitted.run() }
    await admitted.close(reason: "The test is over.")
    #expect(await stay.value.endReason == .left("The test is over."))
    #expect(await same.value.endReason == .left("The test is over."))

    let refused = try await call(Client(.refuses("The room is full.")))
    try await refused.join()
    let end = Task { await refused.run() }
    await #expect(throws: SignallingConnectError.rejected("the server refused the join: The room is full.")) {
      try await refused.admitted()
    }
    let reason = await end.value.endReason
    #expect(reason == .notAdmitted("The room is full.") && reason.isFailure)
    #expect(!RoomCall.EndReason.timeIsUp.isFailure)
  }

  @Test("a call that was joined and not run leaves the room, closed or forgotten")
  func unused() async throws {
    let client = Client(.admits)
    let closed = try await call(client)
    try await closed.join()
    await closed.close()
    #expect(client.hasLeft.withLock { $0 })
    let other = Client(.admits)
    try await call(other).join()
    // Nothing else holds the call.
    for _ in 0..<1_000 where !other.hasLeft.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(other.hasLeft.withLock { $0 })
  }

  @Test("a server that is not reached may be replaced by another one")
  func replacement() async throws {
    let call = try await call(Client(.unreachable)) { $0.duration = .milliseconds(10) }
    await #expect(throws: SignallingConnectError.unreachable("Nobody listens.")) { try await call.join() }
    let client = Client(.admits)
    try await call.join(with: client)
    #expect(await call.run().endReason == .timeIsUp)
    #expect(client.hasLeft.withLock { $0 })
    let unused = try await self.call(Client(.unreachable))
    await unused.close()
  }

  @Test("ends when nobody came, and leaves its summary beside the recordings")
  func nobody() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("call-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let call = try await call(Client(.admits)) {
      $0.leaveIfNobody = .milliseconds(50)
      $0.room = "a/b"
      $0.recording = RoomRecorder.Configuration(folder: folder, room: "a/b")
    }
    try await call.join()
    let outcome = await call.run()
    await call.finishPrograms()
    #expect(outcome.endReason == .nobodyCame(.milliseconds(50)) && outcome.summary.endReason.cause == "nobodyCame")
    let file = try #require(outcome.summaryFile)
    #expect(file.hasPrefix("\(folder)/a_b-20") && file.hasSuffix("Z.session.json") && outcome.summaryProblem == nil)
    let read = try JSONDecoder().decode(SessionSummary.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    #expect(read == outcome.summary && read.users.isEmpty && read.recording && read.room == "a/b")
  }

  @Test("ends with its source, unless the settings say otherwise; a source that fails always ends it")
  func source() async throws {
    for (failure, ends) in [(nil, true), ("The file is damaged.", false)] as [(String?, Bool)] {
      let call = try await call(Client(.admits), EmptySource(failure: failure)) { $0.media.endsWithSource = ends }
      try await call.join()
      let outcome = await call.run()
      #expect(outcome.endReason == .sourceEnded && outcome.sourceFailure == failure)
    }
    let going = try await call(Client(.admits), EmptySource()) {
      $0.media.endsWithSource = false
      $0.duration = .milliseconds(600)
    }
    try await going.join()
    #expect(await going.run().endReason == .timeIsUp)
  }

  @Test("an observer without a reason to end does not end it")
  func observer() async throws {
    final class Onlooker: RoomCallObserver {
      let reasons = Mutex<[RoomCall.EndReason]>([])
      let ids = Mutex<[ParticipantID]>([])

      func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
        if case .joined(let id, _) = event { ids.withLock { $0.append(id) } }
      }
      func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason) {
        reasons.withLock { $0.append(reason) }
      }
    }
    let onlooker = Onlooker()
    let call = try await call(Client(.admits), observer: onlooker) { $0.duration = .milliseconds(300) }
    try await call.join()
    #expect(await call.run().endReason == .timeIsUp)
    #expect(onlooker.reasons.withLock(\.self) == [.timeIsUp])
    #expect(onlooker.ids.withLock(\.self) == ["me"])
  }

  @Test("files and folders that cannot be used are found before the room is joined")
  func files() async throws {
    func cause(_ change: (inout RoomCall.Settings) -> Void) async -> RoomCall.FileError.Cause? {
      do {
        await (try call(Client(.admits), nil, change)).close()
        return nil
      } catch {
        return (error as? RoomCall.FileError)?.cause
      }
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("call-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(await cause { $0.messages.sentFiles = ["/nowhere/file"] } == .unreadable)
    #expect(await cause { $0.recording = .init(folder: "/dev/null/out", room: "1") } == .unwritable)
    let shared = await cause {
      $0.recording = .init(folder: folder, room: "1")
      $0.messages.receivedFiles = folder
    }
    #expect(shared == .sharedFolder)
    #expect(await cause { $0.recording = .init(folder: folder, room: "1") } == nil)
    await #expect(throws: Peer.StartError.self) {
      _ = try await self.call(Client(.admits)) { $0.peer.bindAddresses = ["nowhere"] }
    }
  }
}
