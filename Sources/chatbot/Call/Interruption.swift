import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second quits at once. Before there is anything to end in
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

  /// The writing end of the pipe that carries signals out of the handler, where almost nothing may be called.
  private static let pipeEnd = Atomic<Int32>(-1)
  private static let isOrderly = Atomic<Bool>(false)

  init() {
    var ends: [Int32] = [-1, -1]
    let (signals, input) = AsyncStream.makeStream(of: Int32.self)
    self.signals = signals
    guard pipe(&ends) == 0 else { return }
    Self.pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(Interruption.pipeEnd.load(ordering: .relaxed), &byte, 1)
      }
    }
    let readingEnd = ends[0]
    let watcher = Thread(readingEnd: readingEnd, input: input)
    watcher.start()
  }

  /// Whether whoever started the program wants it to outlive this signal, as `nohup` does.
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

  /// From now on the first signal asks for an orderly end.
  func beginOrderly() {
    Self.isOrderly.store(true, ordering: .sequentiallyConsistent)
  }

  /// Waits for the first signal.
  func first() async {
    for await _ in signals { return }
  }

  /// The thread that waits for the pipe; it lives as long as the program.
  private struct Thread: Sendable {
    let readingEnd: Int32
    let input: AsyncStream<Int32>.Continuation

    func start() {
      let context = Unmanaged.passRetained(Box(self))
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          Unmanaged<Box>.fromOpaque(context).takeRetainedValue().thread.watch()
          return nil
        }, context.toOpaque())
      pthread_detach(thread)
    }

    private func watch() {
      var first: (signal: UInt8, time: ContinuousClock.Instant)?
      var byte: UInt8 = 0
      while true {
        let result = read(readingEnd, &byte, 1)
        if result < 0 && errno == EINTR { continue }
        guard result == 1 else { return }
        let now = ContinuousClock.now
        if let first, first.signal == byte, now - first.time < .milliseconds(Interruption.echo) { continue }
        if first != nil || !Interruption.isOrderly.load(ordering: .sequentiallyConsistent) {
          _exit(Interruption.code(of: Int32(byte)))
        }
        first = (byte, now)
        input.yield(Int32(byte))
      }
    }

    private final class Box {
      let thread: Thread
      init(_ thread: Thread) { self.thread = thread }
    }
  }
}
