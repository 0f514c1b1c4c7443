public import Logging
public import Media
public import NIOCore

/// A load of a room with publishers and viewers, from the first join until all have left.
///
/// ```swift
/// var settings = RoomLoad.Settings(server: "ws://localhost:3000", room: "100") { _, log in
///   try SkyRTCClient(url: "ws://localhost:3000", room: "100", logger: log)
/// }
/// settings.publishers = 50
/// settings.duration = .seconds(30)
/// let source = try LiveCamera.open(.init(input: .pattern, owner: ParticipantID("camera")))
/// let load = try await RoomLoad(settings, source: source, on: group.next())
/// print(try await load.run().json)
/// ```
///
/// Each publisher has its own id, sockets and certificate. All send the frames of one source, which is read or encoded once. Those
/// of a source that is not live send them with different delays, so that their keyframes are spread over time. Publishers call
/// everyone else in the room, and call each other only if they receive. Viewers receive from everyone else in the room.
public final class RoomLoad: Sendable {
  private let settings: Settings
  private let source: (any FrameSource)?
  private let log: Logger
  /// Runs the timers.
  private let loop: any EventLoop
  private let starter: ParticipantStarter
  private let first: LoadParticipant
  private let milestones: LoadMilestones
  private let requests: AsyncStream<String>
  private let request: AsyncStream<String>.Continuation

  /// Prepares a load, and binds the sockets of the first participant, so that errors are found before anyone joins. ``run()`` closes
  /// them, or ``close()`` if it is not called.
  ///
  /// - Parameters:
  ///   - settings: What to do.
  ///   - source: What all publishers send; nil if there are none.
  ///   - loop: The event loop of timers and of participants.
  ///   - others: Further event loops: each participant runs on one of all loops. A loop that is named twice counts once.
  ///   - log: Logs what happens to participants at `debug`, and their failures at `warning`.
  /// - Throws: What ``Settings/makeClient`` and `Peer.start` throw for the first participant. The error of a later one is in the
  ///   report, by its description.
  public init(
    _ settings: Settings, source: (any FrameSource)?, on loop: any EventLoop, and others: [any EventLoop] = [],
    log: Logger = Logger(label: "load")
  ) async throws {
    var settings = settings
    settings.viewers = max(0, settings.viewers)
    settings.publishers = max(settings.viewers > 0 ? 0 : 1, settings.publishers)
    self.settings = settings
    self.source = source
    self.log = log
    self.loop = loop
    milestones = LoadMilestones(now: .now)
    var known: Set<ObjectIdentifier> = []
    let loops = ([loop] + others).filter { known.insert(ObjectIdentifier($0)).inserted }
    starter = try await ParticipantStarter(settings, source: source, on: loops, log: log)
    first = try await starter.start(0)
    (requests, request) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
  }

  /// What was measured so far.
  public var report: LoadReport {
    get async {
      let records = await starter.members.records()
      let steady = milestones.steady(now: .now)
      return LoadReport(
        records: records, publishers: settings.publishers, room: settings.room, server: settings.server,
        source: source?.summary ?? "nothing", sendsData: settings.dataBitrate != nil, seconds: steady.seconds,
        before: steady.before, lateness: await starter.broadcaster.lateness())
    }
  }

  /// Joins the room with one participant after the other, and returns when all have left: after ``Settings/duration``, when the
  /// source has ended, when the server has closed all of them, after ``leave(because:)``, or when the task is cancelled. For one
  /// call.
  ///
  /// - Returns: What was measured until they left.
  public func run() async -> LoadReport {
    // The connections must still be there when the report is made, so a cancellation does not end them first.
    let stay = Task { await carryOut() }
    return await withTaskCancellationHandler {
      await stay.value
    } onCancel: {
      leave(because: "the task was cancelled")
    }
  }

  private func carryOut() async -> LoadReport {
    await withTaskGroup(of: String?.self) { group in
      addTasks(to: &group)
      for await reason in group {
        guard let reason else { continue }
        log.debug("leaving", metadata: ["reason": "\(reason)"])
        break
      }
      let report = await report
      await starter.members.leave()
      group.cancelAll()
      return report
    }
  }

  /// Closes the sockets of a load that is not run.
  public func close() async { await starter.members.leave() }

  /// Makes all participants leave, and ``run()`` return.
  ///
  /// - Parameter reason: A clause for the log.
  public func leave(because reason: String) { request.yield(reason) }

  /// Waits until each participant has been connected to someone.
  ///
  /// - Returns: False if the load ended, or the task was cancelled, before that.
  public func allConnected() async -> Bool { await starter.members.allConnected() }

  // MARK: Running

  /// Adds the tasks of a load; one that ends it returns the reason as a clause.
  private func addTasks(to group: inout TaskGroup<String?>) {
    group.addTask {
      for await reason in self.requests { return reason }
      return nil
    }
    group.addTask {
      await self.stay()
      return Task.isCancelled ? nil : "all have left"
    }
    // What a connection carried is known only while it exists.
    group.addTask {
      while (try? await self.loop.sleep(for: .seconds(1))) != nil { await self.starter.members.count() }
      return nil
    }
    if let source {
      group.addTask {
        await self.play(source)
        return Task.isCancelled ? nil : "the input ended"
      }
    }
    if let duration = settings.duration {
      group.addTask {
        await self.milestones.lastStarted()
        try? await self.loop.sleep(for: duration)
        return Task.isCancelled ? nil : "the duration has passed"
      }
    }
  }

  /// Starts the participants one after the other; returns when all have left.
  private func stay() async {
    let began = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.first.run() }
      for index in 1..<settings.participants {
        guard (try? await loop.sleep(for: began + settings.ramp.moment(of: index) - .now)) != nil else { break }
        await add(index, to: &group)
      }
      milestones.last(totals: await starter.members.records().map(\.totals), now: .now)
    }
  }

  private func add(_ index: Int, to group: inout TaskGroup<Void>) async {
    do {
      let next = try await starter.start(index)
      group.addTask { await next.run() }
    } catch {
      starter.members.note(index) { $0.failed("\(error)") }
    }
  }

  private func play(_ source: any FrameSource) async {
    if settings.waitsForConnections, await !starter.members.allConnected() { return }
    for await frame in await source.frames() { starter.broadcaster.give(frame) }
    // The last frames are still being sent.
    try? await loop.sleep(for: StaggerSchedule.span + .milliseconds(300))
  }
}
