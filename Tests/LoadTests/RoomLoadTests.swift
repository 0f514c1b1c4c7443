import BotPeer
import Load
import Logging
import Media
import NIOPosix
import Signalling
import Synchronization
import TestSupport
import Testing

@Suite("the load of a room")
struct RoomLoadTests {
  @Test(
    "the participants are named by their roles and numbers",
    arguments: [
      (50, 1, "All 50 publishers and the viewer are"), (1, 0, "The publisher is"), (0, 2, "All 2 viewers are"),
      (1, 3, "The publisher and all 3 viewers are"),
    ])
  func participants(publishers: Int, viewers: Int, expected: String) {
    var settings = RoomLoad.Settings(server: "ws://a", room: "100") { index, _ in Client(.admits, index) }
    (settings.publishers, settings.viewers) = (publishers, viewers)
    #expect(settings.who == expected)
  }

  /// A source that sends nothing and does not end.
  private struct SilentSource: FrameSource {
    let kinds: Set<MediaKind> = [.video]
    let isLive = false
    let summary = "nothing"
    let notes: [String] = []
    var failure: String? { get async { nil } }

    func frames() async -> AsyncStream<EncodedFrame> { AsyncStream { _ in } }
    func requestKeyframe() {}
    func adapt(toBitrate bitrate: Int, fractionLost: Double) {}
  }

  /// A client of a server that does one thing with everybody.
  private final class Client: SignallingClient {
    enum Server {
      case refuses(String)
      /// Admits them to an empty room.
      case admits
      /// Admits them, and closes the room at once.
      case closes(String)
      /// Accepts the connection, and never answers.
      case ignores
      /// Admits them to a room with a stranger; the action is carried out when nothing refers to the client any more.
      case admitsToStranger(whenReleased: @Sendable () -> Void)
      /// Is reached only by a later attempt than the first.
      case starts(attempt: @Sendable () -> Int)
    }

    deinit {
      if case .admitsToStranger(let whenReleased) = server { whenReleased() }
    }

    let events: SignallingEvents
    private let continuation: AsyncStream<SignallingEvent>.Continuation
    private let server: Server
    private let id: ParticipantID

    init(_ server: Server, _ index: Int) {
      let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
      events = SignallingEvents(stream)
      self.continuation = continuation
      self.server = server
      id = ParticipantID("publisher \(index)")
    }

    func connect() async throws(SignallingConnectError) {
      switch server {
      case .refuses(let sentence): throw .rejected(sentence)
      case .admits: continuation.yield(.joined(id: id, others: []))
      case .ignores: break
      case .admitsToStranger:
        continuation.yield(.joined(id: id, others: [SignalledParticipant("stranger", offerer: .local)]))
      case .starts(let attempt):
        if attempt() == 1 { throw .unreachable("Nothing listens there.") }
        continuation.yield(.joined(id: id, others: []))
        continuation.yield(.closed(reason: "Over."))
        continuation.finish()
      case .closes(let reason):
        continuation.yield(.joined(id: id, others: []))
        continuation.yield(.closed(reason: reason))
        continuation.finish()
      }
    }

    func send(_ message: SignallingMessage, to participant: ParticipantID) {}
    func leave() async { continuation.finish() }
  }

  /// A source of one frame of audio each 20 ms.
  private struct AudioSource: FrameSource {
    let kinds: Set<MediaKind> = [.audio]
    let isLive = false
    let summary = "audio"
    let notes: [String] = []
    var failure: String? { get async { nil } }

    func frames() async -> AsyncStream<EncodedFrame> { RoomLoadTests.frames(each: .milliseconds(20)) { $0.audio() } }
    func requestKeyframe() {}
    func adapt(toBitrate bitrate: Int, fractionLost: Double) {}
  }

  /// A source of 30 frames of video a second, with one keyframe, as that of a file.
  private struct VideoSource: FrameSource {
    let kinds: Set<MediaKind> = [.video]
    let isLive = false
    let summary = "video"
    let notes: [String] = []
    var failure: String? { get async { nil } }

    func frames() async -> AsyncStream<EncodedFrame> {
      RoomLoadTests.frames(each: .nanoseconds(33_333_333)) { $0.videoFrame() }
    }
    func requestKeyframe() {}
    func adapt(toBitrate bitrate: Int, fractionLost: Double) {}
  }

