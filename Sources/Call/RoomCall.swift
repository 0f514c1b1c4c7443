public import BotPeer
public import Logging
public import Media
public import NIOCore
internal import NIOPosix
internal import Recorder
internal import Room
@_exported public import RoomMessages
public import Signalling
internal import Synchronization

/// One stay in one room as a program wants it: sends a source, records everyone, sends media back, carries chat and files, and ends
/// for a reason.
///
/// ```swift
/// var settings = RoomCall.Settings()
/// settings.recording = RoomRecorder.Configuration(folder: "out", room: "100")
/// settings.duration = .seconds(60)
/// let client = try SkyRTCClient(url: "ws://localhost:3000", room: "100")
/// let call = try await RoomCall(settings, client: client)
/// try await call.join()
/// for recording in await call.run().recordings { print(recording.paths) }
/// ```
///
/// A program may have several calls at once, also on the same event loop and with recordings in one folder.
///
/// Each part does its own work: a `RoomSession` joins signalling and peer, a `RecorderGroup` records.
public final class RoomCall: Sendable {
  let settings: Settings
  let source: (any FrameSource)?
  let recorder: RecorderGroup?
  let loopback: Loopback?
  let participants: ParticipantRegistry
  let messages: RoomMessages
  let chat: ChatRecorder?
  let observer: (any RoomCallObserver)?
  let sessionLog: Mutex<SessionLog>
  let occupancy: OccupancyTimer
  let programs: RecordingPrograms
  private let diskSpace: DiskSpace?
  /// When the call was left.
  private let leftAt = Mutex<MonotonicInstant?>(nil)
  let loop: any EventLoop
  let log: Logger
  /// Our side of all connections.
  public let peer: Peer
  private let client: Mutex<any SignallingClient>
  private let state = Mutex(State())

  /// What became of the call.
  private struct State {
    /// Whether the server was reached.
    var isConnected = false
    /// Whether the sockets and files were closed without a stay.
    var isClosed = false
    /// The stay that ``run()`` began.
    var stay: Task<Outcome, Never>?
  }

  /// Prepares a call: opens the folders and the files to offer, and binds the sockets, so that errors are found before anyone sees us.
  /// ``run()`` closes them, or ``close()`` if it is not called.
  ///
  /// - Parameters:
  ///   - settings: what to do.
  ///   - client: a client of the room that is not connected yet.
  ///   - source: what is sent to everyone; nil for nothing.
  ///   - observer: learns what happens, and may end the call.
  ///   - loop: the event loop of timers and media; without it one of the process's own. It must not be blocked for more than some
  ///     milliseconds, so a program that blocks its loops gives another group's.
  ///   - others: further event loops for media, each with a recorder thread; users are distributed over all.
  ///   - log: logs who joins, connects and leaves at `info`, and what goes wrong at `warning` and `error`.
  /// - Throws: a ``FileError``, or the `Peer.StartError` of `Peer.start`.
  public init(
    _ settings: Settings, client: any SignallingClient, source: (any FrameSource)? = nil,
    observer: (any RoomCallObserver)? = nil, on loop: (any EventLoop)? = nil, and others: [any EventLoop] = [],
    log: Logger = Logger(label: "call")
  ) async throws {
    let loop = loop ?? MultiThreadedEventLoopGroup.singleton.next()
    let participants = ParticipantRegistry()
    let recorder = try Self.openRecorder(settings, threads: 1 + others.count, observer: observer)
    let loopback = settings.media.loopbackDelay.map { Loopback(delay: $0, on: loop) }
    do {
      chat = try Self.openChat(settings, recorder, participants, on: loop, log: log)
      messages = try Self.openMessages(settings, chat, participants, observer, on: loop, log: log)
      let configuration = Self.peerConfiguration(
        settings, capabilities: client.capabilities, source: source, recorder: recorder, loopback: loopback,
        observer: observer, participants: participants)
      peer = try await Peer.start(configuration, on: loop, and: others, log: log)
    } catch {
      await recorder?.finish(now: .now)
      throw error
    }
    self.settings = settings
    self.client = Mutex(client)
    self.source = source
    self.observer = observer
    self.recorder = recorder
    self.loopback = loopback
    self.participants = participants
    self.loop = loop
    self.log = log
    sessionLog = Mutex(
      SessionLog(
        room: settings.roomName, session: recorder?.session, clock: recorder?.session.clock ?? .read(), now: .now))
    occupancy = OccupancyTimer(
      RoomOccupancy(emptyLimit: settings.leaveWhenEmpty, nobodyLimit: settings.leaveIfNobody), on: loop
    ) { participants.end($0) }
    diskSpace = settings.recording.map { DiskSpace(folder: $0.folder) }
    programs = RecordingPrograms(settings.programs, room: settings.roomName, log: log)
    loopback?.start(peer)
  }

