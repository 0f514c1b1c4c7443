internal import Glibc

/// Threads for work that waits for a disk, a pipe or the kernel, or that takes long, so that nothing else waits with
/// it.
package enum DedicatedThread {
  /// Starts a detached thread, which ends when `body` returns.
  ///
  /// - Parameters:
  ///   - name: its first 15 bytes are shown, by `ps -T` for example (proc_pid_comm(5)).
  ///   - niceness: see ``setNiceness(_:)``; nil leaves it unchanged.
  /// - Returns: false if the system cannot create a thread.
  @discardableResult
  package static func start(
    _ name: String, niceness: Int32? = nil, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    let context = Unmanaged.passRetained(
      Body {
        setName(name)
        if let niceness { setNiceness(niceness) }
        body()
      })
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  /// Sets the priority of the calling thread only: on Linux, a process id of 0 means the calling thread
  /// (setpriority(2)).
  ///
  /// - Parameter niceness: from -20 (highest priority) to 19. Values below 0 need root or `RLIMIT_NICE`; without that
  ///   privilege nothing changes.
  package static func setNiceness(_ niceness: Int32) {
    let thread = __priority_which_t(PRIO_PROCESS.rawValue)
    if getpriority(thread, 0) != niceness { _ = setpriority(thread, 0, niceness) }
  }

  /// Does the same, unless the thread's priority is already that low.
  package static func lowerPriority(to niceness: Int32) {
    if getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) < niceness { setNiceness(niceness) }
  }

  private static func setName(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(file, bytes, bytes.count)
    close(file)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
