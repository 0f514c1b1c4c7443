import Synchronization

/// How many bytes of messages wait for their reader.
final class WaitingBytes: Sendable {
  private let count = Atomic(0)

  /// Counts a message that has come.
  ///
  /// - Returns: the bytes that wait with it.
  func add(_ size: Int) -> Int { count.wrappingAdd(size, ordering: .relaxed).newValue }

  /// Counts a message that was read.
  func remove(_ size: Int) { count.wrappingSubtract(size, ordering: .relaxed) }
}