  /// Connects to the server and asks it to admit us to the room. If that fails, it may be called again, or ``close(reason:)``.
  ///
  /// Most servers answer later, and ``run()`` then returns an ``EndReason`` such as ``EndReason/notAdmitted(_:)``: see ``admitted()``. A
  /// server that does not respond costs 10 s, also if the task is cancelled.
  ///
  /// - Parameters:
  ///   - other: another client with the same capabilities that replaces the former one, for example of a server that the program has
  ///     started itself.
  ///   - limit: how long to try again while the server cannot be reached; without it there is one attempt.
  public func join(
    with other: (any SignallingClient)? = nil, waiting limit: Duration = .zero
  ) async throws(SignallingConnectError) {
    let client = client.withLock { client in
      if let other { client = other }
      return client
    }
    try await client.connect(waiting: limit) { [log] reason in
      log.notice("waiting for the server", metadata: ["reason": "\(reason)"])
    }
    state.withLock { $0.isConnected = true }
  }

  /// Waits until the server has admitted us to the room, while ``run()`` runs.
  ///
  /// - Throws: `SignallingConnectError.rejected` with why the call ended before.
  public func admitted() async throws(SignallingConnectError) {
    if let reason = await participants.admission() { throw .rejected(reason.description) }
  }

  /// Ends a call. One that was not run, for example because the server was not reached, has sockets and files that are closed, and leaves
  /// the room if it has joined.
  ///
  /// - Parameter reason: why, as a sentence for the log.
  public func close(reason: String = "The call was not begun.") async {
    let (stay, isConnected) = state.withLock { state in
      if state.stay == nil { state.isClosed = true }
      return (state.stay, state.isConnected)
    }
    if let stay {
      leave(because: reason)
      _ = await stay.value
      return
    }
    loopback?.stop()
    if isConnected { await client.withLock { $0 }.leave() }
    await peer.close(reason: reason)
    await recorder?.finish(now: .now)
  }

  deinit {
    let isOver = state.withLock { $0.isClosed || $0.stay != nil }
    if isOver { return }
    // Nobody closes them any more.
    Task { [peer, recorder, loopback, client = client.withLock(\.self), isConnected = state.withLock(\.isConnected)] in
      loopback?.stop()
      if isConnected { await client.leave() }
      await peer.close(reason: "The call was not begun.")
      await recorder?.finish(now: .now)
    }
  }

  /// Makes ``run()`` leave the room in order and return.
  ///
  /// Afterwards it makes ``finishPrograms(within:)`` return.
  ///
  /// - Parameter reason: a clause for the log.
  public func leave(because reason: String) {
    participants.end(.left(reason))
    if leftAt.withLock({ $0 != nil }) { programs.stopWaiting() }
  }

  /// Why the call ends; nil while it lasts.
  public var endReason: EndReason? { participants.endReason }

  /// What is recorded so far; nil if nothing is to be. Returns at once.
  package func recordingProgress() -> RecordingProgress? {
    guard let recorder, let diskSpace else { return nil }
    // A recording that has just ended may count twice for a moment, or not at all.
    let growing = recorder.status()
    return RecordingProgress(
      bytes: growing.reduce(participants.recordedBytes) { $0 &+ $1.bytes }, freeBytes: diskSpace.free(now: .now),
      isStalled: growing.contains(where: \.isStalled),
      isPaused: growing.isEmpty ? recorder.paused.all : growing.allSatisfy(\.isPaused))
  }

