internal import Inspection
internal import Media
internal import Recorder

/// What a user is in a plan, before the users have numbers.
struct UserParts: Sendable {
  let user: PlannedUser
  let problems: [String]
  private let group: UserGroup
  private let roles: StreamRoles
  /// The part of the call that is composed.
  private let range: Range<Int64>

  init(_ group: UserGroup, range: Range<Int64>, options: CompositionOptions) {
    (self.group, self.range) = (group, range)
    roles = StreamRoles(group)
    let renamed = (group.ids + [group.name].compactMap(\.self)).lazy.compactMap { options.renamed[$0] }.first
    let known = renamed ?? group.name ?? group.ids.first { !$0.isEmpty }
    let label = known.map(ShownText.name) ?? "?"
    let presence = group.recordings.map { $0.offset..<$0.end }.merged.clipped(to: range)
    user = PlannedUser(ids: group.ids, name: group.name, label: label, presence: presence)
    problems = group.recordings.compactMap { member in
      let tracks = member.recording.manifest?.content.tracks ?? []
      let isCut = tracks.contains { track in
        track.gapTotals.values.reduce(0) { $0 &+ $1.count } > UInt64(track.gaps.count)
      }
      let path = RecordedName.shown(member.recording.manifest?.path ?? "")
      return isCut ? "“\(path)” lists only its first gaps; later ones are not told apart." : nil
    }
  }

  /// When the user appears.
  var start: Int64 { user.presence.first?.lowerBound ?? .max }

  /// The messages' recordings: those of the user.
  var members: [UserGroup.Member] { group.recordings }

  /// A recording with the part of it that counts, on the time axis of the call.
  private struct Part {
    let member: UserGroup.Member
    let range: Range<Int64>
  }

  /// The recordings of a stream: each up to the start of the next one.
  private func parts(of stream: Int) -> [Part] {
    let members = group.recordings.filter { $0.stream == stream }
    return members.enumerated().map { index, member in
      let next = index + 1 < members.count ? members[index + 1].offset : .max
      return Part(member: member, range: member.offset..<max(member.offset, min(member.end, next)))
    }
  }

  /// Those recordings of a stream that have a track and are in the composition, on its time axis.
  private func planned(_ stream: Int, with track: KeyPath<ManifestTimes, ManifestTimes.Track?>) -> [PlannedRecording] {
    parts(of: stream).compactMap { part in
      let common = part.range.clamped(to: range)
      guard part.member.times[keyPath: track] != nil, !common.isEmpty else { return nil }
      return PlannedRecording(
        recording: part.member.recording, offset: part.member.offset - range.lowerBound,
        range: common.lowerBound - range.lowerBound..<common.upperBound - range.lowerBound,
        alignment: part.member.alignment)
    }
  }

  // MARK: Tiles

  func tiles(user: Int) -> [PlannedTile] {
    var tiles: [PlannedTile] = []
    if let main = roles.main {
      let presence = group.recordings.filter { roles.present.contains($0.stream) }.map { $0.offset..<$0.end }.merged
      if let tile = tile(main, user: user, isScreen: false, presence: presence) { tiles.append(tile) }
    }
    for (stream, isScreen) in roles.further {
      let presence = parts(of: stream).map(\.range).merged
      if let tile = tile(stream, user: user, isScreen: isScreen, presence: presence) { tiles.append(tile) }
    }
    return tiles
  }

  /// - Parameter presence: when the tile is there, on the time axis of the call, in order.
  private func tile(_ stream: Int, user: Int, isScreen: Bool, presence: [Range<Int64>]) -> PlannedTile? {
    let parts = parts(of: stream)
    var timeline = PictureTimeline()
    for interval in presence {
      var time = interval.lowerBound
      for part in parts {
        let common = part.range.clamped(to: interval)
        guard !common.isEmpty, common.lowerBound >= time else { continue }
        timeline.add(.nameTile(.noVideo), time..<common.lowerBound)
        let offset = part.member.offset
        timeline.add(
          part.member.times.video, in: common.lowerBound - offset..<common.upperBound - offset, offset: offset,
          isFurther: stream != roles.main)
        time = common.upperBound
      }
      timeline.add(.nameTile(.noVideo), time..<interval.upperBound)
    }
    timeline.clip(to: range)
    if timeline.spans.isEmpty { return nil }
    return PlannedTile(
      user: user, stream: stream, isScreen: isScreen, label: self.user.label,
      recordings: planned(stream, with: \.video), spans: timeline.spans)
  }

  // MARK: Sound

  func sounds(user: Int) -> [PlannedSound] {
    Set(group.recordings.map(\.stream)).sorted().compactMap { stream in
      let recordings = planned(stream, with: \.audio)
      if recordings.isEmpty { return nil }
      return PlannedSound(user: user, stream: stream, recordings: recordings, gaps: gaps(of: stream))
    }
  }

  private func gaps(of stream: Int) -> [SoundGap] {
    var gaps: [SoundGap] = []
    for part in parts(of: stream) {
      let common = part.range.clamped(to: range)
      for gap in part.member.times.audio?.gaps ?? [] where gap.isHeard && !common.isEmpty {
        let begin = gap.start + part.member.offset
        let start = max(begin, common.lowerBound, gaps.last.map { $0.end + range.lowerBound } ?? .min)
        let end = min(gap.end + part.member.offset, common.upperBound)
        guard start < end else { continue }
        let repaired = min(max(0, begin + gap.repaired - start), end - start)
        gaps.append(
          SoundGap(
            start: start - range.lowerBound, end: end - range.lowerBound, reason: gap.reason, repaired: repaired))
      }
    }
    return gaps
  }
}

extension ManifestTimes.Gap {
  /// Whether anything is missing in the file.
  fileprivate var isHeard: Bool { reason != .recoveredLate && reason != .senderDiscarded }
}
