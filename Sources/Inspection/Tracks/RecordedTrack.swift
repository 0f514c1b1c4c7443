package import FileSource
package import Media
package import Recorder

/// One track of a recording, with the parts of it that the files contain.
package struct RecordedTrack: Sendable {
  /// The part of a track in one file.
  package struct Piece: Sendable {
    package var file: StoredFile
    package var track: StoredTrack
    /// The container's time zero on the recording's timeline, in units of `MediaTimebase.rate`. For audio it is that of packets:
    /// what is heard is earlier by the codec's delay.
    package var zero: Int64
  }

  package let kind: MediaKind
  /// The parts in order.
  package let pieces: [Piece]
  /// The gaps in the track's manifest entry; empty without a manifest.
  package let gaps: [RecordingManifest.Gap]

  init(_ kind: MediaKind, pieces: [Piece], gaps: [RecordingManifest.Gap] = []) {
    self.kind = kind
    self.pieces = pieces
    self.gaps = gaps
  }

  /// Whether no file contains any of it.
  package var isEmpty: Bool { pieces.isEmpty }

  /// The end as estimated when the files were opened, in units of `MediaTimebase.rate`; good enough to show progress.
  package var estimatedEnd: Int64 { pieces.map { $0.zero + $0.track.end }.max() ?? 0 }
}
