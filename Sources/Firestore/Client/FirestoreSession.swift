internal import Logging
internal import Media
internal import NIOCore
internal import Signalling
import Synchronization

/// Polls a database for a layout and carries out what the layout asks for, one step after another.
final class FirestoreSession: Sendable {
  private let store: FirestoreStore
  private let options: FirestoreClient.Options
  private let log: FirestoreSessionLog
  private let group: any EventLoopGroup
  private let inbox: SignallingEventBuffer
  private let first: any SignallingLayout
  private let cleared: FirestoreJoiner.Cleared
  private let outbox = Mutex(Outbox())

  /// The messages of the owner that wait for the next step; the oldest is discarded when there are too many.
  private struct Outbox {
    static let limit = 1_024
    var waiting: [(SignallingMessage, String)] = []
    var isClosed = false
    var sleeper: Task<Void, Never>?
    /// Whether a message ends the sleep. The wait after an error only ends early when the session is closed.
    var wakesForMessages = false
  }

  init(
    layout: any SignallingLayout, cleared: FirestoreJoiner.Cleared, store: FirestoreStore,
    options: FirestoreClient.Options, logger: Logger, group: any EventLoopGroup, inbox: SignallingEventBuffer
  ) {
    first = layout
    self.cleared = cleared
    self.store = store
    self.options = options
    log = FirestoreSessionLog(logger: logger)
    self.group = group
    self.inbox = inbox
  }

  func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let sleeper = outbox.withLock { box in
      if box.waiting.count >= Outbox.limit { box.waiting.removeFirst() }
      box.waiting.append((message, participant.text))
      return box.wakesForMessages ? box.sleeper : nil
    }
    sleeper?.cancel()
  }

  /// Ends `run`, which deletes our documents first.
  func close() {
    let sleeper = outbox.withLock { box in
      box.isClosed = true
      return box.sleeper
    }
    sleeper?.cancel()
  }

  /// Deletes our documents.
  func clear() async throws(FirestoreError) { _ = try await store.clear(first) }

  private var isClosed: Bool { outbox.withLock { $0.isClosed } }

  func run() async {
    var layout = first
    var changes: [DocumentChange] = []
    var backoff = ReconnectBackoff(minimum: options.minimumRetryDelay, maximum: options.maximumRetryDelay)
    var generator = SystemRandomNumberGenerator()
    var isLost = false
    var nextPoll = MonotonicInstant.now
    var nextRoomCheck = MonotonicInstant.now + options.roomInterval
    await perform(
      layout.started(serverTime: cleared.serverTime, removedAny: cleared.removedAny, now: .now), &changes)
    while !isClosed {
      do throws(FirestoreError) {
        await takeMessages(&layout, &changes)
        try await carryOut(&changes, &layout)
        if MonotonicInstant.now >= nextPoll {
          nextPoll = .now + options.pollInterval
          if let room = layout.room, MonotonicInstant.now >= nextRoomCheck {
            guard try await store.get(room) != nil else { throw .notFound("The room") }
            nextRoomCheck = .now + options.roomInterval
          }
          let snapshot = try await snapshot(for: layout)
          if isLost {
            isLost = false
            backoff.reset()
            await inbox.deliver(layout.rejoined())
          }
          await perform(layout.polled(snapshot, now: .now), &changes)
          try await carryOut(&changes, &layout)
        }
      } catch {
        if isClosed { break }
        if error.isPermanent {
          // A room that is deleted ends the call, as one that is closed elsewhere.
          if case .notFound = error {
            await inbox.deliver(.closed(reason: error.description))
          } else {
            await inbox.deliver(.rejected(reason: error.description))
          }
          break
        }
        isLost = true
        // The first wait after an error counts from then on, not from the last poll.
        let delay = max(backoff.next(using: &generator), error.retryAfter ?? .zero)
        await inbox.deliver(.connectionLost(reason: error.description, retryAfter: delay))
        nextPoll = .now + delay
        await pause(until: nextPoll, wakesForMessages: false)
        continue
      }
      await pause(until: nextPoll, wakesForMessages: true)
    }
    _ = try? await store.clear(layout)
    inbox.finish()
    store.close()
  }

  // MARK: Steps

  private func takeMessages(_ layout: inout any SignallingLayout, _ changes: inout [DocumentChange]) async {
    let messages = outbox.withLock { box in
      defer { box.waiting = [] }
      return box.waiting
    }
    for (message, participant) in messages {
      await perform(layout.send(message, to: participant, now: .now), &changes)
    }
  }

  private func perform(_ actions: [LayoutAction], _ changes: inout [DocumentChange]) async {
    for action in actions {
      switch action {
      case .event(let event): await inbox.deliver(event)
      case .change(let change): changes.append(change)
      case .ignored(let reason): log.ignored(reason)
      }
    }
  }

  /// Carries out the changes in order. One that fails stays, and is tried again.
  private func carryOut(
    _ changes: inout [DocumentChange], _ layout: inout any SignallingLayout
  ) async throws(FirestoreError) {
    while let change = changes.first {
      let done: FirestoreJoiner.Cleared
      do throws(FirestoreError) {
        done = try await store.carryOut(change, of: layout)
      } catch {
        guard case .occupied = error, let successor = layout.successor else { throw error }
        return try await replace(&layout, by: successor, &changes)
      }
      changes.removeFirst()
      await perform(
        layout.completed(change, serverTime: done.serverTime, removedAny: done.removedAny, now: .now), &changes)
    }
  }

  /// Becomes the guest of a room whose host another program is.
  private func replace(
    _ layout: inout any SignallingLayout, by successor: any SignallingLayout, _ changes: inout [DocumentChange]
  ) async throws(FirestoreError) {
    let cleared = try await store.clear(successor)
    log.note("Another program is the host of the room; we are its guest.")
    changes = []
    if case .joined(_, let others) = layout.rejoined() {
      for other in others { await inbox.deliver(.participantLeft(other.id, isRejoinVerified: false)) }
    }
    layout = successor
    await perform(
      layout.started(serverTime: cleared.serverTime, removedAny: cleared.removedAny, now: .now), &changes)
  }

  private func snapshot(for layout: any SignallingLayout) async throws(FirestoreError) -> Snapshot {
    let plan = layout.plan(now: .now)
    var snapshot = Snapshot(description: .absent)
    if let document = try await store.get(layout.incoming.description) {
      snapshot.description = log.parsed(document)
    }
    if plan.readsCandidates, snapshot.description != .absent {
      var candidates: [FirestoreID: StoredCandidate] = [:]
      for document in try await store.list(layout.incoming.candidates) {
        candidates[document.path.id] = log.parsedCandidate(document)
      }
      snapshot.candidates = candidates
    }
    if plan.readsOutgoing { snapshot.outgoingExists = try await store.get(layout.outgoing.description) != nil }
    return snapshot
  }

  private func pause(until time: MonotonicInstant, wakesForMessages: Bool) async {
    let sleeper = Task { _ = try? await Task.sleep(until: time.instant, clock: .continuous) }
    let isNeeded = outbox.withLock { box in
      if box.isClosed || (wakesForMessages && !box.waiting.isEmpty) { return false }
      box.sleeper = sleeper
      box.wakesForMessages = wakesForMessages
      return true
    }
    if !isNeeded { sleeper.cancel() }
    await sleeper.value
    outbox.withLock { $0.sleeper = nil }
  }
}
