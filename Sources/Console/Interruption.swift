internal import Glibc
internal import Media
internal import Synchronization

/// Handles SIGINT, SIGTERM and SIGHUP: the first signal requests an orderly end, the second exits at once. Before there
/// is anything to finish, the first one exits at once too.
///
/// The same signal within half a second of the first is not a second one: `timeout` signals a program and then its whole
/// process group, and so does a terminal that is closed.
package struct Interruption: Sendable {
  private let signals: AsyncStream<Int32>

  /// The exit code of a program that a signal ended, as in shells: 128 plus the signal's number.
  private static func code(of signal: Int32) -> Int32 { 128 + signal }

  /// The interval in which the same signal is treated as a repetition of the first, in milliseconds.
  static let duplicateSignalWindow: Int64 = 500

  /// The write end of the pipe that carries the first signal out of the handler, in which few functions are safe to call.
  private static let pipeEnd = Atomic<Int32>(-1)
  /// The first signal: its time in milliseconds of the monotonic clock, with its number in the lowest byte; 0 before the
  /// first signal.
  private static let noted = Atomic<Int64>(0)
  private static let isOrderly = Atomic<Bool>(false)

  package init() {
    var ends: [Int32] = [-1, -1]
    let (signals, input) = AsyncStream.makeStream(of: Int32.self)
    self.signals = signals
    guard pipe(&ends) == 0 else { return }
    Self.noted.store(0, ordering: .sequentiallyConsistent)
    Self.pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      signal(number) { Interruption.caught($0) }
    }
    let readingEnd = ends[0]
    DedicatedThread.start("signals") { Self.watch(readingEnd, input) }
  }

  /// Whether the parent process wants the program to outlive this signal, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard number == SIGHUP, sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is the address 1, a macro that Swift cannot see.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Makes the first signal request an orderly end from now on.
  package func beginOrderly() {
    Self.isOrderly.store(true, ordering: .sequentiallyConsistent)
  }

  /// Waits for the first signal.
  ///
  /// - Returns: its number; nil if the task was cancelled.
  @discardableResult
  package func first() async -> Int32? {
    for await signal in signals { return signal }
    return nil
  }

  /// The exit code of a program that ends because of a signal, as in shells: 128 plus the signal's number.
  package static func exitCode(of signal: Int32) -> Int32 { code(of: signal) }

  /// Handles a signal. A second signal exits here, because the orderly end may finish before another thread runs. All
  /// functions called here are safe in a signal handler (signal-safety(7)).
  private static func caught(_ number: Int32) {
    let error = errno
    defer { errno = error }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    let note = now << 8 | Int64(number)
    let (isFirst, before) = noted.compareExchange(expected: 0, desired: note, ordering: .sequentiallyConsistent)
    guard isFirst else {
      if before & 0xFF == Int64(number), now - (before >> 8) < duplicateSignalWindow { return }
      exit(by: number)
    }
    guard isOrderly.load(ordering: .sequentiallyConsistent) else { exit(by: number) }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(pipeEnd.load(ordering: .relaxed), &byte, 1)
  }

  private static func exit(by signal: Int32) -> Never {
    TerminalKeys.restore()
    _exit(code(of: signal))
  }

  /// Forwards the first signal from the pipe to the stream.
  private static func watch(_ readingEnd: Int32, _ input: AsyncStream<Int32>.Continuation) {
    var byte: UInt8 = 0
    while true {
      let result = read(readingEnd, &byte, 1)
      if result < 0 && errno == EINTR { continue }
      guard result == 1 else { return }
      input.yield(Int32(byte))
    }
  }
}
