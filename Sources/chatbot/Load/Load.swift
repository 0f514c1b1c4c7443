import BotPeer
import LiveSource
import Logging
import Media
import NIOCore
import NIOPosix
import SkyRTC

/// A load of a room with publishers, from the first join until all have left. Wiring only.
struct Load {
  let options: LoadOptions
  let console: Console
  let log: Logger

  private enum EndReason: CustomStringConvertible {
    case interrupted
    case timeIsUp
    case sourceEnded
    case allLeft

    /// The reason as a clause, for the log.
    var description: String {
      switch self {
      case .interrupted: "a signal arrived"
      case .timeIsUp: "the duration has passed"
      case .sourceEnded: "the input ended"
      case .allLeft: "all publishers have left"
      }
    }
  }

  /// The parts that a load's tasks share.
  private struct Parts: Sendable {
    let publisherGroup: PublisherGroup
    let publisherRegistry: PublisherRegistry
    let broadcaster: FrameBroadcaster
    let loops: [any EventLoop]
    let milestones: LoadMilestones
  }

  func run() async throws {
    let interruption = Interruption()
    // Find errors that need no network before joining, so that no participant notices them.
    try options.connection.connectionSettings.check()
    let source = try openSource()
    // Each publisher has one socket for each local address and one to the server.
    FileDescriptorLimit.allowMany()
    let loops = Array(
      MultiThreadedEventLoopGroup(
        numberOfThreads: options.connection.mediaThreads ?? System.coreCount
      ).makeIterator())
    let parts = Parts(
      publisherGroup: PublisherGroup(source: source, size: options.publishers),
      publisherRegistry: PublisherRegistry(callEachOther: options.receive),
      broadcaster: try await FrameBroadcaster(
        loops: loops, stagger: StaggerSchedule(publishers: options.publishers, isLive: source.isLive)),
      loops: loops, milestones: LoadMilestones(now: .now))
    let first = try await publisher(0, parts)
    interruption.beginOrderly()
    let report = await withTaskGroup(of: EndReason?.self) { group in
      addTasks(to: &group, first: first, interruption: interruption, parts)
      for await ending in group {
        guard let ending else { continue }
        log.debug("leaving", metadata: ["reason": "\(ending)"])
        break
      }
      let report = await makeReport(parts)
      await parts.publisherGroup.leave()
      group.cancelAll()
      return report
    }
    console.clearStatus()
    try await judge(report, source)
  }

  // MARK: Setting up

