import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks for an orderly end, the second quits at once. Before there is anything to end in order,
/// the first does too.
struct Interruption: Sendable {
  private let signals: AsyncStream<Int32>

  /// The exit code of a program that a second signal ended, as shells give it: 128 and the signal's number.
  private static func code(of signal: Int32) -> Int32 { 128 + signal }

  /// The writing end of the pipe that carries signals out of the handler, where almost nothing may be called.
  private static let pipeEnd = Atomic<Int32>(-1)
  private static let isOrderly = Atomic<Bool>(false)

  init() {
    var ends: [Int32] = [-1, -1]
    let (signals, input) = AsyncStream.makeStream(of: Int32.self)
    self.signals = signals
    guard pipe(&ends) == 0 else { return }
    Self.pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(Interruption.pipeEnd.load(ordering: .relaxed), &byte, 1)
      }
    }
    let readingEnd = ends[0]
    let watcher = Thread(readingEnd: readingEnd, input: input)
    watcher.start()
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
      var count = 0
      var byte: UInt8 = 0
      while true {
        let result = read(readingEnd, &byte, 1)
        if result < 0 && errno == EINTR { continue }
        guard result == 1 else { return }
        count += 1
        if count == 2 || !Interruption.isOrderly.load(ordering: .sequentiallyConsistent) {
          _exit(Interruption.code(of: Int32(byte)))
        }
        input.yield(Int32(byte))
      }
    }

    private final class Box {
      let thread: Thread
      init(_ thread: Thread) { self.thread = thread }
    }
  }
}
