internal import Synchronization

/// Runs one thing at a time for each key; the others wait, in the order in which they came.
final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
  /// Those that wait for a key that is in use.
  private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

  func run<Result: Sendable>(_ key: Key, _ body: @Sendable () async throws -> Result) async throws -> Result {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isFree = waiting.withLock { waiting in
        guard waiting[key] != nil else {
          waiting[key] = []
          return true
        }
        waiting[key]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer {
      let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
        guard waiting[key]?.isEmpty == false else {
          waiting[key] = nil
          return nil
        }
        return waiting[key]?.removeFirst()
      }
      next?.resume()
    }
    return try await body()
  }
}
