import Media
import NIOPosix

/// The timer of all tasks of the service: that of an event loop. That of `Task.sleep` has failed on busy machines, for the whole process
/// (see `EventLoop.sleep(for:)`).
enum ServiceTimer {
  /// Suspends a task for a time, or until it is cancelled.
  ///
  /// - Throws: when the task is cancelled.
  static func sleep(for duration: Duration) async throws(CancellationError) {
    try await MultiThreadedEventLoopGroup.singleton.any().sleep(for: duration)
  }
}
