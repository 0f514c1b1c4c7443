internal import FoundationEssentials
internal import JobProtocol
internal import Media
internal import Recorder

/// The files of recordings.
extension ClosedFiles {
  /// Adds a finished file of a recording with segments.
  func add(_ segment: RecordedSegment) {
    guard segment.folder == folder else { return }
    add(
      File(
        segment.file, of: segment.participant.text, name: segment.name, stream: segment.stream,
        recordingStart: segment.recordingStart))
  }

  /// Adds the files of a finished recording that are not known. Files that the disk did not accept are left out.
  func add(_ recording: RecordingSummary) {
    // A check records into a folder of its own, for its page.
    guard recording.folder == folder else { return }
    let manifest = recording.manifest
    for file in manifest.files where file.complete {
      add(
        File(
          file, of: manifest.user, name: manifest.name, stream: manifest.stream.number,
          recordingStart: manifest.start))
    }
    guard manifest.finished, recording.storageError == nil else { return }
    add(
      File(
        name: "\(recording.base).json", kind: .manifest, user: manifest.user, userName: manifest.name,
        stream: manifest.stream.number))
  }
}

extension ClosedFiles.File {
  /// - Parameter recordingStart: the wall clock at position zero of the recording, ISO 8601.
  init(_ file: RecordingManifest.File, of user: String, name: String?, stream: Int, recordingStart: String) {
    func milliseconds(_ seconds: Double) -> Int64 { Int64((max(0, min(seconds, 1e11)) * 1_000).rounded()) }
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let start = (try? style.parse(recordingStart)).map { milliseconds($0.timeIntervalSince1970) }
    self.init(
      name: file.name, kind: .media, user: user, userName: name, stream: stream, segment: file.segment,
      start: start.map { $0 + milliseconds(file.start) }, duration: milliseconds(file.duration))
  }
}
