internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import Synchronization

/// An event loop with sockets of its own, and the connections of the participants that are assigned to it.
struct MediaShard: Sendable {
  /// What a shard needs besides its loop.
  struct Plan: Sendable {
    var configuration: Peer.Configuration
    var addresses: [IPAddress]
    var stunServers: [TransportAddress]
    var checkPace: CheckPacer
    var assignments: ShardAssignments
    /// How many participants may continue with a call after they have left the room.
    var departedLimit: Int
    var log: Logger
  }

  let loop: any EventLoop
  let localAddresses: [TransportAddress]
  private let driver: NIOLoopBound<PeerDriver>

  /// Binds the sockets. Called on the loop.
  ///
  /// - Parameters:
  ///   - index: the shard's number; its UDP port is the configured one plus this.
  ///   - emit: receives what happens with participants, on the loop.
  ///   - turnEnded: called on the loop when that was all for now; gives the time at which it is to be called again.
  init(
    _ plan: Plan, index: Int, on loop: any EventLoop, emit: @escaping (ParticipantEvent) -> Void,
    turnEnded: @escaping (ContinuousClock.Instant) -> MonotonicInstant?
  ) throws(Peer.StartError) {
    var configuration = plan.configuration
    // The first lines of all shards would have the same losses.
    if let seed = configuration.impairment?.seed { configuration.impairment?.seed = seed &+ UInt64(index) << 32 }
    let driver = PeerDriver(
      loop: loop, configuration: configuration, checkPace: plan.checkPace,
      departedLimit: plan.departedLimit, log: plan.log,
      emit: Self.deliver(
        to: plan.configuration.handler,
        { event in
          if event.event == .stateChanged(.connecting) { plan.assignments.connectionBegan(event.participant) }
          emit(event)
        }), participantEnded: { plan.assignments.connectionEnded($0) }, turnEnded: turnEnded)
    let port = plan.configuration.udpPort
    let (own, overflow) = port.addingReportingOverflow(port == 0 ? 0 : UInt16(clamping: index))
    guard !overflow else {
      throw .noSocket(port: port, problems: ["thread \(index + 1) would need the port \(Int(port) + index)"])
    }
    localAddresses = try driver.bind(plan.addresses, port: own)
    driver.gatherServerReflexive(from: plan.stunServers)
    self.loop = loop
    self.driver = NIOLoopBound(driver, eventLoop: loop)
  }

  /// Events go to the handler, if there is one, and then only those that are not media to the reader of ``Peer/events``.
  private static func deliver(
    to handler: (@Sendable (ParticipantEvent) -> Void)?, _ emit: @escaping (ParticipantEvent) -> Void
  ) -> (ParticipantEvent) -> Void {
    guard let handler else { return emit }
    return { event in
      handler(event)
      if case .media = event.event { return }
      emit(event)
    }
  }

  /// Does something on the loop, later.
  func perform(_ work: @escaping @Sendable (PeerDriver) -> Void) {
    loop.execute { [driver] in work(driver.value) }
  }

  var statistics: [PeerStatistics] {
    get async { (try? await loop.submit { [driver] in driver.value.statistics }.get()) ?? [] }
  }

  func close(reason: String) async {
    try? await loop.submit { [driver] in driver.value.close(reason: reason) }.get()
  }
}

/// Carries events from the loop of another shard to the loop of the event source: those of a turn together. When that loop does not
/// keep up, media is dropped here.
///
/// Not Sendable: it belongs to one shard's loop.
final class EventForwarder {
  private let source: NIOLoopBound<EventSource>
  private let loop: any EventLoop
  private var pending: [ParticipantEvent] = []
  private var dropper = FrameDropper()
  private let onTheirWay = Counter()

  /// Events that the source's loop has not taken yet.
  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  /// - Parameter loop: the source's.
  init(to source: NIOLoopBound<EventSource>, on loop: any EventLoop) {
    self.source = source
    self.loop = loop
  }

  func add(_ event: ParticipantEvent) {
    var event = event
    if case .media(.frame(var frame)) = event.event {
      let isFull = pending.count + onTheirWay.value.load(ordering: .relaxed) >= EventSource.highWatermark
      guard case .admitted(let dropped) = dropper.admit(frame, of: .init(of: frame), room: { isFull ? .none : .ample })
      else { return }
      if let dropped {
        frame.gap = dropped.gap(before: frame.gap)
        event.event = .media(.frame(frame))
      }
    }
    if case .ended = event.event {
      for kind in MediaKind.allCases { _ = dropper.takeDropped(of: .init(event.participant, kind)) }
    }
    pending.append(event)
  }

  func turnEnded() {
    if pending.isEmpty { return }
    let events = pending
    pending = []
    onTheirWay.value.wrappingAdd(events.count, ordering: .relaxed)
    let needsKeyframe = dropper.tracks.contains { $0.kind == .video }
    loop.execute { [source, onTheirWay] in
      onTheirWay.value.wrappingSubtract(events.count, ordering: .relaxed)
      for event in events { source.value.add(event) }
      source.value.yield()
      if needsKeyframe { source.value.keyframeNeeded() }
    }
  }
}
