internal import Glibc
internal import Media
internal import Synchronization

/// What a person asks of a recording by a signal or a key.
package enum PauseRequest: UInt8, Sendable, Hashable {
  /// SIGUSR1, or the key `p`.
  case pause
  /// SIGUSR2, or the key `r`.
  case resume

  /// The write end of the pipe that carries signals out of the handler, in which few functions are safe to call.
  private static let pipeEnd = Atomic<Int32>(-1)

  /// Returns the requests from now on. Only the first call of a process has an effect; later ones return an empty sequence.
  ///
  /// - Parameter hasKeys: whether keys of the terminal are read, too.
  package static func all(hasKeys: Bool) -> AsyncStream<PauseRequest> {
    let (requests, input) = AsyncStream.makeStream(of: PauseRequest.self, bufferingPolicy: .bufferingNewest(64))
    var ends: [Int32] = [-1, -1]
    guard pipeEnd.load(ordering: .sequentiallyConsistent) < 0, pipe(&ends) == 0 else {
      input.finish()
      return requests
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    let readingEnd = ends[0]
    DedicatedThread.start("pause requests") {
      var byte: UInt8 = 0
      while true {
        let count = read(readingEnd, &byte, 1)
        if count < 0 && errno == EINTR { continue }
        guard count == 1 else { return input.finish() }
        if let request = PauseRequest(rawValue: byte) { input.yield(request) }
      }
    }
    for number in [SIGUSR1, SIGUSR2] { signal(number) { PauseRequest.caught($0) } }
    if hasKeys {
      TerminalKeys.onPress { key in
        switch key {
        case UInt8(ascii: "p"): input.yield(.pause)
        case UInt8(ascii: "r"): input.yield(.resume)
        default: break
        }
      }
    }
    return requests
  }

  /// Handles a signal; all functions called here are safe in a signal handler (signal-safety(7)).
  private static func caught(_ number: Int32) {
    let error = errno
    var byte = (number == SIGUSR1 ? PauseRequest.pause : .resume).rawValue
    _ = write(pipeEnd.load(ordering: .relaxed), &byte, 1)
    errno = error
  }
}
