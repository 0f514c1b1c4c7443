package import NIOCore

extension EventLoop {
  /// Suspends a task for a time, or until it is cancelled.
  ///
  /// `Task.sleep` waits for a timer of Dispatch. On a machine whose host took half of its time, that timer has fired
  /// without ever being set again: nothing that slept in the whole process woke up.
  ///
  /// - Throws: when the task is cancelled or the event loop ends.
  package func sleep(for duration: Duration) async throws(CancellationError) {
    let timer = scheduleTask(in: TimeAmount(duration)) {}
    do {
      try await withTaskCancellationHandler {
        try await timer.futureResult.get()
      } onCancel: {
        timer.cancel()
      }
    } catch {
      throw CancellationError()
    }
  }
}
