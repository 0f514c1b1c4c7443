internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import SCTP
internal import Synchronization

/// An event loop with its own sockets and the connections of the participants that are assigned to it.
struct MediaShard: Sendable {
  /// The parameters of a shard besides its loop.
  struct Plan: Sendable {
    var configuration: Peer.Configuration
    var addresses: [IPAddress]
    var servers: ICEServers
    var checkPace: CheckPacer
    var assignments: ShardAssignments
    var log: Logger
    /// Receives each data channel that was not requested.
    var dataChannelOpened: @Sendable (DataChannel) -> Void
  }

  let loop: any EventLoop
  let localAddresses: [TransportAddress]
  private let driver: NIOLoopBound<PeerDriver>
  /// The number of calls of ``perform(_:)`` whose work has not ended.
  private let waiting = AtomicCounter()

  /// Binds the sockets. Called on the loop.
  ///
  /// - Parameters:
  ///   - index: the shard's index, which is added to the configured ports.
  ///   - emit: receives the events, on the loop.
  ///   - turnEnded: called on the loop at the end of each turn; returns the time at which it must be called again.
  init(
    _ plan: Plan, index: Int, on loop: any EventLoop, emit: @escaping (ParticipantEvent) -> Void,
    turnEnded: @escaping (MonotonicInstant) -> MonotonicInstant?
  ) throws(Peer.StartError) {
    let driver = PeerDriver(
      loop: loop, configuration: plan.configuration, network: plan.configuration.network?.make(index),
      checkPace: plan.checkPace, log: plan.log,
      emit: Self.deliver(
        to: plan.configuration.handler,
        { event in
          if event.event == .stateChanged(.connecting) { plan.assignments.connectionBegan(event.participant) }
          emit(event)
        }), participantEnded: { plan.assignments.connectionEnded($0) },
      dataChannelOpened: plan.dataChannelOpened, turnEnded: turnEnded)
    localAddresses = try driver.bind(plan.addresses, index: index)
    driver.use(plan.servers)
    self.loop = loop
    self.driver = NIOLoopBound(driver, eventLoop: loop)
  }

  /// Passes events to the handler, if there is one, and then to the reader of ``Peer/events``.
  private static func deliver(
    to handler: (@Sendable (ParticipantEvent) -> Void)?, _ emit: @escaping (ParticipantEvent) -> Void
  ) -> (ParticipantEvent) -> Void {
    guard let handler else { return emit }
    return { event in
      handler(event)
      emit(event)
    }
  }

  /// Runs work on the loop, later.
  func perform(_ work: @escaping @Sendable (PeerDriver) -> Void) {
    waiting.value.wrappingAdd(1, ordering: .acquiringAndReleasing)
    loop.execute { [driver, waiting] in
      work(driver.value)
      waiting.value.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }
  }

  /// Runs work at once if the caller is on the loop and may overtake nothing; otherwise on the loop, later.
  ///
  /// Earlier work that still waits comes first. A handler of events and a media sink are called within a turn, which must end
  /// first.
  func performInPlace(_ work: @escaping @Sendable (PeerDriver) -> Void) {
    guard loop.inEventLoop, waiting.value.load(ordering: .acquiring) == 0, !driver.value.isInTurn else {
      return perform(work)
    }
    work(driver.value)
  }

  /// Creates a data channel for ``PeerDriver/open(_:)``.
  func makeDataChannel(_ configuration: DataChannelConfiguration, to participant: ParticipantID) -> DataChannel {
    DataChannel(participant, configuration, PeerDriver.commands(driver, on: loop, participant: participant))
  }

  var isGathering: Bool {
    get async { (try? await loop.submit { [driver] in driver.value.isGathering }.get()) ?? false }
  }

  var statistics: [PeerStatistics] {
    get async { (try? await loop.submit { [driver] in driver.value.statistics }.get()) ?? [] }
  }

  func close(reason: String) async {
    try? await loop.submit { [driver] in driver.value.close(reason: reason) }.get()
  }
}

/// Forwards events from the loop of another shard to the loop of the event source, those of a turn together. When that
/// loop does not keep up, it drops media.
///
/// Not Sendable: it belongs to one shard's loop.
final class EventForwarder {
  private let source: NIOLoopBound<EventSource>
  private let loop: any EventLoop
  private var pending: [ParticipantEvent] = []
  private var dropper = FrameDropper()
  /// The number of events that the source's loop has not received yet.
  private let inFlight = AtomicCounter()

  /// - Parameter loop: the loop of the source.
  init(to source: NIOLoopBound<EventSource>, on loop: any EventLoop) {
    self.source = source
    self.loop = loop
  }

  func add(_ event: ParticipantEvent) {
    var event = event
    if case .media(.frame(var frame)) = event.event {
      let isFull = pending.count + inFlight.value.load(ordering: .relaxed) >= EventSource.highWatermark
      let admission = dropper.admit(frame, of: frame.track, capacity: { isFull ? .full : .ample })
      guard case .admitted(let dropped) = admission else { return }
      if let dropped {
        frame.gap = dropped.gap(before: frame.gap)
        event.event = .media(.frame(frame))
      }
    }
    if case .ended = event.event {
      _ = dropper.takeDropped(of: event.participant)
    }
    pending.append(event)
  }

  func turnEnded() {
    if pending.isEmpty { return }
    let events = pending
    pending = []
    inFlight.value.wrappingAdd(events.count, ordering: .relaxed)
    let needsKeyframe = dropper.tracks.contains { $0.kind == .video }
    loop.execute { [source, inFlight] in
      inFlight.value.wrappingSubtract(events.count, ordering: .relaxed)
      for event in events { source.value.add(event) }
      source.value.yield()
      if needsKeyframe { source.value.keyframeNeeded() }
    }
  }
}

/// A number that several threads change.
private final class AtomicCounter: Sendable {
  let value = Atomic(0)
}
