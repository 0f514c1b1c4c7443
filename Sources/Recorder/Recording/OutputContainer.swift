import Media

/// One file of a recording, which accepts frames in order of position.
///
/// Its methods do not access the disk: they queue writes in `file`.
protocol OutputContainer: AnyObject {
  var kind: RecordingFileKind { get }
  /// The codecs of its tracks, that of the video first.
  var codecs: [Codec] { get }
  var file: AppendFile { get }
  /// The number of the segment that the file belongs to, from 1; nil when there is only one.
  var segment: Int? { get }
  /// The position of its time zero on the participant's timeline.
  var start: Duration { get }
  /// From its time zero to the end of its last frame.
  var duration: Duration { get }
  /// Frames of that kind that are on the disk.
  var stored: WrittenFrameCounts { get }
  /// The playing time of what is on the disk, while the file grows.
  var storedDuration: Duration { get }
  /// Frames of that kind that are not on the disk.
  var unstoredFrames: UInt64 { get }
  /// Frames that were left out, because they refer to frames before the keyframe with which the file begins.
  var leftOut: UInt64 { get }
  /// Bytes of frames that are not queued for writing yet.
  var unwrittenBytes: Int { get }

  /// Whether frames of a codec can be in the file.
  func accepts(_ codec: Codec) -> Bool
  /// Adds the next frame.
  func add(_ timestamped: TimestampedFrame)
  /// Queues the frames that have waited long enough.
  ///
  /// - Parameter atOnce: whether to queue the others, too, as far as the format allows.
  func flush(now: MonotonicInstant, atOnce: Bool)
  /// Extends the file to a position on the participant's timeline, if its format has no gaps: a call can end in a pause in which
  /// nothing is sent.
  func fill(to end: Duration)
  /// Queues the rest and the closing writes.
  func finish()
  /// Returns the writes that close the file as it is on the disk, when the disk accepts no more frames.
  ///
  /// - Parameter omittingCues: whether to leave out the cues, which make a file longer.
  /// - Returns: the writes; `last` may only be written when `first` is on the disk.
  func closingWrites(omittingCues: Bool) -> (first: [FileWrite], last: [FileWrite])
}

extension OutputContainer {
  var leftOut: UInt64 { 0 }

  /// The maximum age of a frame, from its arrival, before it is queued for writing.
  ///
  /// Together with two intervals of `RoomRecorder.tick` this stays below the second that may be lost when the program
  /// is killed.
  static var maximumWait: Duration { .milliseconds(600) }

  /// The same for the first frames of a file, so that the folder soon shows that something is recorded.
  static var firstWait: Duration { .milliseconds(100) }

  /// The kind of frames that are counted as missing with this file: those that no other file contains as well.
  var countedKind: MediaKind { kind.countedKind }

  var entry: RecordingManifest.File {
    RecordingManifest.File(
      name: file.name, kind: kind.rawValue, codecs: codecs.map(\.rawValue), start: start.roundedSeconds,
      duration: (file.isComplete && file.framesEnd == nil ? duration : storedDuration).roundedSeconds,
      bytes: file.size, complete: file.isComplete, segment: segment)
  }

  func fill(to end: Duration) {}

  /// Bytes that are on their way to the disk.
  var heldBytes: Int { unwrittenBytes + file.waitingBytes }
}
