package import Inspection

/// A recording with its place in the composition. Times are in units of `MediaTimebase.rate`.
package struct PlannedRecording: Sendable, Hashable {
  /// The manifest and the media files.
  package var recording: FoundRecording
  /// The recording's time zero, from the composition's zero; negative if it began earlier. A frame at `t` of the recording is at
  /// `offset + t`.
  package var offset: Int64
  /// The part of the recording that is composed, from the composition's zero: within the composition, and not in a later
  /// recording of the same stream. What is outside of it is neither shown nor heard.
  package var range: Range<Int64>
  package var alignment: RecordingAlignment

  package init(
    recording: FoundRecording, offset: Int64, range: Range<Int64>, alignment: RecordingAlignment
  ) {
    (self.recording, self.offset, self.range, self.alignment) = (recording, offset, range, alignment)
  }
}

/// By what a recording was aligned with the others, and how sure that is.
package struct RecordingAlignment: Sendable, Hashable {
  package enum Source: String, Sendable, Hashable, Codable {
    /// The monotonic clock of the process that recorded.
    case session
    /// The wall clock of the machine that recorded.
    case start
  }

  package var source: Source
  /// The largest error against the first recording, in units of `MediaTimebase.rate`; nil where it is not known, since two wall clocks
  /// are compared.
  package var error: Int64?
  /// The largest error of audio against video within the recording, in the same units.
  package var internalError: Int64

  package init(source: Source, error: Int64?, internalError: Int64 = 0) {
    (self.source, self.error, self.internalError) = (source, error, internalError)
  }
}
