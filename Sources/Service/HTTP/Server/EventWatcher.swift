import SQLStore

/// Tells streams of events that there are new ones: a few questions to the database each second for all of them, and none while
/// nobody listens. Where the database announces events, they are asked for at once.
actor EventWatcher {
  private let store: JobStore
  private let interval: Duration
  private var isListening = false
  private var last: Int64 = -1
  private var subscribers: [UInt64: AsyncStream<Int64>.Continuation] = [:]
  private var nextNumber: UInt64 = 0
  private var polling: Task<Void, Never>?
  private var announcing: AsyncStream<Void>.Continuation?

  /// How long after a question the next one comes at least, however many events are announced.
  private static let pause = Duration.milliseconds(50)

  init(store: JobStore) {
    self.store = store
    // A database that other nodes use gets fewer questions.
    interval = store.connection.dialect == .sqlite ? .milliseconds(200) : .milliseconds(500)
  }

  /// Returns the ids of the newest event of all projects, beginning with that of now. A slow reader gets only the last one.
  func subscribe() -> AsyncStream<Int64> {
    let (stream, continuation) = AsyncStream<Int64>.makeStream(bufferingPolicy: .bufferingNewest(1))
    nextNumber += 1
    let number = nextNumber
    subscribers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.remove(number) } }
    if !isListening {
      isListening = true
      store.connection.changes { [weak self] topic in
        if topic == .events { Task { await self?.announced() } }
      }
    }
    // The first reading of the loop is news to everybody.
    last = -1
    polling?.cancel()
    polling = Task { await self.poll() }
    return stream
  }

  private func remove(_ number: UInt64) {
    subscribers[number] = nil
    guard subscribers.isEmpty else { return }
    polling?.cancel()
    polling = nil
  }

  private func announced() { announcing?.yield() }

  private func poll() async {
    let (news, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    announcing = continuation
    let timer = Task { [interval] in
      while !Task.isCancelled {
        continuation.yield()
        try await ServiceTimer.sleep(for: interval)
      }
    }
    defer { timer.cancel() }
    for await _ in news {
      await look()
      do { try await ServiceTimer.sleep(for: Self.pause) } catch { return }
    }
  }

  private func look() async {
    // An error is noticed by the streams themselves, which ask for their events.
    guard !subscribers.isEmpty, let newest = try? await store.newestEvent(), newest != last else { return }
    last = newest
    for subscriber in subscribers.values { subscriber.yield(newest) }
  }
}
