internal import Glibc
internal import Media
internal import Synchronization

/// Calls a function when the size of the terminal has changed (SIGWINCH).
package enum TerminalSize {
  /// The write end of the pipe that carries the signal out of the handler, in which few functions are safe to call.
  private static let pipeEnd = Atomic<Int32>(-1)

  /// Calls the function after each change from now on, on a thread. Only the first call has an effect.
  package static func onChange(_ body: @escaping @Sendable () -> Void) {
    guard pipeEnd.load(ordering: .sequentiallyConsistent) < 0 else { return }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    let readingEnd = ends[0]
    DedicatedThread.start("terminal size") {
      var bytes: [UInt8] = Array(repeating: 0, count: 256)
      while true {
        let count = read(readingEnd, &bytes, bytes.count)
        if count > 0 { body() } else if count == 0 || errno != EINTR { return }
      }
    }
    signal(SIGWINCH) { _ in
      let error = errno
      var byte: UInt8 = 0
      _ = write(TerminalSize.pipeEnd.load(ordering: .relaxed), &byte, 1)
      errno = error
    }
  }
}
