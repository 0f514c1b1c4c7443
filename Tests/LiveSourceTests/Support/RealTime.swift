import TestSupport
import Testing

@testable import FileSource

/// Tests in real time, one after the other.
@Suite("in real time", .serialized, .realTime)
enum RealTime {}

/// A thread for them alone: the other tests block the threads that all tasks share, so that a task in real time would
/// find its frames long after they were due.
@globalActor
actor OwnThread {
  static let shared = OwnThread()
  private let thread = ReadingThread(name: "tests in real time")

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}
