import Glibc

/// Stands in for `Synchronization.Mutex` in what the thread sanitizer looks at.
///
/// The sanitizer does not see that type lock, and takes what two threads do under it for a data race. It knows the mutex of pthreads.
/// `scripts/sanitize.sh` puts this file into a copy of each module that uses a mutex: a module's own type comes before an imported
/// one of the same name.
final class Mutex<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
