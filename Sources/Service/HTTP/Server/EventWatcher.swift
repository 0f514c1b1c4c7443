import SQLStore

/// Tells streams of events that there are new ones: one question to the database every 200 ms for all of them, and none while nobody
/// listens.
actor EventWatcher {
  private static let interval = Duration.milliseconds(200)

  private let store: JobStore
  private var subscribers: [UInt64: AsyncStream<Int64>.Continuation] = [:]
  private var nextNumber: UInt64 = 0
  private var polling: Task<Void, Never>?

  init(store: JobStore) {
    self.store = store
  }

  /// Returns the ids of the newest event of all projects, beginning with that of now. A slow reader gets only the last one.
  func subscribe() -> AsyncStream<Int64> {
    let (stream, continuation) = AsyncStream<Int64>.makeStream(bufferingPolicy: .bufferingNewest(1))
    nextNumber += 1
    let number = nextNumber
    subscribers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.remove(number) } }
    // The first reading of the loop is news to everybody.
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

  private func poll() async {
    var last: Int64 = -1
    while !Task.isCancelled {
      // An error is noticed by the streams themselves, which ask for their events.
      if let newest = try? await store.newestEvent(), newest != last {
        last = newest
        for subscriber in subscribers.values { subscriber.yield(newest) }
      }
      try? await ServiceTimer.sleep(for: Self.interval)
    }
  }
}
