import Media
import Signalling
import SocketIO
import Synchronization

/// Reads the events of a client and waits for some of them.
final class EventReader: Sendable {
  private struct State {
    var events: [SignallingEvent] = []
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

  init(_ client: SocketIOClient) {
    let events = client.events
    task.withLock { task in
      task = Task { [weak self] in
        for await event in events { self?.state.withLock { $0.events.append(event) } }
        self?.state.withLock { $0.hasEnded = true }
      }
    }
  }

  var all: [SignallingEvent] { state.withLock { $0.events } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Waits until `count` events are as described.
  @discardableResult
  func wait(
    for count: Int = 1, within limit: Duration = .seconds(20), _ matches: (SignallingEvent) -> Bool
  ) async throws -> SignallingEvent {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      let found = all.filter(matches)
      if found.count >= count, let last = found.last { return last }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoEvent(events: all.map { String("\($0)".prefix(200)) })
  }

  func end(within limit: Duration = .seconds(20)) async throws {
    let deadline = ContinuousClock.now + limit
    while !hasEnded {
      guard ContinuousClock.now < deadline else { throw NoEvent(events: ["The events did not end."]) }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  struct NoEvent: Error {
    let events: [String]
  }
}

extension SignallingEvent {
  var isJoined: Bool { if case .joined = self { true } else { false } }
  var isLost: Bool { if case .connectionLost = self { true } else { false } }
  var isClosed: Bool { if case .closed = self { true } else { false } }
  var isOffer: Bool { if case .message(.offer, _) = self { true } else { false } }
  var isAnswer: Bool { if case .message(.answer, _) = self { true } else { false } }

  func isArrival(of user: ParticipantID) -> Bool {
    if case .participantJoined(let participant) = self { participant.id == user } else { false }
  }

  func isDeparture(of user: ParticipantID) -> Bool {
    if case .participantLeft(let id, _) = self { id == user } else { false }
  }
}
