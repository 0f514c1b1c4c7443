import FileSource

/// All frames of all recordings in the order of their times; only one frame of each track is in memory.
struct InspectionFeed {
  /// A frame and the recording that it is from.
  struct Item {
    /// The index of the recording.
    var recording: Int
    /// On the inspection's timeline, in units of `MediaTimebase.rate`.
    var time: Int64
    var frame: RecordedFrame
  }

  /// A track that could not be read to its end.
  struct Failure: Error {
    var recording: Int
    var reason: MediaFile.ReadError
  }

  private struct TrackCursor {
    let recording: Int
    let reader: RecordedTrackReader
    let offset: Int64
    var next: RecordedFrame?
    var hasEnded = false

    var time: Int64 { offset + (next?.time ?? 0) }
  }

  private var cursors: [TrackCursor]

  init(_ recordings: [InspectedRecording]) {
    cursors = recordings.enumerated().flatMap { index, recording in
      recording.tracks.map { TrackCursor(recording: index, reader: RecordedTrackReader($0), offset: recording.offset) }
    }
  }

  /// Returns the next frame, or nil at the end. After an error the other tracks continue.
  mutating func next() throws(Failure) -> Item? {
    for index in cursors.indices where cursors[index].next == nil && !cursors[index].hasEnded {
      do throws(MediaFile.ReadError) {
        cursors[index].next = try cursors[index].reader.next()
        cursors[index].hasEnded = cursors[index].next == nil
      } catch {
        cursors[index].hasEnded = true
        throw Failure(recording: cursors[index].recording, reason: error)
      }
    }
    // At equal times audio goes first, because it is decoded faster.
    let ready = cursors.indices.filter { cursors[$0].next != nil }
    guard let first = ready.min(by: { cursors[$0].time < cursors[$1].time }),
      let frame = cursors[first].next
    else { return nil }
    defer { cursors[first].next = nil }
    return Item(recording: cursors[first].recording, time: cursors[first].time, frame: frame)
  }

  /// The end of the recording's frames read so far in units of `MediaTimebase.rate`, or nil if none was read.
  func end(of recording: Int) -> Int64? {
    cursors.compactMap { cursor in cursor.recording == recording ? cursor.reader.end.map { cursor.offset + $0 } : nil }
      .max()
  }
}