  /// The progress of file transfers in a few words; nil if there are none.
  package func transferProgress() async -> String? { await messages.progress() }

  /// Stays in the room until something ends the call or the task is cancelled, then leaves in order, after ``join(with:waiting:)``. A
  /// second call waits for the same end.
  ///
  /// Leaving takes some milliseconds; up to 2 s more while messages are sent, and up to 10 s while a disk is slow or full.
  public func run() async -> Outcome {
    // The files must be finished also after a cancellation.
    let stay = state.withLock { state in
      let stay = state.stay ?? Task { await carryOut() }
      state.stay = stay
      return stay
    }
    return await withTaskCancellationHandler {
      await stay.value
    } onCancel: {
      leave(because: "the task was cancelled")
    }
  }

  /// Waits for the programs of the settings that still run after ``run()``, and logs which ones run on.
  ///
  /// - Parameter limit: counted from when the room was left.
  public func finishPrograms(within limit: Duration = .seconds(60)) async {
    await programs.finish(until: (leftAt.withLock(\.self) ?? .now) + limit)
  }

  private func carryOut() async -> Outcome {
    // The last messages and frames are still sent when the signalling has ended.
    var policy = RoomPolicy()
    policy.closesPeer = false
    let session = RoomSession(client: client.withLock { $0 }, peer: peer, policy: policy)
    sessionLog.withLock { $0.begin(now: .now) }
    log.info("media", metadata: ["addresses": "\(peer.localAddresses.joined(separator: " "))"])

    async let events: Void = handleEvents(of: session)
    async let summaries: Void = registerRecordings()
    async let problems: Void = logProblems()
    async let channels: Void = serveDataChannels()
    async let segments: Void = registerSegments()
    let chatWriting = Task { await chat?.run() }
    let reason = await untilEnd()
    let end = MonotonicInstant.now
    participants.ends(because: reason)
    occupancy.stop()
    observer?.leaving(at: .now, because: reason)
    log.info("leaving", metadata: ["reason": "\(reason)"])
    await messages.finish(within: settings.messages == MessagePlan() ? .zero : .seconds(2))
    await peer.close(reason: "The bot left the room.")
    await events
    await recorder?.finish(now: .now)
    await summaries
    await problems
    await segments
    await channels
    chatWriting.cancel()
    await chatWriting.value
    loopback?.stop()
    var outcome = Outcome(
      endReason: reason, hasConnected: participants.hasConnected, recordings: participants.recordings,
      recordingsForgotten: participants.recordingsForgotten, recordingProblem: participants.recordingProblem,
      sourceFailure: await source?.failure,
      summary: sessionLog.withLock { $0.summary(endReason: reason, now: end) })
    writeSummary(&outcome)
    leftAt.withLock { $0 = end }
    return outcome
  }

  /// Runs all tasks that may end the call, and returns the first reason.
  private func untilEnd() async -> EndReason {
    await withTaskGroup(of: EndReason?.self) { group in
      group.addTask { await self.participants.firstEnd() }
      if let duration = settings.duration {
        group.addTask {
          try? await self.loop.sleep(for: duration)
          return Task.isCancelled ? nil : .timeIsUp
        }
      }
      if let source {
        group.addTask {
          await self.play(source)
          if !self.settings.media.endsWithSource, await source.failure == nil { return nil }
          return Task.isCancelled ? nil : .sourceEnded
        }
      }
      for recorder in recorder?.recorders ?? [] {
        group.addTask {
          for await track in recorder.keyframeRequests { self.peer.requestKeyframe(of: track.participant) }
          return nil
        }
      }
      if let observer {
        group.addTask {
          let reason = await observer.watch(self.peer)
          return Task.isCancelled ? nil : reason.map { .observerFinished($0) }
        }
      }
      for await reason in group {
        if let reason {
          group.cancelAll()
          return reason
        }
      }
      return .signallingEnded
    }
  }
}
