internal import Glibc
internal import Media
internal import Synchronization

/// A thread that waits for data on any of some sockets while nothing else polls them.
///
/// A SwiftNIO event loop cannot wait for a socket that it does not read itself.
final class IdleWaiter: Sendable {
  private struct State {
    var descriptors: [Int32] = []
    var isStopped = false
  }

  private let state = Mutex(State())
  /// A pipe that signals a change of the state.
  private let wakeup: (readEnd: Int32, writeEnd: Int32)
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
    if wakeup.readEnd >= 0 { close(wakeup.readEnd) }
    if wakeup.writeEnd >= 0 { close(wakeup.writeEnd) }
  }

  /// Replaces the sockets to wait for; none if `descriptors` is empty.
  func wait(for descriptors: [Int32]) {
    state.withLock { $0.descriptors = descriptors }
    wake()
  }

  /// Ends the thread.
  func stop() {
    state.withLock { $0.isStopped = true }
    wake()
  }

  private func wake() {
    // A full pipe signals already.
    var byte: UInt8 = 1
    _ = write(wakeup.writeEnd, &byte, 1)
  }

  private func work() {
    var watched = [pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0)]
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
        while read(wakeup.readEnd, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
        let state = state.withLock { $0 }
        if state.isStopped { return }
        watched[1...] = state.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }[...]
      } else if count > 0 {
        watched.removeSubrange(1...)
        found()
      }
    }
  }
}
