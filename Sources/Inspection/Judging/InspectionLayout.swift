import FileSource
import Media
import Recorder

/// Aligns recordings on one timeline as they were made.
///
/// Recordings of one room that overlap in time are one call and are aligned by the wall clocks of their manifests; those of one
/// process by its monotonic clock, so that a wall clock that was set does not shift them. Each other call, and each file with unknown
/// time, begins at zero: hours without a recording would not be informative.
package struct InspectionLayout: Sendable {
  /// A recording of the same room that begins later than this after the end of the last one belongs to another call: 10
  /// min.
  package static let pause: Int64 = 600_000

  /// One recording: its room, its start and its length, in milliseconds.
  package struct Span: Sendable, Hashable {
    var room: String
    var began: Int64?
    var length: Int64
    /// When it began in the process that recorded it; nil if that is not known.
    var session: Session?

    package init(room: String, began: Int64?, length: Int64, session: Session? = nil) {
      (self.room, self.began, self.length, self.session) = (room, began, length, session)
    }
  }

  /// The process that recorded, and milliseconds since its beginning by its monotonic clock.
  package struct Session: Sendable, Hashable {
    package var id: String
    package var offset: Int64

    package init(id: String, offset: Int64) {
      (self.id, self.offset) = (id, offset)
    }
  }

  /// The offset of each recording's time zero from the start of the inspection, in milliseconds.
  package let offsets: [Int64]
  /// The recordings of each call, by their index, in order of their starts; the calls in order of their starts. Recordings with
  /// unknown time belong to no call.
  package let groups: [Call]
  /// The start of the first call in milliseconds since 1970, or nil if unknown.
  var start: Int64? { groups.first?.start }
  /// The number of calls; files that belong to no call are not counted.
  var calls: Int { groups.count }

  /// The recordings of a call.
  package struct Call: Sendable, Hashable {
    package var room: String
    /// In milliseconds since 1970.
    package var start: Int64
    package var recordings: [Int]
  }

  package init(_ spans: [Span]) {
    let spans = Self.withoutClockChanges(spans)
    var offsets = [Int64](repeating: 0, count: spans.count)
    var groups: [Call] = []
    let rooms = Dictionary(grouping: spans.indices.filter { spans[$0].began != nil }) { spans[$0].room }
    for (room, indices) in rooms {
      let inOrder = indices.map { (index: $0, began: spans[$0].began ?? 0) }
        .sorted { ($0.began, $0.index) < ($1.began, $1.index) }
      var start = inOrder.first?.began ?? 0
      var end = start
      groups.append(Call(room: room, start: start, recordings: []))
      for (index, began) in inOrder {
        if began > end + Self.pause {
          start = began
          groups.append(Call(room: room, start: start, recordings: []))
        }
        offsets[index] = began - start
        groups[groups.count - 1].recordings.append(index)
        end = max(end, began + max(0, spans[index].length))
      }
    }
    self.offsets = offsets
    self.groups = groups.sorted { ($0.start, $0.recordings.first ?? 0) < ($1.start, $1.recordings.first ?? 0) }
  }

  /// Aligns recordings: sets the offset of each.
  init(aligning recordings: inout [InspectedRecording]) {
    let units = Int64(MediaTimebase.rate / 1_000)
    self.init(
      recordings.map { recording in
        .init(
          room: recording.manifest?.room ?? "", began: recording.began, length: recording.estimatedEnd / units,
          session: recording.session)
      })
    for index in recordings.indices { recordings[index].offset = offsets[index] * units }
  }

  /// Returns the recordings with the start of each as the wall clock would have shown it if it had not been set since the
  /// first recording of the same process.
  private static func withoutClockChanges(_ spans: [Span]) -> [Span] {
    var zeros: [String: (offset: Int64, began: Int64)] = [:]
    for span in spans {
      guard let began = span.began, let session = span.session else { continue }
      if zeros[session.id].map({ session.offset < $0.offset }) ?? true {
        zeros[session.id] = (session.offset, began)
      }
    }
    return spans.map { span in
      guard let session = span.session, let zero = zeros[session.id] else { return span }
      var span = span
      if span.began != nil { span.began = zero.began + session.offset - zero.offset }
      return span
    }
  }
}
