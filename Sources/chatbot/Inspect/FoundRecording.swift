import Recorder

/// One peer of an inspection: a recording with its manifest, or a media file by itself.
struct FoundRecording: Sendable, Hashable {
  /// The manifest; nil for a file without one.
  var manifest: Manifest?
  /// Its media files, in the order of their segments.
  var files: [RecordedFile]

  /// A recording's manifest and where it lies.
  struct Manifest: Sendable, Hashable {
    let path: String
    let content: RecordingManifest
  }

  /// What it is called where nothing better is known: the name of its file.
  var fileName: String {
    let path = manifest?.path ?? files.first?.path ?? ""
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}
