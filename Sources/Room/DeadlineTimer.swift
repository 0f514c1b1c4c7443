internal import Media
internal import Synchronization

/// Calls a function when a deadline is reached. Setting another one replaces it.
final class DeadlineTimer: Sendable {
  private let reached: @Sendable () async -> Void
  private let waiting = Mutex<(deadline: MonotonicInstant, task: Task<Void, Never>)?>(nil)

  init(_ reached: @escaping @Sendable () async -> Void) {
    self.reached = reached
  }

  func set(_ deadline: MonotonicInstant?) {
    waiting.withLock { waiting in
      if waiting?.deadline == deadline { return }
      waiting?.task.cancel()
      waiting = deadline.map { deadline in
        let task = Task { [reached] in
          do { try await Task.sleep(for: max(.zero, deadline - .now)) } catch { return }
          await reached()
        }
        return (deadline, task)
      }
    }
  }

  deinit { waiting.withLock { $0?.task.cancel() } }
}
