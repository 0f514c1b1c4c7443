public import Media

/// What a finished recording left behind.
public struct RecordingSummary: Sendable, Hashable {
  public let participant: ParticipantID
  /// The folder, as it was given to the recorder.
  public let folder: String
  /// The files' common name, without ending.
  public let base: String
  /// What the manifest says.
  public let manifest: RecordingManifest

  /// The paths of the media files and then of the manifest.
  public var paths: [String] {
    let stem = folder.hasSuffix("/") ? folder : folder + "/"
    return manifest.files.map { stem + $0.name } + ["\(stem)\(base).json"]
  }

  /// The track of a kind, if there was one.
  public func track(_ kind: MediaKind) -> RecordingManifest.Track? {
    manifest.tracks.first { $0.kind == kind.rawValue }
  }
}
