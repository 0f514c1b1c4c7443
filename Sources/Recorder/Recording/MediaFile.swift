import Media

/// One file of a recording that takes frames in order of their places.
protocol MediaFile: AnyObject {
  /// `webm` or `ogg`.
  static var ending: String { get }
  var output: OutputFile { get }
  /// Where its time zero lies on the participant's time line.
  var start: Duration { get }
  /// From its time zero to the end of its last frame.
  var duration: Duration { get }
  /// Whether it was closed in good order.
  var isComplete: Bool { get }

  /// Takes a frame that lies at or after `start`.
  func add(_ placed: PlacedFrame, now: ContinuousClock.Instant) throws(Recorder.DiskError)
  /// Writes what has waited for long enough.
  func flush(now: ContinuousClock.Instant) throws(Recorder.DiskError)
  /// Writes the rest and closes the file.
  func finish() throws(Recorder.DiskError)
}

extension MediaFile {
  /// How long a frame may wait in memory once its place is settled.
  ///
  /// Together with the wait for the other track (`Timeline.patience`) and two looks at the clock (`Recorder.tick`) this
  /// stays below the second that a killed program may lose.
  static var longestWait: Duration { .milliseconds(500) }

  var entry: RecordingManifest.File {
    RecordingManifest.File(
      name: output.name, kind: Self.ending, start: start.roundedSeconds, duration: duration.roundedSeconds,
      bytes: output.size, complete: isComplete)
  }

  func write(_ writes: [FileWrite]) throws(Recorder.DiskError) {
    for write in writes { try output.write(write) }
  }
}
