/// Finds out who speaks when, and who is shown as the speaker, from the levels of all users.
///
/// A user speaks while the mean level of 300 ms is above -45 dBFS: from the first 20 ms of it that are, until 500 ms without
/// follow. What is shorter than 200 ms is no speech.
///
/// The speaker is who is louder than all others by 6 dB over 300 ms, and above -45 dBFS. Another user becomes the speaker after
/// 600 ms of that, no earlier than 2 s after the last change, and is shown from 100 ms before their first word.
package struct SpeechDetector: Sendable {
  /// The samples of a window: 20 ms.
  package static let window = SoundClock.rate / 50
  /// The mean square of -45 dBFS.
  package static let threshold: Float = 3.162_278e-5

  /// 6 dB.
  private static let dominance: Float = 3.981_072
  /// In windows: 300 ms, 600 ms, 2 s, 100 ms, 500 ms and 200 ms.
  private static let averaged = 15
  private static let confirming = 30
  private static let holding = 100
  private static let lead = 5
  private static let pause = 25
  private static let minimumSpeech = 10
  /// More are counted only, so that memory is bounded.
  package static let maximumSpans = 200_000

  private struct User {
    /// The last windows, as a ring.
    var levels = [Float](repeating: 0, count: averaged)
    /// The number of windows since the last one that is not 0.
    var silence = averaged
    var mean: Float = 0
    /// The first and the last window of the speech that has not ended.
    var speech: (first: Int, last: Int)?
  }

  private var users: [User]
  /// The number of windows so far.
  private var position = 0
  private var closed: [SpeechSpan] = []
  /// Who is louder than the others but not shown, and since when and from when on that would be shown.
  private var candidate: (user: Int, since: Int, onset: Int)?
  private var speaker: (user: Int, since: Int)?

  /// Each change of the speaker, in order.
  package private(set) var changes: [SpeakerChange] = []
  /// How many times of speech are not listed.
  package private(set) var omittedSpans = 0

  /// - Parameter users: the number of users in the plan.
  package init(users: Int) {
    self.users = [User](repeating: User(), count: max(0, users))
  }

  /// Adds the next 20 ms.
  ///
  /// - Parameter levels: the mean square of the samples of each user, 0 to 1; those of users that are missing are 0.
  package mutating func add(_ levels: some Collection<Float>) {
    let place = position % Self.averaged
    var levels = levels.makeIterator()
    for index in users.indices {
      let level = levels.next() ?? 0
      if level <= 0, users[index].silence >= Self.averaged, users[index].speech == nil { continue }
      // Not a number is no level.
      add(level > 0 ? level : 0, at: place, of: index)
    }
    chooseSpeaker()
    position += 1
  }

  /// The time before which nothing changes any more, in units of `MediaTimebase.rate`.
  package var settled: Int64 { time(max(0, position - Self.confirming - Self.averaged - Self.pause)) }

  /// Who spoke when, by start; speech that has not ended lasts until now.
  package var spans: [SpeechSpan] {
    let open = users.indices.compactMap { index in users[index].speech.flatMap { span(of: index, $0) } }
    return (closed + open).sorted { ($0.start, $0.user) < ($1.start, $1.user) }
  }

  // MARK: Speech

  private mutating func add(_ level: Float, at place: Int, of index: Int) {
    users[index].levels[place] = level
    users[index].silence = level > 0 ? 0 : users[index].silence + 1
    let mean = users[index].levels.reduce(0, +) / Float(Self.averaged)
    users[index].mean = mean
    let isLoud = level > Self.threshold
    if let speech = users[index].speech {
      if isLoud {
        users[index].speech = (speech.first, position)
      } else if position - speech.last >= Self.pause {
        users[index].speech = nil
        close(index, speech)
      }
    } else if mean > Self.threshold {
      let first = recent.first { self.level(of: index, in: $0) > Self.threshold } ?? position
      let last = recent.last { self.level(of: index, in: $0) > Self.threshold } ?? position
      users[index].speech = (first, last)
    }
  }

  private mutating func close(_ user: Int, _ speech: (first: Int, last: Int)) {
    guard let span = span(of: user, speech) else { return }
    if closed.count < Self.maximumSpans { closed.append(span) } else { omittedSpans += 1 }
  }

  private func span(of user: Int, _ speech: (first: Int, last: Int)) -> SpeechSpan? {
    guard speech.last + 1 - speech.first >= Self.minimumSpeech else { return nil }
    return SpeechSpan(user: user, start: time(speech.first), end: time(speech.last + 1))
  }

  /// The windows of which the levels are known, including the present one.
  private var recent: ClosedRange<Int> { max(0, position - Self.averaged + 1)...position }

  private func level(of user: Int, in window: Int) -> Float { users[user].levels[window % Self.averaged] }

  private func time(_ window: Int) -> Int64 { SoundClock.time(ofSample: Int64(window) * Int64(Self.window)) }

  // MARK: The speaker

  private mutating func chooseSpeaker() {
    guard let user = loudest, user != speaker?.user else {
      candidate = nil
      return
    }
    if candidate?.user != user { candidate = (user, position, onset(of: user)) }
    guard let candidate, position + 1 - candidate.since >= Self.confirming else { return }
    let earliest = speaker.map { $0.since + Self.holding } ?? 0
    guard position >= earliest else { return }
    let since = max(earliest, candidate.onset - Self.lead)
    changes.append(SpeakerChange(time: time(since), user: user))
    speaker = (user, since)
    self.candidate = nil
  }

  /// Who is louder than all others by 6 dB and loud enough.
  private var loudest: Int? {
    var best: (user: Int, mean: Float)?
    var second: Float = 0
    for index in users.indices where users[index].silence < Self.averaged {
      let mean = users[index].mean
      if mean > best?.mean ?? 0 {
        second = best?.mean ?? 0
        best = (index, mean)
      } else {
        second = max(second, mean)
      }
    }
    guard let best, best.mean > Self.threshold, best.mean >= second * Self.dominance else { return nil }
    return best.user
  }

  /// The first of the last windows in which a user is loud enough and the loudest.
  private func onset(of user: Int) -> Int {
    recent.first { window in
      let level = level(of: user, in: window)
      return level > Self.threshold
        && !users.indices.contains { $0 != user && self.level(of: $0, in: window) >= level }
    } ?? position
  }
}
