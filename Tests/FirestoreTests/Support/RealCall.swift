import Firestore
import Media
import Signalling
import Synchronization
import Testing

/// A local peer that offers and answers at once, on a real client.
actor RealBot {
  let client: FirestoreClient
  private(set) var events: [SignallingEvent] = []
  private(set) var localFragment: String?
  private(set) var remoteFragment: String?
  private(set) var hasCandidates = false
  private(set) var isEnded = false
  private var connectionCount = 0
  private let name: String

  init(_ client: FirestoreClient, name: String = "bot") {
    self.client = client
    self.name = name
  }

  func start() async throws {
    try await client.connect()
    Task {
      for await event in client.events { react(to: event) }
      isEnded = true
    }
  }

  private func react(to event: SignallingEvent) {
    events.append(event)
    switch event {
    case .joined(_, let others):
      // A call goes on when the server returns.
      if localFragment == nil { others.forEach(begin) }
    case .participantJoined(let other): begin(other)
    case .participantLeft:
      localFragment = nil
      remoteFragment = nil
      hasCandidates = false
    case .message(.offer(let sdp), let id):
      remoteFragment = SessionDescriptionLines.usernameFragment(of: sdp)
      client.send(.answer(TestDescription.sdp(nextFragment(), candidates: TestDescription.lines)), to: id)
    case .message(.answer(let sdp), _): remoteFragment = SessionDescriptionLines.usernameFragment(of: sdp)
    case .message(.candidate, _): hasCandidates = true
    case .iceServers, .connectionLost, .rejected, .closed: break
    }
  }

  /// Whether it has these descriptions, which ICE user name fragments name, and candidates of the other side.
  func isConnected(local: String, remote: String) -> Bool {
    localFragment == local && remoteFragment == remote && hasCandidates
  }

  private func begin(_ other: SignalledParticipant) {
    guard other.offerer == .local else { return }
    client.send(.offer(TestDescription.sdp(nextFragment(), candidates: TestDescription.lines)), to: other.id)
  }

  private func nextFragment() -> String {
    connectionCount += 1
    localFragment = "\(name)\(connectionCount)"
    return "\(name)\(connectionCount)"
  }

  /// Waits until an event has come that fits; false after the limit.
  func waits(for limit: Duration = .seconds(10), _ fits: @Sendable (SignallingEvent) -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if events.contains(where: fits) { return true }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  func waitsForEnd(_ limit: Duration = .seconds(10)) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, !isEnded { try? await Task.sleep(for: .milliseconds(20)) }
    return isEnded
  }
}

/// The simulated app over the REST API.
actor RealApp {
  private var app: SimulatedAppClient
  private var peer: RealBot?
  private let store: FirestoreStore
  private let own: ConnectionDocuments
  private let other: ConnectionDocuments
  private var isStopped = false

  init(_ role: RoomSignalling.Role, room: FirestoreID, store: FirestoreStore) {
    app = SimulatedAppClient(role: role)
    self.store = store
    own = .room(room, role: role == .host ? "host" : "guest")
    other = .room(room, role: role == .host ? "guest" : "host")
  }

  /// Whether both sides have each other's present description and candidates.
  var isConnected: Bool {
    get async {
      guard let peer, let local = app.localFragment, let remote = app.remoteFragment, app.hasCandidates else {
        return false
      }
      return await peer.isConnected(local: remote, remote: local)
    }
  }

  /// The bot that the network leads to; nil for one that has left or crashed.
  func setPeer(_ bot: RealBot?) { peer = bot }
  func stop() { isStopped = true }

  func run() async throws {
    while !isStopped {
      let description = try await store.get(other.description).flatMap { try? StoredDescription(parsing: $0) }
      let candidates = try await store.list(other.candidates).compactMap { try? StoredCandidate(parsing: $0) }
      app.isConnected = await isConnected
      for request in app.step(.init(description: description, candidates: candidates), now: .now) {
        switch request {
        case .clear:
          try await store.delete(own.description)
          for document in try await store.list(own.candidates) { try await store.delete(document.path) }
        case .set(let kind, let sdp):
          try await store.set(own.description, StoredDescription.fields(kind, sdp: sdp))
        case .add(let candidate):
          _ = try await store.add(to: own.candidates, StoredCandidate.fields(candidate))
        }
      }
      try await Task.sleep(for: SimulatedAppClient.interval)
    }
  }
}
