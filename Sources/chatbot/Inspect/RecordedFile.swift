import Recorder

/// A media file that is to be inspected.
struct RecordedFile: Sendable, Hashable {
  /// As it was given, or as it lies beside its manifest.
  let path: String
  /// What the manifest says of it; nil without a manifest, and for a file that was begun after the manifest was last written.
  var entry: RecordingManifest.File?
  /// Which of the recording's segments it belongs to, from 1; nil where there is only one.
  var segment: Int?

  /// Its name without the folder.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
