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
  private let inbox: SignallingEventBuffer
  private let first: any SignallingLayout
  private let cleared: FirestoreJoiner.Cleared
  private let reconnection: ReconnectingSession
  private let outbox = Mutex(Outbox())

  /// The messages of the owner that wait for the next step; the oldest is discarded when there are too many.
  private struct Outbox {
    static let limit = 1_024
    var waiting: [(SignallingMessage, String)] = []
    var isClosed = false
    /// The wait for the next poll, which a message ends.
    var sleeper: Task<Void, Never>?
  }

  /// How far the polling has come.
  private struct Progress {
    var layout: any SignallingLayout
    /// The changes that are still to be carried out, in order.
    var changes: [DocumentChange] = []
    var nextPoll = MonotonicInstant.now
    var nextRoomCheck: MonotonicInstant
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
    self.inbox = inbox
    // A request that succeeds is a connection, however soon the next one fails.
    reconnection = ReconnectingSession(
      .init(minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay, resetAge: .zero)
    ) { try? await group.any().sleep(for: $0) }
  }

  func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let sleeper = outbox.withLock { box in
      if box.waiting.count >= Outbox.limit { box.waiting.removeFirst() }
      box.waiting.append((message, participant.text))
      return box.sleeper
    }
    sleeper?.cancel()
  }

  /// Ends `run`, which deletes our documents first.
  func close() {
    let sleeper = outbox.withLock { box in
      box.isClosed = true
      return box.sleeper
    }
    reconnection.leave()
    sleeper?.cancel()
  }

  /// Deletes our documents.
  func clear() async throws(FirestoreError) { _ = try await store.clear(first) }

  private var isClosed: Bool { outbox.withLock { $0.isClosed } }

  /// Polls until the owner leaves or the database refuses us. While requests fail, there is no connection; the first poll that
  /// succeeds opens one.
  func run() async {
    var progress = Progress(layout: first, nextRoomCheck: .now + options.roomInterval)
    let beginning = progress.layout.started(
      serverTime: cleared.serverTime, removedAny: cleared.removedAny, now: .now)
    await perform(beginning, &progress)
    await reconnection.run(
      from: Snapshot?.none,
      connect: { () async throws(ReconnectionState.ConnectionEnd) -> Snapshot? in
        do throws(FirestoreError) {
          return try await resume(&progress)
        } catch {
          throw ReconnectionState.ConnectionEnd(error)
        }
      },
      follow: { snapshot in
        do throws(FirestoreError) {
          try await follow(snapshot, &progress)
          return .finished
        } catch {
          return ReconnectionState.ConnectionEnd(error)
        }
      },
      deliver: { event in await inbox.deliver(event) })
    _ = try? await store.clear(progress.layout)
    inbox.finish()
    store.close()
  }

  // MARK: Steps

  /// Polls once after a failed request, and joins again if that succeeds.
  private func resume(_ progress: inout Progress) async throws(FirestoreError) -> Snapshot {
    await takeMessages(&progress)
    try await carryOut(&progress)
    let snapshot = try await poll(&progress)
    await inbox.deliver(progress.layout.rejoined())
    return snapshot
  }

  /// Polls until the session is closed.
  ///
  /// - Parameter snapshot: the result of the poll that opened the connection.
  private func follow(_ snapshot: Snapshot?, _ progress: inout Progress) async throws(FirestoreError) {
    if let snapshot {
      try await apply(snapshot, &progress)
      await pause(until: progress.nextPoll)
    }
    while !isClosed {
      await takeMessages(&progress)
      try await carryOut(&progress)
      if MonotonicInstant.now >= progress.nextPoll {
        let snapshot = try await poll(&progress)
        try await apply(snapshot, &progress)
      }
      await pause(until: progress.nextPoll)
    }
  }

  private func poll(_ progress: inout Progress) async throws(FirestoreError) -> Snapshot {
    progress.nextPoll = .now + options.pollInterval
    if let room = progress.layout.room, MonotonicInstant.now >= progress.nextRoomCheck {
      guard try await store.get(room) != nil else { throw .notFound("The room") }
      progress.nextRoomCheck = .now + options.roomInterval
    }
    return try await snapshot(for: progress.layout)
  }

  private func apply(_ snapshot: Snapshot, _ progress: inout Progress) async throws(FirestoreError) {
    let actions = progress.layout.polled(snapshot, now: .now)
    await perform(actions, &progress)
    try await carryOut(&progress)
  }

  private func takeMessages(_ progress: inout Progress) async {
    let messages = outbox.withLock { box in
      defer { box.waiting = [] }
      return box.waiting
    }
    for (message, participant) in messages {
      let actions = progress.layout.send(message, to: participant, now: .now)
      await perform(actions, &progress)
    }
  }

  private func perform(_ actions: [LayoutAction], _ progress: inout Progress) async {
    for action in actions {
      switch action {
      case .event(let event): await inbox.deliver(event)
      case .change(let change): progress.changes.append(change)
      case .ignored(let reason): log.ignored(reason)
      }
    }
  }

  /// Carries out the changes in order. One that fails stays, and is tried again.
  private func carryOut(_ progress: inout Progress) async throws(FirestoreError) {
    while let change = progress.changes.first {
      let done: FirestoreJoiner.Cleared
      do throws(FirestoreError) {
        done = try await store.carryOut(change, of: progress.layout)
      } catch {
        guard case .occupied = error, let successor = progress.layout.successor else { throw error }
        return try await replaceLayout(by: successor, &progress)
      }
      progress.changes.removeFirst()
      let actions = progress.layout.completed(
        change, serverTime: done.serverTime, removedAny: done.removedAny, now: .now)
      await perform(actions, &progress)
    }
  }

  /// Becomes the guest of a room whose host another program is.
  private func replaceLayout(
    by successor: any SignallingLayout, _ progress: inout Progress
  ) async throws(FirestoreError) {
    let cleared = try await store.clear(successor)
    log.note("Another program is the host of the room; we are its guest.")
    progress.changes = []
    if case .joined(_, let others) = progress.layout.rejoined() {
      for other in others { await inbox.deliver(.participantLeft(other.id, isRejoinVerified: false)) }
    }
    progress.layout = successor
    let actions = progress.layout.started(
      serverTime: cleared.serverTime, removedAny: cleared.removedAny, now: .now)
    await perform(actions, &progress)
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

  /// Waits for the next poll, or until there is something to do before it.
  private func pause(until time: MonotonicInstant) async {
    let sleeper = Task { _ = try? await Task.sleep(until: time.instant, clock: .continuous) }
    let isNeeded = outbox.withLock { box in
      if box.isClosed || !box.waiting.isEmpty { return false }
      box.sleeper = sleeper
      return true
    }
    if !isNeeded { sleeper.cancel() }
    await sleeper.value
    outbox.withLock { $0.sleeper = nil }
  }
}
