import Glibc
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
  /// What the disk answered when the recording was left unfinished because of it; nil otherwise.
  public let obstacle: RoomRecorder.StorageError?

  /// The paths of the media files and then of the manifest.
  public var paths: [String] {
    let stem = folder.hasSuffix("/") ? folder : folder + "/"
    return manifest.files.map { stem + $0.name } + ["\(stem)\(base).json"]
  }

  /// Why the end of a track is in no file (`RecordingManifest.Track.unwritten`), as a clause.
  public var unwrittenReason: String {
    switch obstacle?.code {
    case nil: isOverloaded ? "this machine did not keep up" : "the disk did not keep up"
    case ENOSPC, EDQUOT: "the disk is full"
    case let code?: "the disk failed (\(strerror(code).map { String(cString: $0) } ?? "unknown error"))"
    }
  }

  private var isOverloaded: Bool {
    manifest.tracks.contains { track in
      track.unwrittenGap.map { track.gaps[$0].reason == MediaGap.Reason.overloaded.rawValue } ?? false
    }
  }

  /// The track of a kind, if there was one.
  public func track(_ kind: MediaKind) -> RecordingManifest.Track? {
    manifest.tracks.first { $0.kind == kind.rawValue }
  }
}
