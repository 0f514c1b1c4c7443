import Media

/// The kinds of a recording's media files. Each is the extension of their names and `kind` in the manifest.
public enum RecordingFileKind: String, Sendable, Hashable, CaseIterable {
  /// VP8 or VP9, and Opus.
  case webm
  /// Video with audio, of which a codec is not one of WebM's.
  case mkv
  /// Opus.
  case ogg
  /// Audio of another codec, in Matroska.
  case mka

  /// The kind of a file by its name; nil if the name has another extension.
  public init?(fileName: String) {
    guard let kind = Self.allCases.first(where: { fileName.hasSuffix(".\($0.rawValue)") }) else {
      return nil
    }
    self = kind
  }

  /// Whether files of the kind have video, and the audio that belongs to it; the others have all audio.
  public var hasVideo: Bool {
    switch self {
    case .webm, .mkv: true
    case .ogg, .mka: false
    }
  }

  /// The kind of media that is counted by the files, since each frame of it is in one of them.
  var countedKind: MediaKind { hasVideo ? .video : .audio }
}
