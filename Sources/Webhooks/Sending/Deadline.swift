internal import Media
internal import NIOPosix
internal import Synchronization

/// Work that is left alone when its time is over.
enum Deadline {
  /// Returns what `body` returns; nil if that is not known at the deadline, or if the caller is cancelled. `body` is cancelled then, and not
  /// waited for.
  static func run<Result: Sendable>(
    until deadline: MonotonicInstant, _ body: @escaping @Sendable () async -> Result
  ) async -> Result? {
    let end = End<Result>()
    let work = Task { end.finish(await body()) }
    let timer = Task {
      // The timer of `Task.sleep` has failed on busy machines.
      try? await MultiThreadedEventLoopGroup.singleton.any().sleep(for: max(.zero, deadline - .now))
      end.finish(nil)
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { end.wait($0) }
    } onCancel: {
      end.finish(nil)
    }
    timer.cancel()
    work.cancel()
    return result
  }

  /// The first of two results, for one continuation.
  private final class End<Result: Sendable>: Sendable {
    private enum State {
      case open
      case waiting(CheckedContinuation<Result?, Never>)
      case finished(Result?)
      case over
    }

    private let state = Mutex(State.open)

    func wait(_ continuation: CheckedContinuation<Result?, Never>) {
      let known = state.withLock { state -> Result?? in
        guard case .finished(let result) = state else {
          state = .waiting(continuation)
          return .none
        }
        state = .over
        return .some(result)
      }
      if let known { continuation.resume(returning: known) }
    }

    func finish(_ result: Result?) {
      let waiting = state.withLock { state -> CheckedContinuation<Result?, Never>? in
        switch state {
        case .open:
          state = .finished(result)
          return nil
        case .waiting(let continuation):
          state = .over
          return continuation
        case .finished, .over: return nil
        }
      }
      waiting?.resume(returning: result)
    }
  }
}

/// Something that happened, or has not yet.
final class Flag: Sendable {
  private let state = Mutex(false)

  var isRaised: Bool { state.withLock { $0 } }

  func raise() { state.withLock { $0 = true } }
}
