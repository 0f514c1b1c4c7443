/// What a first pass over the sound of all users found.
package struct SoundScan: Sendable, Hashable {
  /// What is known of a user's sound.
  package struct User: Sendable, Hashable {
    /// The largest sample, 0 to 1.
    package var peak: Float = 0
    /// The loudness of what was loud enough, in LUFS (ITU-R BS.1770-4); nil if there is none, or if it was not measured.
    package var loudness: Double?
    /// The factor by which the sound is multiplied before it is added to that of the others.
    package var gain: Float = 1

    package init(peak: Float = 0, loudness: Double? = nil, gain: Float = 1) {
      (self.peak, self.loudness, self.gain) = (peak, loudness, gain)
    }
  }

  /// In the order of the plan.
  package var users: [User]
  /// Who spoke when, by start; the spans of a user do not overlap.
  package var spans: [SpeechSpan]
  /// How many further times of speech are not listed.
  package var omittedSpans: Int
  /// Who is shown as the speaker from when on, in order.
  package var changes: [SpeakerChange]
  /// Nothing before this time changes if the scan goes on, in units of `MediaTimebase.rate`.
  package var settled: Int64

  package init(
    users: [User], spans: [SpeechSpan], omittedSpans: Int = 0, changes: [SpeakerChange], settled: Int64
  ) {
    (self.users, self.spans, self.omittedSpans) = (users, spans, omittedSpans)
    (self.changes, self.settled) = (changes, settled)
  }
}

/// What mixing did to the sound.
package struct SoundMixReport: Sendable, Hashable {
  /// The largest sample of the output, 0 to 1.
  package var peak: Float
  /// The greatest reduction by the limiter in dB, 0 if it did nothing.
  package var greatestReduction: Double
  /// The packets that could not be decoded, of each user in the order of the plan; they are silence.
  package var undecodedPackets: [Int]
  /// Files that could not be read, or not to their end, a sentence each.
  package var problems: [String]

  package init(peak: Float, greatestReduction: Double, undecodedPackets: [Int], problems: [String]) {
    (self.peak, self.greatestReduction) = (peak, greatestReduction)
    (self.undecodedPackets, self.problems) = (undecodedPackets, problems)
  }
}
