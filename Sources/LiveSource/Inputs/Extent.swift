/// How long an input goes on, in units of `FileTime.rate`.
enum Extent: Sendable, Hashable {
  /// From the first frame's beginning to the last one's end, on the input's own time line. It can be played again.
  case range(Range<Int64>)
  /// For ever, as a still picture does.
  case endless
  /// Until it ends, whenever that is, as a pipe does. It cannot be played again.
  case unknown
}
