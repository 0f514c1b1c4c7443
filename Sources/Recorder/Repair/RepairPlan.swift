import NIOCore

/// What makes a file whole that was never closed.
struct RepairPlan: Sendable, Hashable {
  /// Where the last frame ends that is there as a whole: the file is cut off behind it.
  var truncation: Int64
  /// What is written first. It has to lie on the disk before `head` is written.
  var body: [FileWrite] = []
  /// What says that the file is whole.
  var head: [FileWrite] = []
  /// How long the file plays then.
  var duration: Duration

  /// The file's size then.
  var size: Int64 {
    (body + head).reduce(truncation) { max($0, $1.offset + Int64($1.bytes.readableBytes)) }
  }
}

/// What was found out about a file.
enum RepairFinding: Sendable, Hashable {
  /// It was closed in good order.
  case whole(Duration)
  case mendable(RepairPlan)
  /// It is left alone, for a reason that completes “FILE …”.
  case refused(String)
}
