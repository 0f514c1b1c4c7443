import Media

/// One file of a recording that takes frames in order of their places.
///
/// Nothing that it does touches the disk: what is to be written goes into line in `file`.
protocol MediaFile: AnyObject {
  /// `webm` or `ogg`.
  static var ending: String { get }
  var file: AppendFile { get }
  /// Which of the recording's segments it is, from 1; nil when there is only one.
  var segment: Int? { get }
  /// Where its time zero lies on the participant's time line.
  var start: Duration { get }
  /// From its time zero to the end of its last frame.
  var duration: Duration { get }
  /// Whose frames are counted when they are missing: those that no other file holds as well.
  var countedKind: MediaKind { get }
  /// Those that are on the disk.
  var stored: WrittenFrameCounts { get }
  /// How long what is on the disk plays, while the file grows.
  var storedDuration: Duration { get }
  /// How many of them are not.
  var unstoredFrames: UInt64 { get }
  /// Bytes of frames that are not even in line yet.
  var unwrittenBytes: Int { get }

  /// Takes the next frame.
  func add(_ timestamped: TimestampedFrame)
  /// Puts into line what has waited for long enough.
  func flush(now: MonotonicInstant)
  /// Puts the rest into line, and the end.
  func finish()
  /// What closes the file as it is on the disk, when that takes no more frames.
  ///
  /// - Parameter isShort: whether without all that makes the file longer.
  /// - Returns: what is to be written, the last part of it when the first lies on the disk.
  func ending(isShort: Bool) -> (first: [FileWrite], last: [FileWrite])
}

extension MediaFile {
  /// How old a frame may get, from its arrival on, before it goes into line.
  ///
  /// With two looks at the clock (`RoomRecorder.tick`) this stays below the second that a killed program may lose.
  static var maximumWait: Duration { .milliseconds(600) }

  /// The same for the first frames of a file, so that anyone who looks into the folder sees that something is recorded.
  static var firstWait: Duration { .milliseconds(100) }

  var entry: RecordingManifest.File {
    RecordingManifest.File(
      name: file.name, kind: Self.ending, start: start.roundedSeconds,
      duration: (file.isComplete && file.framesEnd == nil ? duration : storedDuration).roundedSeconds,
      bytes: file.size, complete: file.isComplete, segment: segment)
  }

  /// Bytes that are on their way to the disk.
  var heldBytes: Int { unwrittenBytes + file.waitingBytes }
}
