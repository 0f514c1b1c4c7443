internal import FoundationEssentials
internal import JobProtocol
internal import NIOCore

/// The parts of a snapshot that have come.
struct PendingSnapshot {
  let promise: EventLoopPromise<[UInt8]>
  private var bytes: [UInt8] = []
  private var next = 0

  /// The maximum size of a snapshot in bytes.
  private static let maximumBytes = 1 << 20

  init(_ promise: EventLoopPromise<[UInt8]>) { self.promise = promise }

  /// Takes a part.
  ///
  /// - Returns: whether the snapshot is complete or cannot be: the promise is kept then.
  mutating func add(_ part: ControlAnswer.SnapshotPart) -> Bool {
    guard part.part == next, part.parts > part.part, bytes.count + part.png.count <= Self.maximumBytes else {
      promise.fail(SnapshotProblem.noFrame("The process of the job sent a broken snapshot."))
      return true
    }
    bytes.append(contentsOf: part.png)
    next += 1
    guard next == part.parts else { return false }
    promise.succeed(bytes)
    return true
  }
}
