import FileSource
import Media
import Recorder

/// One track of a recording, with the parts of it that the files contain.
struct RecordedTrack: Sendable {
  /// The part of a track in one file.
  struct Piece: Sendable {
    var file: StoredFile
    var track: StoredTrack
    /// The container's time zero on the recording's timeline, in units of `MediaTimebase.rate`.
    var zero: Int64
  }

  let kind: MediaKind
  /// The parts in order.
  let pieces: [Piece]
  /// The gaps in the track's manifest entry; empty without a manifest.
  let gaps: [RecordingManifest.Gap]

  init(_ kind: MediaKind, pieces: [Piece], gaps: [RecordingManifest.Gap] = []) {
    self.kind = kind
    self.pieces = pieces
    self.gaps = gaps
  }

  /// Whether no file contains any of it.
  var isEmpty: Bool { pieces.isEmpty }

  /// The end as estimated when the files were opened, in units of `MediaTimebase.rate`; good enough to show progress.
  var estimatedEnd: Int64 { pieces.map { $0.zero + $0.track.end }.max() ?? 0 }
}
