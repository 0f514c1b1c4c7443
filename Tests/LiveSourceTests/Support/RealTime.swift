import FileSource
import TestSupport
import Testing

/// Tests in real time, which run one after the other.
@Suite("In real time", .serialized, .realTime)
enum RealTime {}

/// A dedicated thread for these tests: other tests block the threads that all tasks share, so a task in real time would
/// receive its frames long after they were due.
@globalActor
actor OwnThread {
  static let shared = OwnThread()
  private let thread = ReadingThread(name: "tests in real time")

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}
