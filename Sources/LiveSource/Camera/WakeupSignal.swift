import Glibc

/// Lets a thread sleep until a deadline or until it is signalled.
///
/// A signal while no thread sleeps is kept for the next sleep. The wait uses the monotonic clock, so that setting the
/// wall clock neither ends nor extends it.
final class WakeupSignal: @unchecked Sendable {
  // Sendable: the members are only accessed under `mutex`, and their addresses do not move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSignalled = false

  init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func signal() {
    pthread_mutex_lock(mutex)
    isSignalled = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Sleeps until the deadline; returns early when signalled.
  func sleep(until deadline: ContinuousClock.Instant) {
    // `ContinuousClock` also counts the time that the machine is suspended, CLOCK_MONOTONIC does not, so the remaining
    // time is converted for each sleep.
    let (seconds, attoseconds) = (deadline - .now).components
    guard seconds > 0 || attoseconds > 0 else { return consume() }
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    end.tv_sec += Int(clamping: min(seconds, 86_400))
    end.tv_nsec += Int(attoseconds / 1_000_000_000)
    if end.tv_nsec >= 1_000_000_000 {
      end.tv_nsec -= 1_000_000_000
      end.tv_sec += 1
    }
    pthread_mutex_lock(mutex)
    while !isSignalled {
      if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { break }
    }
    isSignalled = false
    pthread_mutex_unlock(mutex)
  }

  private func consume() {
    pthread_mutex_lock(mutex)
    isSignalled = false
    pthread_mutex_unlock(mutex)
  }
}