  private func openSource() throws(CallFailure) -> any FrameSource {
    guard let camera = options.playing.camera else { throw CallFailure(.usage, "There is nothing to play.") }
    do {
      let source = try LiveCamera.open(camera, logger: log)
      for note in source.notes { log.warning("\(note)", metadata: ["camera": "\(options.playing.play ?? "")"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  private func publisher(_ index: Int, _ parts: Parts) async throws(CallFailure) -> LoadPublisher {
    var connectionSettings = options.connectionSettings(of: index)
    connectionSettings.prefer(options.playing.sendCodec)
    var configuration = try connectionSettings.peerConfiguration()
    configuration.sending = parts.publisherGroup.source.kinds
    configuration.receiving = options.receive ? Set(MediaKind.allCases) : []
    configuration.keyframeResponse = parts.publisherGroup.source.isLive ? .requestFromSource : .replay
    configuration.maximumSendBitrate = options.playing.maxBitrate.bitsPerSecond
    if options.data != nil { configuration.dataChannels = connectionSettings.dataChannels }
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let loop = parts.loops[index % parts.loops.count]
    let client = try connectionSettings.client(
      .init(sends: true, receives: options.receive), suffix: index == 0 ? "" : "-\(index)", log: quietly)
    do {
      let peer = try await Peer.start(configuration, on: loop, log: quietly)
      let publisher = LoadPublisher(
        index: index, peer: peer, client: client, publisherRegistry: parts.publisherRegistry,
        publisherGroup: parts.publisherGroup, probe: options.data.map { DataProbe(bitrate: $0.bitsPerSecond) }, log: log
      )
      parts.publisherGroup.add(publisher)
      parts.broadcaster.add(peer, index: index, on: loop)
      return publisher
    } catch {
      throw CallFailure(.usage, "\(error)")
    }
  }

  // MARK: Running

  private func addTasks(
    to group: inout TaskGroup<EndReason?>, first: LoadPublisher, interruption: Interruption, _ parts: Parts
  ) {
    group.addTask {
      await interruption.first()
      return Task.isCancelled ? nil : .interrupted
    }
    group.addTask {
      await publish(first, parts)
      return Task.isCancelled ? nil : .allLeft
    }
    group.addTask {
      await play(parts)
      return Task.isCancelled ? nil : .sourceEnded
    }
    group.addTask {
      await parts.publisherGroup.allConnected()
      if !Task.isCancelled { reportAllConnected(parts) }
      return nil
    }
    if let duration = options.duration?.duration {
      group.addTask {
        await parts.milestones.lastPublisherStarted()
        try? await MediaThread.loop.sleep(for: duration)
        return Task.isCancelled ? nil : .timeIsUp
      }
    }
    if console.isTerminal {
      group.addTask {
        while (try? await MediaThread.loop.sleep(for: .seconds(1))) != nil {
          console.show(lines: LoadTable(await makeReport(parts)).lines)
        }
        return nil
      }
    }
  }

  /// Starts the publishers one after the other; returns when all have left.
  private func publish(_ first: LoadPublisher, _ parts: Parts) async {
    let began = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await first.run() }
      for index in 1..<max(1, options.publishers) {
        guard (try? await MediaThread.loop.sleep(for: began + options.ramp.moment(of: index) - .now)) != nil else {
          break
        }
        await add(index, to: &group, parts)
      }
      let sent = await parts.publisherGroup.records().reduce(0) { $0 + $1.totals.bytesSent }
      parts.milestones.last(bytesSent: sent, now: .now)
    }
  }

  private func add(_ index: Int, to group: inout TaskGroup<Void>, _ parts: Parts) async {
    do throws(CallFailure) {
      let next = try await publisher(index, parts)
      group.addTask { await next.run() }
    } catch {
      parts.publisherGroup.note(index) { $0.failed(error.sentence) }
    }
  }

  private func play(_ parts: Parts) async {
    // A file that is played once waits until all publishers are connected.
    if !options.playing.loops { await parts.publisherGroup.allConnected() }
    for await frame in await parts.publisherGroup.source.frames() { parts.broadcaster.give(frame) }
    // The last frames are still being sent.
    try? await MediaThread.loop.sleep(for: StaggerSchedule.span + .milliseconds(300))
  }

  private func reportAllConnected(_ parts: Parts) {
    let who = options.publishers == 1 ? "The publisher is" : "All \(options.publishers) publishers are"
    console.say("\(who) connected.")
  }

  // MARK: The end

  private func makeReport(_ parts: Parts) async -> LoadReport {
    let records = await parts.publisherGroup.records()
    let steady = parts.milestones.steady(now: .now)
    return LoadReport(
      records: records, publishers: options.publishers, room: options.connection.connectionSettings.roomName,
      server: options.connection.connectionSettings.server, source: parts.publisherGroup.source.summary,
      seconds: steady.seconds,
      bytesBefore: steady.bytesBefore, lateness: await parts.broadcaster.lateness())
  }

  /// Prints the report, and throws if not all publishers were connected.
  private func judge(_ report: LoadReport, _ source: any FrameSource) async throws {
    if options.json {
      console.result(try report.json, isWanted: true)
    } else {
      console.result(LoadTable(report).lines.joined(separator: "\n"))
    }
    if let failure = await source.failure { throw CallFailure(.fileNotPlayable, failure) }
    if report.joined == 0 {
      throw CallFailure(.serverNotReached, report.failures.first?.reason ?? "No publisher joined the room.")
    }
    if report.isComplete { return }
    let missing = report.started - report.connected
    throw CallFailure(
      .notConnected,
      "Publishers that were never connected: \(missing) of \(report.started)."
        + (report.failures.isEmpty ? " Nobody else was in the room, or the load ended too early." : ""))
  }
}
