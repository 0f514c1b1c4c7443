internal import JobProtocol
internal import Media

/// When the tracks of one user were recorded, in all attempts, and the gaps and overlaps that follow. Pure. Moments are
/// milliseconds since 1970.
struct UserTimeline {
  /// A track of one of the user's streams.
  struct TrackID: Hashable, Comparable {
    var stream: Int64
    /// `audio` or `video`.
    var kind: String

    static func < (one: Self, other: Self) -> Bool {
      one.stream != other.stream ? one.stream < other.stream : one.kind.utf8.lexicographicallyPrecedes(other.kind.utf8)
    }
  }

  /// A part of a track, in one recording.
  struct Span {
    /// The position of the attempt in the list.
    var attempt: Int
    var range: Range<Int64>
    /// Whether the recording ended because its process was lost.
    var isLost: Bool
  }

  private var spans: [TrackID: [Span]] = [:]
  /// What the manifests call paused.
  private var manifestPauses: [TrackID: [Range<Int64>]] = [:]
  private let attempts: [RecordedAttempt]
  private let user: UntrustedText

  init(of user: UntrustedText, in attempts: [RecordedAttempt]) {
    self.user = user
    self.attempts = attempts
    for (index, attempt) in attempts.enumerated() {
      for manifest in attempt.manifests where UntrustedText(manifest.user) == user {
        for track in manifest.tracks {
          let id = TrackID(stream: manifest.stream, kind: track.kind)
          let start = manifest.start + track.start
          spans[id, default: []].append(
            Span(attempt: index, range: start..<(start + track.duration), isLost: !manifest.hasEndReason))
          manifestPauses[id, default: []] += track.pauses.map { pause in
            Range(from: manifest.start + pause.start, to: manifest.start + pause.start + pause.duration)
          }
        }
      }
    }
  }

  // MARK: Gaps

  var gaps: [RecordingDocument.Gap] {
    var gaps: [RecordingDocument.Gap] = []
    let requested = requestedPauses
    let present = presence
    for (id, spans) in spans {
      let recorded = IntervalSet(spans.map(\.range))
      let lost = IntervalSet(lostRanges(of: id, spans)).subtracting(requested).subtracting(recorded)
      let paused = IntervalSet(manifestPauses[id] ?? []).union(requested.intersection(present).subtracting(recorded))
      gaps += lost.ranges.map { Self.gap(.processLost, $0, id.kind, id.stream) }
      gaps += paused.ranges.map { Self.gap(.paused, $0, id.kind, id.stream) }
    }
    // A user of whom an attempt has no recording at all.
    let unrecorded = IntervalSet(unrecordedRanges)
    gaps += unrecorded.subtracting(requested).ranges.map { Self.gap(.processLost, $0, nil, 1) }
    if spans.isEmpty { gaps += requested.intersection(present).ranges.map { Self.gap(.paused, $0, nil, 1) } }
    return gaps.sorted { one, other in
      (one.start, one.stream, one.kind ?? "") < (other.start, other.stream, other.kind ?? "")
    }
  }

  private static func gap(
    _ reason: RecordingDocument.Gap.Reason, _ range: Range<Int64>, _ kind: String?, _ stream: Int64
  ) -> RecordingDocument.Gap {
    RecordingDocument.Gap(
      reason: reason, kind: kind, stream: stream, start: UTCTime(milliseconds: range.lowerBound).text,
      duration: Double(range.upperBound - range.lowerBound) / 1_000)
  }

  /// From the last frame of each attempt whose process was lost to the first one after it.
  private func lostRanges(of id: TrackID, _ spans: [Span]) -> [Range<Int64>] {
    Set(spans.map(\.attempt)).compactMap { attempt in
      guard let last = spans.filter({ $0.attempt == attempt }).max(by: { $0.range.upperBound < $1.range.upperBound }),
        last.isLost
      else { return nil }
      let end = last.range.upperBound
      return Range(from: end, to: firstStart(of: id, after: attempt) ?? endOfLoss(of: attempt))
    }
  }

  /// The users who were there when a process was lost that had recorded nothing of them yet.
  private var unrecordedRanges: [Range<Int64>] {
    attempts.enumerated().flatMap { index, attempt -> [Range<Int64>] in
      guard !attempt.endedInOrder, !spans.values.contains(where: { $0.contains { $0.attempt == index } }) else {
        return []
      }
      return attempt.participants.filter { UntrustedText($0.id) == user && $0.left == nil }.map { participant in
        Range(from: participant.joined, to: firstStart(of: nil, after: index) ?? endOfLoss(of: index))
      }
    }
  }

  /// The first frame of a track in the attempts after one, or of any track if there is none of it.
  private func firstStart(of id: TrackID?, after attempt: Int) -> Int64? {
    let own = id.flatMap { spans[$0] }?.filter { $0.attempt > attempt }.map(\.range.lowerBound).min()
    return own ?? spans.values.joined().filter { $0.attempt > attempt }.map(\.range.lowerBound).min()
  }

  /// When nothing of the user comes after a lost process: they may have left until the next one began, or until the end was
  /// noticed.
  private func endOfLoss(of attempt: Int) -> Int64 {
    attempt + 1 < attempts.count ? attempts[attempt + 1].start : attempts[attempt].end ?? attempts[attempt].start
  }

  // MARK: Pauses

  /// The pauses of the user that were asked for. Each attempt begins with the pause that the one before it ended with.
  private var requestedPauses: IntervalSet {
    var ranges: [Range<Int64>] = []
    for (index, attempt) in attempts.enumerated() {
      let end = index + 1 < attempts.count ? attempts[index + 1].start : attempt.end ?? attempt.start
      for (position, step) in attempt.pauses.enumerated() where step.state.isPaused(user.string) {
        let next = position + 1 < attempt.pauses.count ? attempt.pauses[position + 1].time : end
        ranges.append(Range(from: step.time, to: next))
      }
    }
    return IntervalSet(ranges)
  }

  /// When the user was in the room; the whole attempt where that is not known.
  private var presence: IntervalSet {
    IntervalSet(
      attempts.enumerated().flatMap { index, attempt -> [Range<Int64>] in
        let end = index + 1 < attempts.count ? attempts[index + 1].start : attempt.end ?? attempt.start
        let stays = attempt.participants.filter { UntrustedText($0.id) == user }
        if !stays.isEmpty { return stays.map { Range(from: $0.joined, to: $0.left ?? end) } }
        let isRecorded = spans.values.contains { $0.contains { $0.attempt == index } }
        return isRecorded ? [Range(from: attempt.start, to: end)] : []
      })
  }

  // MARK: Overlaps

  var overlaps: [RecordingDocument.Overlap] {
    spans.sorted { $0.key < $1.key }.flatMap { id, spans -> [RecordingDocument.Overlap] in
      let numbers = Set(spans.map(\.attempt)).sorted()
      let recorded = numbers.map { number in IntervalSet(spans.filter { $0.attempt == number }.map(\.range)) }
      return numbers.indices.flatMap { later in
        (0..<later).flatMap { earlier in
          recorded[earlier].intersection(recorded[later]).ranges.map { range in
            RecordingDocument.Overlap(
              kind: id.kind, stream: id.stream, start: UTCTime(milliseconds: range.lowerBound).text,
              duration: Double(range.upperBound - range.lowerBound) / 1_000,
              attempts: [attempts[numbers[earlier]].number, attempts[numbers[later]].number])
          }
        }
      }
    }
  }
}
