internal import Synchronization

/// Whether a store writes an object only if there is none (`If-None-Match: *`), as far as it is known.
final class ConditionalWrites: Sendable {
  enum Support: Sendable, Hashable { case unknown, supported, unsupported }

  enum Operation: Sendable, Hashable { case put, complete }

  private let known = Mutex<[Operation: Support]>([:])

  subscript(operation: Operation) -> Support { known.withLock { $0[operation] ?? .unknown } }

  func set(_ support: Support, for operation: Operation) { known.withLock { $0[operation] = support } }
}
