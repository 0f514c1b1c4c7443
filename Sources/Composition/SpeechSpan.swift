/// A time in which a user speaks, in units of `MediaTimebase.rate` from the composition's zero.
package struct SpeechSpan: Sendable, Hashable {
  /// The index of the user in the plan.
  package var user: Int
  package var start: Int64
  package var end: Int64

  package init(user: Int, start: Int64, end: Int64) {
    (self.user, self.start, self.end) = (user, start, end)
  }
}

/// From when a user is shown as the speaker, in units of `MediaTimebase.rate` from the composition's zero.
package struct SpeakerChange: Sendable, Hashable {
  package var time: Int64
  /// The index of the user in the plan.
  package var user: Int

  package init(time: Int64, user: Int) {
    (self.time, self.user) = (time, user)
  }
}
