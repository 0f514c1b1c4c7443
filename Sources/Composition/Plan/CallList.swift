package import Inspection
package import Media

/// The calls of which there are recordings.
package struct CallList: Sendable, Hashable {
  /// In order of their starts.
  package var calls: [FoundCall]
  /// What is missing or cannot be used, a sentence each.
  package var problems: [String]

  package init(calls: [FoundCall], problems: [String]) {
    (self.calls, self.problems) = (calls, problems)
  }
}

/// Recordings of one room that overlap, or follow each other within 10 min.
package struct FoundCall: Sendable, Hashable {
  /// From 1.
  package var number: Int
  package var room: UntrustedText
  /// The wall clock at the first frame, in milliseconds since 1970.
  package var start: Int64
  /// From there to the end of the last recording, in units of `MediaTimebase.rate`.
  package var duration: Int64
  /// In order of their starts.
  package var recordings: [FoundRecordingOfCall]
  /// The names or ids of the users, each once, in order of their first appearance; cleaned.
  package var users: [String]
  /// The paths of the manifests of recordings that are not finished.
  package var unfinished: [String]

  package init(
    number: Int, room: UntrustedText, start: Int64, duration: Int64, recordings: [FoundRecordingOfCall],
    users: [String], unfinished: [String]
  ) {
    (self.number, self.room, self.start, self.duration) = (number, room, start, duration)
    (self.recordings, self.users, self.unfinished) = (recordings, users, unfinished)
  }
}

/// A recording of a call.
package struct FoundRecordingOfCall: Sendable, Hashable {
  package var recording: FoundRecording
  /// The recording's time zero from the start of the call, in units of `MediaTimebase.rate`.
  package var offset: Int64
  package var alignment: RecordingAlignment

  package init(recording: FoundRecording, offset: Int64, alignment: RecordingAlignment) {
    (self.recording, self.offset, self.alignment) = (recording, offset, alignment)
  }
}
