import Glibc
import Media
import Synchronization

/// SIGINT, SIGTERM and SIGHUP: the first requests an orderly end, the second quits at once. Before there is anything to end in
/// order, the first does too.
///
/// The same signal once more within half a second is no second one: `timeout` signals a program and then all of its group, and
/// a terminal that is closed does so too.
struct Interruption: Sendable {
  private let signals: AsyncStream<Int32>

  /// The exit code of a program that a second signal ended, as shells give it: 128 and the signal's number.
  private static func code(of signal: Int32) -> Int32 { 128 + signal }

  /// How long the same signal again counts as the one before, in milliseconds.
  static let echo: Int64 = 500

  /// The writing end of the pipe that carries the first signal out of the handler, where almost nothing may be called.
  private static let pipeEnd = Atomic<Int32>(-1)
  /// The first signal: its time in milliseconds of the monotonic clock, and in the lowest byte its number; 0 before there was one.
  private static let noted = Atomic<Int64>(0)
  private static let isOrderly = Atomic<Bool>(false)

  init() {
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

  /// Whether anyone who started the program wants it to outlive this signal, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard number == SIGHUP, sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is the address 1, a macro that Swift cannot see.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// One that no signal reaches: for a call whose end somebody else sees to.
  static var never: Interruption { Interruption(signals: AsyncStream { _ in }) }

  private init(signals: AsyncStream<Int32>) {
    self.signals = signals
  }

  /// From now on the first signal requests an orderly end.
  func beginOrderly() {
    Self.isOrderly.store(true, ordering: .sequentiallyConsistent)
  }

  /// Waits for the first signal.
  func first() async {
    for await _ in signals { return }
  }

  /// In the handler: a second signal quits here, because the end that the first one requested may be quicker than any thread. All
  /// that is called is safe in a signal handler (signal-safety(7)).
  private static func caught(_ number: Int32) {
    let error = errno
    defer { errno = error }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    let note = now << 8 | Int64(number)
    let (isFirst, before) = noted.compareExchange(expected: 0, desired: note, ordering: .sequentiallyConsistent)
    guard isFirst else {
      if before & 0xFF == Int64(number), now - (before >> 8) < echo { return }
      _exit(code(of: number))
    }
    guard isOrderly.load(ordering: .sequentiallyConsistent) else { _exit(code(of: number)) }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(pipeEnd.load(ordering: .relaxed), &byte, 1)
  }

  /// Waits for the first signal.
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
