import Glibc
public import Media

/// The result of a finished recording.
public struct RecordingSummary: Sendable, Hashable {
  public let participant: ParticipantID
  /// The number of the recorded stream, from 1.
  public var stream: Int { manifest.stream.number }
  /// The folder, as it was passed to the recorder.
  public let folder: String
  /// The common name of the files, without extension.
  public let base: String
  /// The content of the manifest.
  public let manifest: RecordingManifest
  /// The disk's error, if the recording was left unfinished because of it; nil otherwise.
  public let storageError: RoomRecorder.StorageError?

  package init(
    participant: ParticipantID, folder: String, base: String, manifest: RecordingManifest,
    storageError: RoomRecorder.StorageError?
  ) {
    self.participant = participant
    self.folder = folder
    self.base = base
    self.manifest = manifest
    self.storageError = storageError
  }

  /// How long it is.
  public var duration: Duration { .milliseconds(Int64(max(0, min(manifest.duration, 1e9)) * 1_000)) }

  /// The paths of the media files, followed by that of the manifest.
  public var paths: [String] {
    let stem = folder.hasSuffix("/") ? folder : folder + "/"
    return manifest.files.map { stem + $0.name } + ["\(stem)\(base).json"]
  }

  /// The reason, as a clause, why the end of a track is in no file (`RecordingManifest.Track.unwritten`).
  public var unwrittenReason: String {
    switch storageError?.code {
    case nil:
      switch unwrittenGapReason {
      case .overloaded: "the processor did not keep up"
      case .memoryFull: "the memory for queued frames was full"
      default: "the disk did not keep up"
      }
    case ENOSPC, EDQUOT: "the disk is full"
    case let code?: "the disk failed (\(strerror(code).map { String(cString: $0) } ?? "unknown error"))"
    }
  }

  /// The reason of the gap at the end of the first track that has one.
  private var unwrittenGapReason: MediaGap.Reason? {
    manifest.tracks.lazy.compactMap { track in track.unwrittenGap.map { track.gaps[$0].reason } }.first.flatMap {
      MediaGap.Reason(rawValue: $0)
    }
  }

  /// Returns the track of a kind, if there was one.
  public func track(_ kind: MediaKind) -> RecordingManifest.Track? {
    manifest.tracks.first { $0.kind == kind.rawValue }
  }
}

/// A finished media file of a recording with segments, which the manifest on the disk lists as complete.
public struct RecordedSegment: Sendable, Hashable {
  public let participant: ParticipantID
  /// The number of the recorded stream, from 1.
  public let stream: Int
  /// The participant's name, if known.
  public let name: String?
  /// The folder, as it was passed to the recorder.
  public let folder: String
  /// The common name of the recording's files, without extension and number.
  public let base: String
  /// ``RecordingManifest/start``, as far as is known now.
  public let recordingStart: String
  public let file: RecordingManifest.File

  package init(
    participant: ParticipantID, stream: Int, name: String?, folder: String, base: String, recordingStart: String,
    file: RecordingManifest.File
  ) {
    self.participant = participant
    self.stream = stream
    self.name = name
    self.folder = folder
    self.base = base
    self.recordingStart = recordingStart
    self.file = file
  }
}

/// The status of a recording while it grows.
public struct RecordingStatus: Sendable, Hashable {
  public let participant: ParticipantID
  /// The number of the recorded stream, from 1.
  public let stream: Int
  /// The common name of the files, without extension; nil before the first frame or problem.
  public let base: String?
  /// The time of position zero of the files, as far as is known now; nil before the first frames are written.
  public let start: ContinuousClock.Instant?
  /// The paths of the media files so far.
  public let files: [String]
  /// Bytes written.
  public let bytes: Int64
  /// From the first frame to the end of the last one whose position is final.
  public let duration: Duration
  /// Frames whose positions are final, by track: they are written or queued.
  public let frames: [MediaKind: UInt64]
  /// Frames that could not be decoded; nil when verification is off.
  public let decodeErrors: UInt64?
  /// Frames that were not decoded, for lack of time for example; nil when verification is off.
  public let unverified: UInt64?
  /// The level of the audio, the root mean square of its last packet, from 0 to 1; nil if none was verified, and while it is paused.
  public let audioLevel: Double?
  /// Whether the disk currently accepts no writes for it.
  public let isStalled: Bool
  /// Whether it is paused: nothing that the user sends is recorded.
  public let isPaused: Bool
  /// The problems that occurred, one sentence each.
  public let problems: [String]
}

extension RecordingSummary {
  /// Participants in the order of their ids, and the streams of each.
  static func isInOrder(_ one: Self, _ other: Self) -> Bool {
    (one.participant.text, one.stream) < (other.participant.text, other.stream)
  }
}

extension RecordingStatus {
  /// Participants in the order of their ids, and the streams of each.
  static func isInOrder(_ one: Self, _ other: Self) -> Bool {
    (one.participant.text, one.stream) < (other.participant.text, other.stream)
  }
}
