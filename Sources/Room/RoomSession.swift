public import BotPeer
internal import Media
public import Signalling

/// One stay in a room: joins signalling and peer, so that everyone in the room is connected to us.
///
/// ```swift
/// let peer = try await Peer.start(Peer.Configuration(), on: loop)
/// let session = RoomSession(client: try SkyRTCClient(url: "wss://calls.example", room: "100"), peer: peer)
/// try await session.join()
/// await session.run { event in print(event) }
/// ```
///
/// The session offers to those whom the system says we offer to, ten in 50 ms; gives way in a clash of offers if our id is the
/// smaller one; sends an unanswered offer again after the connection to the server was lost; offers again, after a second, to a media
/// server whose connection was lost; checks the connection to the server when a path is lost; and tells the system which calls
/// have ended. Who uses it reads neither the client's events nor the peer's.
public final class RoomSession: Sendable {
  public let client: any SignallingClient
  public let peer: Peer
  private let policy: RoomPolicy

  private enum Input: Sendable {
    case signalling(SignallingEvent)
    case signallingEnded
    case connection(ParticipantEvent)
    case problem(String)
    case deadline
  }

  /// The number of events that wait for the program before the peer's events wait.
  private static let inputLimit = 256

  public init(client: any SignallingClient, peer: Peer, policy: RoomPolicy = RoomPolicy()) {
    self.client = client
    self.peer = peer
    self.policy = policy
  }

  /// Connects to the server and joins the room. If that fails, it may be called again.
  ///
  /// - Parameter limit: how long to try again while the server cannot be reached; without it there is one attempt.
  public func join(waiting limit: Duration = .zero) async throws(SignallingConnectError) {
    try await client.connect(waiting: limit)
  }

  /// Runs the session until the peer is closed, then leaves the room. For one call.
  ///
  /// If the task is cancelled, the peer is closed and the room is left, but the last events are not handled; ``leave(because:)``
  /// hands them all over.
  ///
  /// - Parameters:
  ///   - limit: when to leave; nil for no limit.
  ///   - handle: called with each event, one after the other and before the session acts on it. While it does not return, the
  ///     session waits.
  /// - Returns: why the signalling ended.
  @discardableResult
  public nonisolated(nonsending) func run(
    for limit: Duration? = nil, _ handle: nonisolated(nonsending) (RoomEvent) async -> Void = { _ in }
  ) async -> RoomEndReason {
    let leaving = limit.map { limit in
      Task {
        try await Task.sleep(for: limit)
        await leave(because: "The time is over.")
      }
    }
    defer { leaving?.cancel() }
    if !client.capabilities.tricklesCandidates { await peer.gatheringEnded(within: policy.gatheringLimit) }
    let (inputs, buffer) = EventBuffer<Input>.make(limit: Self.inputLimit)
    let readers = [Task { await readSignalling(into: buffer) }, Task { await readConnections(into: buffer) }]
    let timer = DeadlineTimer { await buffer.deliver(.deadline) }
    var state = RoomState(client.capabilities, endsIfNotAdmitted: policy.endsIfNotAdmitted)
    var end = RoomEndReason.left
    for await input in inputs {
      let actions: [RoomState.Action]
      switch input {
      case .signalling(let event):
        await handle(.signalling(event))
        actions = state.received(event, now: .now)
      case .signallingEnded:
        actions = state.signallingEnded()
      case .connection(let event):
        await handle(.connection(event))
        actions = state.received(event.event, of: event.participant, now: .now)
      case .problem(let sentence):
        await handle(.problem(sentence))
        actions = []
      case .deadline:
        timer.set(nil)
        actions = state.timeReached(now: .now)
      }
      for action in actions {
        switch action {
        case .end(let reason):
          end = reason
          await handle(.ended(reason))
          if policy.closesPeer { Task { [peer] in await peer.close(reason: reason.description) } }
        case .use(let servers) where !client.capabilities.tricklesCandidates:
          // Only the first description can have their candidates.
          for problem in await peer.use(servers) { await handle(.problem(problem)) }
        case .use(let servers):
          // A slow name server does not delay the call.
          Task { [peer] in
            for problem in await peer.use(servers) { await buffer.deliver(.problem(problem)) }
          }
        default:
          perform(action)
        }
      }
      timer.set(state.deadline)
    }
    timer.set(nil)
    if !Task.isCancelled {
      for case .end(let reason) in state.signallingEnded() { await handle(.ended(reason)) }
    }
    // After a cancellation the peer is still open.
    await peer.close(reason: "The session was cancelled.")
    for reader in readers { reader.cancel() }
    // Also in a cancelled task, the server is told before this returns.
    await Task { [client] in await client.leave() }.value
    return end
  }

  /// Closes all connections; ``run(for:_:)`` hands over the last events, leaves the room and returns.
  ///
  /// - Parameter reason: one sentence, for the events and the participants.
  public func leave(because reason: String) async {
    await peer.close(reason: reason)
  }

  private func readSignalling(into buffer: EventBuffer<Input>) async {
    for await event in client.events {
      guard let filter = policy.filter else {
        await buffer.deliver(.signalling(event))
        continue
      }
      if let event = await filter(event) { await buffer.deliver(.signalling(event)) }
    }
    await buffer.deliver(.signallingEnded)
  }

  private func readConnections(into buffer: EventBuffer<Input>) async {
    for await event in peer.events { await buffer.deliver(.connection(event)) }
    buffer.finish()
  }

  /// Does what needs no waiting.
  private func perform(_ action: RoomState.Action) {
    switch action {
    case .identify(let id): peer.identify(as: id)
    case .call(let participant): peer.call(participant)
    case .offer(let id): peer.offer(to: id)
    case .repeatOffer(let id): peer.repeatOffer(to: id)
    case .participantLeft(let id, let isRejoinVerified): peer.participantLeft(id, isRejoinVerified: isRejoinVerified)
    case .receive(let message, let id): peer.receive(message, from: id)
    case .disconnect(let id, let reason): peer.disconnect(id, because: reason)
    case .send(let message, let id): client.send(message, to: id)
    case .hangUp(let id): client.hangUp(id)
    case .verifyConnection: client.verifyConnection()
    case .use, .end: break
    }
  }
}
