package import Media

/// Who is shown and heard when in a composition. It is made from manifests alone.
///
/// Times are in units of `MediaTimebase.rate` from the composition's zero: the first frame of the first user, or `--from`.
package struct CompositionPlan: Sendable, Hashable {
  package var room: UntrustedText
  /// The wall clock at the composition's zero, in milliseconds since 1970.
  package var start: Int64
  /// How long the composition is.
  package var duration: Int64
  /// The users in order of their first appearance. Users who are excluded are not among them.
  package var users: [PlannedUser]
  /// The tiles in order of their first appearance.
  package var tiles: [PlannedTile]
  /// What is heard: the sound of each stream.
  package var sounds: [PlannedSound]
  package var chapters: [PlannedChapter]
  /// The chat of the room, in order.
  package var messages: [PlannedMessage]
  /// What is missing or odd, a sentence each.
  package var problems: [String]

  package init(room: UntrustedText, start: Int64, duration: Int64) {
    (self.room, self.start, self.duration) = (room, start, duration)
    (users, tiles, sounds, chapters, messages, problems) = ([], [], [], [], [], [])
  }

  /// Whether there is a frame to decode at any time.
  package var hasVideo: Bool { tiles.contains { $0.hasVideo } }
  package var hasAudio: Bool { !sounds.isEmpty }
}

/// A person of the call, who may have come several times.
package struct PlannedUser: Sendable, Hashable {
  /// The ids that the server assigned, that of the first stay first.
  package var ids: [UntrustedText]
  /// The name; nil if none is known.
  package var name: UntrustedText?
  /// What is drawn: the name of `--rename`, or the name, or the id; cleaned, at most 40 characters.
  package var label: String
  /// When the user is there, in order and without overlaps.
  package var presence: [Range<Int64>]

  package init(ids: [UntrustedText], name: UntrustedText?, label: String, presence: [Range<Int64>]) {
    (self.ids, self.name, self.label, self.presence) = (ids, name, label, presence)
  }
}

/// A tile of the output: a user's camera, or a further stream such as a screen.
package struct PlannedTile: Sendable, Hashable {
  /// The index of the user in the plan.
  package var user: Int
  /// The number of the user's stream whose video is shown, from 1.
  package var stream: Int
  package var isScreen: Bool
  /// The text at the lower left.
  package var label: String
  /// The recordings whose video is shown, in order; their ranges do not overlap.
  package var recordings: [PlannedRecording]
  /// What is shown when: in order, without holes, from ``start`` to ``end``.
  package var spans: [PictureSpan]

  package init(
    user: Int, stream: Int, isScreen: Bool, label: String, recordings: [PlannedRecording], spans: [PictureSpan]
  ) {
    (self.user, self.stream, self.isScreen, self.label) = (user, stream, isScreen, label)
    (self.recordings, self.spans) = (recordings, spans)
  }

  package var start: Int64 { spans.first?.start ?? 0 }
  package var end: Int64 { spans.last?.end ?? 0 }

  /// When the tile is there, in order, ranges that touch each other as one.
  package var presence: [Range<Int64>] {
    spans.reduce(into: []) { ranges, span in
      if span.state == .absent { return }
      if let last = ranges.last, last.upperBound == span.start {
        ranges[ranges.count - 1] = last.lowerBound..<span.end
      } else {
        ranges.append(span.start..<span.end)
      }
    }
  }

  /// Whether it ever shows frames.
  package var hasVideo: Bool { spans.contains { $0.state == .frames } }
}

/// The sound of a user's stream.
package struct PlannedSound: Sendable, Hashable {
  /// The index of the user in the plan.
  package var user: Int
  /// The number of the user's stream, from 1.
  package var stream: Int
  /// The recordings in order; their ranges do not overlap.
  package var recordings: [PlannedRecording]
  /// The gaps in the sound within these ranges, in order and without overlaps.
  package var gaps: [SoundGap]

  package init(user: Int, stream: Int, recordings: [PlannedRecording], gaps: [SoundGap]) {
    (self.user, self.stream, self.recordings, self.gaps) = (user, stream, recordings, gaps)
  }
}

/// A time without sound, or in which lost sound was repaired.
package struct SoundGap: Sendable, Hashable {
  package var start: Int64
  /// Not included.
  package var end: Int64
  package var reason: MediaGap.Reason
  /// How much of it was repaired, in units of `MediaTimebase.rate`: from its start on, the file has sound.
  package var repaired: Int64

  package init(start: Int64, end: Int64, reason: MediaGap.Reason, repaired: Int64 = 0) {
    (self.start, self.end, self.reason, self.repaired) = (start, end, reason, repaired)
  }
}

/// A chapter of the output; it ends where the next one begins.
package struct PlannedChapter: Sendable, Hashable {
  package var start: Int64
  package var title: String

  package init(start: Int64, title: String) {
    (self.start, self.title) = (start, title)
  }
}

/// A message of the chat, to be shown as a subtitle.
package struct PlannedMessage: Sendable, Hashable {
  package var start: Int64
  /// When it disappears.
  package var end: Int64
  /// The sender's label, cleaned.
  package var sender: String
  /// Cleaned, in one line, at most 500 characters.
  package var text: String

  package init(start: Int64, end: Int64, sender: String, text: String) {
    (self.start, self.end, self.sender, self.text) = (start, end, sender, text)
  }
}
