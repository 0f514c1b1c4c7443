internal import CThreads
internal import Glibc

/// A value behind a lock, with a condition variable for threads that wait for its changes (pthread_cond_wait(3)). Only
/// for dedicated threads: a task or an event loop must not wait.
package final class Monitor<Value>: @unchecked Sendable {
  // Sendable: the value is only accessed under `mutex`, and the addresses of the mutex and the condition do not move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    cthreads_condition_init(condition)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Accesses the value, then wakes all waiting threads.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return body(&value)
  }

  /// Waits until `body` returns a value.
  ///
  /// - Parameters:
  ///   - timeout: the maximum time to wait; nil to wait indefinitely.
  ///   - body: called under the lock, first immediately and then after each change, until it returns a value.
  /// - Returns: nil on timeout.
  package func wait<Result>(atMost timeout: Duration? = nil, for body: (inout Value) -> Result?) -> Result? {
    let end = timeout.map { ContinuousClock.now + $0 }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) {
        pthread_cond_broadcast(condition)
        return result
      }
      guard let end else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      let left = end - .now
      if left <= .zero { return nil }
      // A wait of more than a minute is split into minutes.
      let (seconds, attoseconds) = min(left, .seconds(60)).components
      cthreads_wait(condition, mutex, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
  }
}
