internal import Glibc
internal import Media
internal import Synchronization

/// A thread that waits for data on any of some sockets while nothing else polls them.
///
/// A SwiftNIO event loop cannot wait for a socket that it does not read itself.
final class IdleWaiter: Sendable {
  private struct Orders {
    var descriptors: [Int32] = []
    var isDismissed = false
  }

  private let orders = Mutex(Orders())
  /// A pipe that signals new orders.
  private let wakeup: (end: Int32, button: Int32)
  private let found: @Sendable () -> Void

  /// - Parameter found: called on the thread when data arrives, once for each ``wait(for:)``.
  /// - Returns: nil if the system provides no pipe or no thread.
  init?(found: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    let isOpen = pipe(&ends) == 0
    wakeup = (ends[0], ends[1])
    self.found = found
    guard isOpen else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    guard DedicatedThread.start("socket poller", { self.work() }) else { return nil }
  }

  deinit {
    if wakeup.end >= 0 { close(wakeup.end) }
    if wakeup.button >= 0 { close(wakeup.button) }
  }

  /// Replaces the sockets to wait for; none if `descriptors` is empty.
  func wait(for descriptors: [Int32]) {
    orders.withLock { $0.descriptors = descriptors }
    rouse()
  }

  /// Ends the thread.
  func dismiss() {
    orders.withLock { $0.isDismissed = true }
    rouse()
  }

  private func rouse() {
    // A full pipe signals already.
    var byte: UInt8 = 1
    _ = write(wakeup.button, &byte, 1)
  }

  private func work() {
    var watched = [pollfd(fd: wakeup.end, events: Int16(POLLIN), revents: 0)]
    while true {
      let count = poll(&watched, nfds_t(watched.count), -1)
      if count < 0 {
        // The system is out of memory: poll periodically instead.
        if errno != EINTR {
          usleep(100_000)
          found()
        }
        continue
      }
      if watched[0].revents != 0 {
        var bytes: UInt64 = 0
        while read(wakeup.end, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
        let orders = orders.withLock { $0 }
        if orders.isDismissed { return }
        watched[1...] = orders.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }[...]
      } else if count > 0 {
        watched.removeSubrange(1...)
        found()
      }
    }
  }
}
