internal import Media
internal import Synchronization

/// Runs what waits for a disk on a thread of its own.
package enum BlockingWork {
  /// Returns what `body` returns, or throws what it throws.
  ///
  /// - Parameters:
  ///   - name: the name of the thread.
  ///   - niceness: the thread's priority; nil leaves it unchanged.
  ///   - limit: how long the result is waited for. The thread goes on after that, and its result is dropped.
  /// - Throws: `ObjectStoreError` of the kind `timeout` when the limit has passed.
  package static func run<Result: Sendable>(
    _ name: String, niceness: Int32? = nil, within limit: Duration,
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
      let end = Once(continuation)
      let timer = Task {
        try await Task.sleep(for: limit)
        end.take()?.resume(
          throwing: ObjectStoreError(.timeout, "The disk gave no answer within \(limit.components.seconds) s."))
      }
      let isStarted = DedicatedThread.start(name, niceness: niceness) {
        let result = Swift.Result(catching: body)
        timer.cancel()
        end.take()?.resume(with: result)
      }
      if !isStarted {
        timer.cancel()
        end.take()?.resume(throwing: ObjectStoreError(.storage, "No thread can be started to write to the disk."))
      }
    }
  }
}

/// A value that is taken once, by the first caller.
private final class Once<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
