internal import Synchronization

/// Runs asynchronous work one after another, in the order of the calls.
final class SerialTasks: Sendable {
  private let last = Mutex<Task<Void, Never>?>(nil)

  func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
    let task = last.withLock { last in
      let before = last
      let task = Task {
        await before?.value
        return await body()
      }
      last = Task { _ = await task.value }
      return task
    }
    return await task.value
  }
}
