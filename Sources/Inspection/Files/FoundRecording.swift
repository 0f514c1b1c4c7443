import CallCheck
package import Recorder

/// A recording with its manifest, or a media file without one: a peer of an inspection, or a further stream of one.
package struct FoundRecording: Sendable, Hashable {
  /// The manifest, or nil for a file without one.
  package var manifest: Manifest?
  /// The media files, in the order of their segments.
  package var files: [RecordedFile]

  package init(manifest: Manifest? = nil, files: [RecordedFile]) {
    (self.manifest, self.files) = (manifest, files)
  }

  /// A recording's manifest and its path.
  package struct Manifest: Sendable, Hashable {
    package let path: String
    package let content: RecordingManifest

    package init(path: String, content: RecordingManifest) {
      (self.path, self.content) = (path, content)
    }
  }

  /// Which stream of the participant it is. A recording whose manifest has a number that no judged stream has is a peer of its
  /// own.
  var stream: RecordingManifest.Stream {
    guard let stream = manifest?.content.stream, (1...StreamReport.maximumCount).contains(stream.number) else {
      return .init(number: 1)
    }
    return stream
  }

  /// The name of its manifest or first file, used if nothing better is known.
  var fileName: String {
    let path = manifest?.path ?? files.first?.path ?? ""
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}

/// A media file to inspect.
package struct RecordedFile: Sendable, Hashable {
  /// The path as the user wrote it, or beside the manifest.
  package let path: String
  /// The manifest's entry; nil without a manifest, and for a file that was begun after the manifest was last written.
  package var entry: RecordingManifest.File?
  /// The number of its segment, from 1; nil if the recording has only one.
  package var segment: Int?

  package init(path: String, entry: RecordingManifest.File? = nil, segment: Int? = nil) {
    (self.path, self.entry, self.segment) = (path, entry, segment)
  }

  /// The name without the folder.
  package var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
