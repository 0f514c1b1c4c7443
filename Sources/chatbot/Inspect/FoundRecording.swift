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

/// A media file that is to be inspected.
struct RecordedFile: Sendable, Hashable {
  /// As it was given, or as stored beside its manifest.
  let path: String
  /// What the manifest says of it; nil without a manifest, and for a file that was begun after the manifest was last written.
  var entry: RecordingManifest.File?
  /// Which of the recording's segments it belongs to, from 1; nil where there is only one.
  var segment: Int?

  /// Its name without the folder.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