  /// The frames of a source, one after each interval.
  private static func frames(
    each interval: Duration, _ next: @escaping @Sendable (inout SyntheticMedia) -> EncodedFrame
  ) -> AsyncStream<EncodedFrame> {
    AsyncStream { continuation in
      let task = Task {
        let start = ContinuousClock.now
        var media = SyntheticMedia(seed: 1, start: MonotonicInstant(start), shape: .slim)
        for index in 0... {
          guard (try? await Task.sleep(until: start + interval * index, clock: .continuous)) != nil else { break }
          continuation.yield(next(&media))
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// A room in memory: the newcomer offers to all others.
  private final class Hub: Sendable {
    private let members = Mutex<[(id: ParticipantID, continuation: AsyncStream<SignallingEvent>.Continuation)]>([])

    func join(_ id: ParticipantID, _ continuation: AsyncStream<SignallingEvent>.Continuation) {
      members.withLock { members in
        for member in members {
          member.continuation.yield(.participantJoined(SignalledParticipant(id, offerer: .remote)))
        }
        let others = members.map { SignalledParticipant($0.id, offerer: .local) }
        continuation.yield(.joined(id: id, others: others))
        members.append((id, continuation))
      }
    }

    func send(_ message: SignallingMessage, from sender: ParticipantID, to receiver: ParticipantID) {
      members.withLock { members in
        _ = members.first { $0.id == receiver }?.continuation.yield(.message(message, from: sender))
      }
    }
  }

  private final class HubClient: SignallingClient {
    let events: SignallingEvents
    private let continuation: AsyncStream<SignallingEvent>.Continuation
    private let hub: Hub
    private let id: ParticipantID

    init(_ hub: Hub, _ index: Int) {
      let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
      events = SignallingEvents(stream)
      self.continuation = continuation
      self.hub = hub
      id = ParticipantID("member-\(index)")
    }

    func connect() async throws(SignallingConnectError) { hub.join(id, continuation) }
    func send(_ message: SignallingMessage, to participant: ParticipantID) {
      hub.send(message, from: id, to: participant)
    }
    func leave() async { continuation.finish() }
  }

  @Test("viewers receive what publishers of the same load send, and nobody else calls anybody", .timeLimit(.minutes(1)))
  func viewers() async throws {
    let hub = Hub()
    var settings = settings(2) { index, _ in HubClient(hub, index) }
    settings.viewers = 3
    settings.peer.includesLoopback = true
    settings.peer.allowsLocalCandidates = true
    let load = try await load(settings, AudioSource())
    async let running = load.run()
    // The second publisher sends half a second later.
    while true {
      let report = await load.report
      let areSending = report.eachPublisher?.allSatisfy { $0.sent?.packets ?? 0 > 0 } == true
      if areSending, report.eachViewer?.allSatisfy({ $0.received?.frames ?? 0 > 20 }) == true { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    load.leave(because: "the test is over")
    let report = await running
    #expect(report.isComplete && report.failures.isEmpty, "\(report.failures)")
    let viewers = try #require(report.viewers)
    #expect((viewers.requested, viewers.joined, viewers.connected, viewers.receiving) == (3, 3, 3, 3))
    #expect(viewers.firstFrameTime?.count == 3 && viewers.received.freezes == 0)
    let rows = try #require(report.eachViewer)
    #expect(
      rows.map(\.id) == ["member-2", "member-3", "member-4"] && rows.allSatisfy { $0.peers == 2 && $0.sent == nil })
    let publishers = try #require(report.eachPublisher)
    #expect(publishers.allSatisfy { $0.peers == 3 && $0.sent?.packets ?? 0 > 0 && $0.received == nil }, "\(publishers)")
    #expect(report.connections == 6)
  }

  @Test("frames that are sent again to a late viewer count as sent", .timeLimit(.minutes(1)))
  func sentAgain() async throws {
    let hub = Hub()
    var settings = settings(1) { index, _ in HubClient(hub, index) }
    settings.viewers = 2
    // The last viewer joins after a second of video.
    settings.ramp = RampRate(perSecond: 1)
    settings.peer.includesLoopback = true
    settings.peer.allowsLocalCandidates = true
    let load = try await load(settings, VideoSource())
    async let running = load.run()
    while await load.report.eachViewer?.last?.received?.frames ?? 0 < 60 {
      try await Task.sleep(for: .milliseconds(50))
    }
    load.leave(because: "the test is over")
    let report = await running
    let received = try #require(report.viewers?.received)
    #expect(received.frames > 0 && report.sent.frames >= received.frames, "\(report.sent) \(received)")
  }

  @Test("what an ended connection carried is in the report, although it was not asked for", .timeLimit(.minutes(1)))
  func counted() async throws {
    let hub = Hub()
    var sending = settings(1) { _, _ in HubClient(hub, 0) }
    var receiving = settings(0) { _, _ in HubClient(hub, 1) }
    receiving.viewers = 1
    sending.peer.includesLoopback = true
    sending.peer.allowsLocalCandidates = true
    receiving.peer = sending.peer
    let publisher = try await load(sending, AudioSource())
    let viewer = try await load(receiving, nil)
    async let watched = viewer.run()
    async let sent = publisher.run()
    let publisherConnected = await publisher.allConnected()
    #expect(publisherConnected)
    try await Task.sleep(for: .seconds(4))
    publisher.leave(because: "the test is over")
    #expect(await sent.connected == 1)
    try await Task.sleep(for: .milliseconds(500))
    viewer.leave(because: "the test is over")
    let report = await watched
    #expect(report.eachViewer?.first?.connections == 0)
    #expect(report.viewers?.received.packets ?? 0 > 20)
  }

  @Test("who waits for a participant that is never admitted is released at the end", .timeLimit(.minutes(1)))
  func released() async throws {
    let isReleased = Mutex(false)
    let load = try await load(
      settings(2) { index, _ in
        Client(index == 0 ? .ignores : .admitsToStranger { isReleased.withLock { $0 = true } }, index)
      })
    async let running = load.run()
    try await Task.sleep(for: .milliseconds(300))
    load.leave(because: "the test is over")
    #expect(await running.connected == 0)
    while !isReleased.withLock(\.self) { try await Task.sleep(for: .milliseconds(20)) }
  }

  @Test("waits for a server that cannot be reached yet, as long as it may")
  func waits() async throws {
    let attempts = Mutex(0)
    let attempt: @Sendable () -> Int = {
      attempts.withLock { count in
        count += 1
        return count
      }
    }
    var settings = settings(1) { index, _ in Client(.starts(attempt: attempt), index) }
    settings.unreachableHint = "Start it."
    let report = await (try await load(settings)).run()
    #expect(report.joined == 0)
    #expect(report.failures.map(\.reason) == ["The server was not reached: Nothing listens there. Start it."])
    attempts.withLock { $0 = 0 }
    settings.waitForServer = .seconds(30)
    #expect(await (try await load(settings)).run().joined == 1)
    #expect(attempts.withLock(\.self) == 2)
  }

  @Test("viewers need no source")
  func viewersAlone() async throws {
    var settings = settings(0) { index, _ in Client(.closes("Over."), index) }
    settings.viewers = 2
    let report = await (try await load(settings, nil)).run()
    #expect((report.publishers, report.source, report.viewers?.joined) == (0, "nothing", 2))
    #expect(
      report.eachPublisher?.isEmpty == true
        && report.eachViewer?.map(\.failure) == ["The signalling ended: Over.", "The signalling ended: Over."])
  }

  private struct ClientError: Error, CustomStringConvertible {
    let description = "There is no such server."
  }

  /// Settings of publishers on the loopback interface that join quickly.
  private func settings(
    _ publishers: Int, makeClient: @escaping @Sendable (Int, Logger) throws -> any SignallingClient
  ) -> RoomLoad.Settings {
    var settings = RoomLoad.Settings(server: "ws://localhost", room: "100", makeClient: makeClient)
    settings.publishers = publishers
    settings.ramp = RampRate(perSecond: 1000)
    settings.peer.bindAddresses = ["127.0.0.1"]
    return settings
  }

  private func load(_ settings: RoomLoad.Settings, _ source: (any FrameSource)? = SilentSource()) async throws
    -> RoomLoad
  {
    let group = MultiThreadedEventLoopGroup.singleton
    var log = Logger(label: "load")
    log.logLevel = .critical
    return try await RoomLoad(settings, source: source, on: group.next(), and: [group.next()], log: log)
  }

  @Test("ends when no publisher is admitted, and the report says why")
  func refused() async throws {
    var settings = settings(3) { index, _ in Client(.refuses("The room is full."), index) }
    settings.unreachableHint = "Start it."
    let load = try await load(settings)
    let report = await load.run()
    #expect((report.publishers, report.started, report.joined, report.connected) == (3, 3, 0, 0))
    #expect(!report.isComplete)
    #expect(report.failures.map(\.reason) == ["The server was not reached: The room is full."])
    #expect(report.failures.map(\.count) == [3])
    #expect((report.server, report.room, report.source) == ("ws://localhost", "100", "nothing"))
  }

  @Test("ends when the server has closed the room, and those who joined are counted")
  func closed() async throws {
    let load = try await load(settings(2) { index, _ in Client(.closes("Over."), index) })
    let report = await load.run()
    #expect((report.started, report.joined, report.connected) == (2, 2, 0))
    #expect(report.joinTime?.count == 2)
    #expect(report.failures.map(\.reason) == ["The signalling ended: Over."])
    #expect(await load.report.failures == report.failures)
  }

  @Test("ends when it is asked to, and then nobody waits for connections any more")
  func leaves() async throws {
    let load = try await load(settings(2) { index, _ in Client(.admits, index) })
    async let areConnected = load.allConnected()
    load.leave(because: "the test is over")
    let report = await load.run()
    #expect(report.publishers == 2 && report.connected == 0)
    #expect(await !areConnected)
    #expect(await !load.allConnected())
  }

  @Test("a cancelled load leaves as one that is asked to, and one that is not run can be closed")
  func cancelled() async throws {
    let load = try await load(settings(2) { index, _ in Client(.admits, index) })
    let running = Task { await load.run() }
    running.cancel()
    let report = await running.value
    #expect(report.publishers == 2 && report.failures.isEmpty)
    let unused = try await self.load(settings(1) { index, _ in Client(.admits, index) })
    await unused.close()
    #expect(await !unused.allConnected())
  }

  @Test("nobody joins if the first publisher cannot be prepared; the error of a later one is in the report")
  func unprepared() async throws {
    await #expect(throws: ClientError.self) { _ = try await self.load(settings(2) { _, _ in throw ClientError() }) }
    let load = try await load(
      settings(2) { index, _ in
        if index == 1 { throw ClientError() }
        return Client(.closes("Over."), index)
      })
    let report = await load.run()
    #expect((report.started, report.joined) == (2, 1))
    #expect(Set(report.failures.map(\.reason)) == ["There is no such server.", "The signalling ended: Over."])
  }

  @Test("each publisher has the port after that of the one before, or any free one")
  func ports() {
    var settings = settings(1) { index, _ in Client(.admits, index) }
    settings.peer.udpPort = 40_000
    #expect(settings.peerConfiguration(of: 0).udpPort == 40_000)
    #expect(settings.peerConfiguration(of: 7).udpPort == 40_007)
    #expect(settings.peerConfiguration(of: 7).tcpPort == 0)
    settings.peer.tcpPort = .max
    #expect(settings.peerConfiguration(of: 7).tcpPort == .max)
  }

  @Test("publishers and viewers are numbered apart, from 1")
  func numbers() {
    var settings = settings(2) { index, _ in Client(.admits, index) }
    settings.viewers = 2
    #expect((0..<4).map { settings.number(of: $0) } == [1, 2, 1, 2])
  }

  @Test("credentials of TURN servers are made when a publisher starts")
  func credentials() {
    let count = Mutex(0)
    var settings = settings(1) { index, _ in Client(.admits, index) }
    settings.peer.iceServerRenewal = .init(interval: .seconds(60)) {
      [
        ICEServer(
          url: "turn:localhost", username: "user \(count.withLock { $0 += 1; return $0 })", credential: "secret")
      ]
    }
    #expect(settings.peerConfiguration(of: 0).iceServers.map(\.username) == ["user 1"])
    #expect(settings.peerConfiguration(of: 1).iceServers.map(\.username) == ["user 2"])
  }
}
