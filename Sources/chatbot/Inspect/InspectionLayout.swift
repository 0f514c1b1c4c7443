import FileSource
import Media

/// Lays recordings side by side as they were made.
///
/// Those of one room that were made at one time are one call, and lie where their manifests' wall clocks say. Each other call, and each
/// file of which nobody knows when it was made, begins at zero: hours in which nothing was recorded would tell nothing.
struct InspectionLayout {
  /// A recording of the same room that begins so long after the last one has ended is of another call: 10 min.
  static let pause: Int64 = 600_000

  /// One recording: its room, when it began and how long it is, in milliseconds.
  struct Span: Sendable, Hashable {
    var room: String
    var began: Int64?
    var length: Int64
  }

  /// Milliseconds from the inspection's start to each recording's time zero.
  let offsets: [Int64]
  /// How many calls they are; files that belong to none are skipped.
  let calls: Int
  /// When the first call began, in milliseconds since 1970; nil when nobody knows.
  let start: Int64?

  init(_ spans: [Span]) {
    var offsets = [Int64](repeating: 0, count: spans.count)
    var starts: [Int64] = []
    let rooms = Dictionary(grouping: spans.indices.filter { spans[$0].began != nil }) { spans[$0].room }
    for indices in rooms.values {
      let inOrder = indices.map { (index: $0, began: spans[$0].began ?? 0) }
        .sorted { ($0.began, $0.index) < ($1.began, $1.index) }
      var start = inOrder.first?.began ?? 0
      var end = start
      starts.append(start)
      for (index, began) in inOrder {
        if began > end + Self.pause {
          start = began
          starts.append(start)
        }
        offsets[index] = began - start
        end = max(end, began + max(0, spans[index].length))
      }
    }
    self.offsets = offsets
    calls = starts.count
    start = starts.min()
  }
}
