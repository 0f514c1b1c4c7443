public import Media

/// How a recording stands while it grows.
public struct RecordingStatus: Sendable, Hashable {
  public let participant: ParticipantID
  /// The paths of the media files so far.
  public let files: [String]
  /// Bytes written.
  public let bytes: Int64
  /// From the first frame to the end of the last one whose place is settled.
  public let duration: Duration
  /// Frames whose places are settled, by track: they are written, or on their way.
  public let frames: [MediaKind: UInt64]
  /// Frames that did not decode; nil when verification is off.
  public let decodeErrors: UInt64?
  /// Whether the disk takes nothing of it at the moment.
  public let isStalled: Bool
  /// What went wrong, one sentence each.
  public let problems: [String]
}
