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
      let around = Self.extend(requested.intersection(present).subtracting(recorded), to: recorded)
      let paused = IntervalSet(manifestPauses[id] ?? []).union(around).joining(within: Self.joinedWithin)
      for reason in Self.losses {
        let ranges = lostRanges(of: id, spans).filter { loss(of: $0.attempt) == reason }.map(\.range)
        let lost = IntervalSet(ranges).subtracting(requested).subtracting(paused).subtracting(recorded)
        gaps += lost.ranges.map { Self.gap(reason, $0, id.kind, id.stream) }
      }
      gaps += paused.ranges.map { Self.gap(.paused, $0, id.kind, id.stream) }
    }
    // A user of whom an attempt has no recording at all.
    for reason in Self.losses {
      let unrecorded = IntervalSet(unrecordedRanges.filter { loss(of: $0.attempt) == reason }.map(\.range))
      gaps += unrecorded.subtracting(requested).ranges.map { Self.gap(reason, $0, nil, 1) }
    }
    if spans.isEmpty { gaps += requested.intersection(present).ranges.map { Self.gap(.paused, $0, nil, 1) } }
    return gaps.sorted { one, other in
      (one.start, one.stream, one.kind ?? "") < (other.start, other.stream, other.kind ?? "")
    }
  }

  /// Why an attempt that did not end in order may have lost something.
  private static let losses: [RecordingDocument.Gap.Reason] = [.processLost, .nodeLost]

  private func loss(of attempt: Int) -> RecordingDocument.Gap.Reason {
    attempts[attempt].isNodeLost ? .nodeLost : .processLost
  }

  /// A pause that begins so soon after a frame begins with the end of the frame, in milliseconds.
  private static let frameBefore: Int64 = 200
  /// A pause that ends so soon before a frame ends with the frame: the first packet of audio is left out, and video begins with a
  /// keyframe.
  private static let frameAfter: Int64 = 1_000
  /// Pauses with less between them are one. The manifest of a lost process is older than its last frames.
  private static let joinedWithin: Int64 = 100

  /// Extends pauses to the frames around them, as within a recording.
  private static func extend(_ pauses: IntervalSet, to recorded: IntervalSet) -> IntervalSet {
    IntervalSet(
      pauses.ranges.map { pause in
        let before = recorded.ranges.last { $0.upperBound <= pause.lowerBound }?.upperBound
        let after = recorded.ranges.first { $0.lowerBound >= pause.upperBound }?.lowerBound
        let start = before.flatMap { pause.lowerBound - $0 <= frameBefore ? $0 : nil }
        let end = after.flatMap { $0 - pause.upperBound <= frameAfter ? $0 : nil }
        return (start ?? pause.lowerBound)..<(end ?? pause.upperBound)
      })
  }

  private static func gap(
    _ reason: RecordingDocument.Gap.Reason, _ range: Range<Int64>, _ kind: String?, _ stream: Int64
  ) -> RecordingDocument.Gap {
    RecordingDocument.Gap(
      reason: reason, kind: kind, stream: stream, start: UTCTime(milliseconds: range.lowerBound).text,
      duration: Double(range.upperBound - range.lowerBound) / 1_000)
  }

  /// From the last frame of each attempt whose process was lost to the first one after it.
  private func lostRanges(of id: TrackID, _ spans: [Span]) -> [(attempt: Int, range: Range<Int64>)] {
    Set(spans.map(\.attempt)).compactMap { attempt in
      guard let last = spans.filter({ $0.attempt == attempt }).max(by: { $0.range.upperBound < $1.range.upperBound }),
        last.isLost
      else { return nil }
      let end = last.range.upperBound
      return (attempt, Range(from: end, to: firstStart(of: id, after: attempt) ?? endOfLoss(of: attempt)))
    }
  }

  /// The users who were there when a process was lost that had recorded nothing of them yet.
  private var unrecordedRanges: [(attempt: Int, range: Range<Int64>)] {
    attempts.enumerated().flatMap { index, attempt -> [(attempt: Int, range: Range<Int64>)] in
      guard !attempt.endedInOrder, !spans.values.contains(where: { $0.contains { $0.attempt == index } }) else {
        return []
      }
      return attempt.participants.filter { UntrustedText($0.id) == user && $0.left == nil }.map { participant in
        (index, Range(from: participant.joined, to: firstStart(of: nil, after: index) ?? endOfLoss(of: index)))
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

  /// The pauses of the user that were asked for. The end of a process ends no pause: the next one begins with it.
  private var requestedPauses: IntervalSet {
    let steps = attempts.flatMap(\.pauses)
    let end = attempts.last.map { $0.end ?? $0.start } ?? 0
    return IntervalSet(
      steps.indices.filter { steps[$0].state.isPaused(user.string) }.map { index in
        Range(from: steps[index].time, to: index + 1 < steps.count ? steps[index + 1].time : end)
      })
  }

  /// When the user was in the room; the whole attempt where that is not known. Who was there when a process was lost is so until the
  /// next one sees them, or begins.
  private var presence: IntervalSet {
    IntervalSet(
      attempts.indices.flatMap { index -> [Range<Int64>] in
        let end = endOfLoss(of: index)
        let stays = stays(in: index)
        if !stays.isEmpty {
          let next = attempts.indices.dropFirst(index + 1).lazy.compactMap { self.stays(in: $0).map(\.joined).min() }
            .first
          return stays.map { Range(from: $0.joined, to: $0.left ?? next ?? end) }
        }
        let isRecorded = spans.values.contains { $0.contains { $0.attempt == index } }
        return isRecorded ? [Range(from: attempts[index].start, to: end)] : []
      })
  }

  private func stays(in attempt: Int) -> [RecordedAttempt.Participant] {
    attempts[attempt].participants.filter { UntrustedText($0.id) == user }
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
