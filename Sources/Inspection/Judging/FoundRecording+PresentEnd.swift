import FileSource
import Media
import Recorder

extension FoundRecording {
  /// Returns a recording that is not finished as if it had been finished now: its manifest says how long its files are. It reads each
  /// file through. Others are returned as they are.
  ///
  /// The manifest of a recording that grows is up to 10 s older than its files.
  package func upToPresentEnd() -> FoundRecording {
    guard let manifest, !manifest.content.finished else { return self }
    var opener = RecordingOpener()
    var content = manifest.content
    for track in opener.open(self)?.tracks ?? [] {
      let pieces = track.pieces
      guard let first = pieces.first, let start = pieces.map({ $0.zero + $0.track.start }).min() else { continue }
      let end = RecordedTime.seconds(track.estimatedEnd)
      let index = content.tracks.firstIndex { $0.kind == track.kind.rawValue }
      var entry = index.map { content.tracks[$0] } ?? RecordingManifest.Track(codec: first.track.codec)
      if index == nil { entry.start = max(0, RecordedTime.seconds(start)) }
      entry.duration = max(entry.duration, end - entry.start)
      if let index { content.tracks[index] = entry } else { content.tracks.append(entry) }
      content.duration = max(content.duration, end)
    }
    return FoundRecording(manifest: .init(path: manifest.path, content: content), files: files)
  }
}
