import FileSource

/// All frames of all recordings in the order of their times; only one frame of each track is in memory.
struct InspectionFeed {
  /// A frame and the peer that sent it.
  struct Item {
    /// The index of the peer.
    var peer: Int
    /// On the inspection's timeline, in units of `FileTime.rate`.
    var time: Int64
    var frame: RecordedFrame
  }

  /// A track that could not be read to its end.
  struct Failure: Error {
    var peer: Int
    var reason: MediaFile.ReadError
  }

  private struct Line {
    let peer: Int
    let track: RecordedTrack
    let offset: Int64
    var next: RecordedFrame?
    var hasEnded = false

    var time: Int64 { offset + (next?.time ?? 0) }
  }

  private var lines: [Line]

  init(_ peers: [InspectedPeer]) {
    lines = peers.enumerated().flatMap { index, peer in
      peer.tracks.map { Line(peer: index, track: $0, offset: peer.offset) }
    }
  }

  /// Returns the next frame, or nil at the end. After an error the other tracks continue.
  mutating func next() throws(Failure) -> Item? {
    for index in lines.indices where lines[index].next == nil && !lines[index].hasEnded {
      do throws(MediaFile.ReadError) {
        lines[index].next = try lines[index].track.next()
        lines[index].hasEnded = lines[index].next == nil
      } catch {
        lines[index].hasEnded = true
        throw Failure(peer: lines[index].peer, reason: error)
      }
    }
    // At equal times audio goes first, because it is decoded faster.
    guard let first = lines.indices.filter({ lines[$0].next != nil }).min(by: { lines[$0].time < lines[$1].time }),
      let frame = lines[first].next
    else { return nil }
    defer { lines[first].next = nil }
    return Item(peer: lines[first].peer, time: lines[first].time, frame: frame)
  }

  /// The end of the peer's frames read so far in units of `FileTime.rate`, or nil if none was read.
  func end(of peer: Int) -> Int64? {
    lines.compactMap { line in line.peer == peer ? line.track.end.map { line.offset + $0 } : nil }.max()
  }
}
