/// Drops frames for which there is no room, each track on its own, and counts them.
///
/// After a dropped video frame the track's frames are dropped up to a keyframe, because they depend on it. The keyframe has to
/// find ample room, so that the track does not stop again at once. Audio frames are dropped one by one.
///
/// ```
///                  a frame finds no room
///   admitting ───────────────────────────────► dropping
///       ▲                                         │
///       └── a keyframe finds ample room (video) ──┘
///           a frame finds room (audio)
/// ```
package struct FrameDropper: Sendable {
  /// How much room there is for a frame.
  package enum Room: Sendable {
    case none
    /// Enough for a track to continue.
    case some
    /// Enough for a video track to resume as well.
    case ample
  }

  package enum Admission: Sendable {
    /// With the frames that were dropped before it; nil when there were none.
    case admitted(after: DroppedFrameRun?)
    /// With all that were dropped since the last admitted one, this one included.
    case dropped(DroppedFrameRun)
  }

  package struct Track: Hashable, Sendable {
    package let owner: ParticipantID
    package let kind: MediaKind

    package init(_ owner: ParticipantID, _ kind: MediaKind) {
      self.owner = owner
      self.kind = kind
    }

    package init(of frame: EncodedFrame) {
      self.init(frame.owner, frame.codec.kind)
    }
  }

  private var dropped: [Track: DroppedFrameRun] = [:]

  package init() {}

  /// Decides whether the next frame of a track is admitted.
  ///
  /// - Parameters:
  ///   - room: called once, or not at all for a frame that is dropped in any case.
  ///   - reason: of the first dropped frame.
  package mutating func admit(
    _ frame: EncodedFrame, of track: Track, room: () -> Room, reason: () -> MediaGap.Reason = { .overloaded }
  ) -> Admission {
    let before = dropped.isEmpty ? nil : dropped[track]
    let isAdmitted =
      if before == nil || track.kind == .audio {
        room() != .none
      } else {
        frame.isKeyframe && room() == .ample
      }
    if isAdmitted {
      if before != nil { dropped[track] = nil }
      return .admitted(after: before)
    }
    return .dropped(drop(frame, of: track, reason: reason))
  }

  /// Drops a frame without requesting room.
  ///
  /// - Returns: all that were dropped since the last admitted one, this one included.
  @discardableResult
  package mutating func drop(
    _ frame: EncodedFrame, of track: Track, reason: () -> MediaGap.Reason = { .overloaded }
  ) -> DroppedFrameRun {
    var sum = dropped[track] ?? DroppedFrameRun(reason())
    sum.add(frame)
    dropped[track] = sum
    return sum
  }

  /// The tracks whose frames are dropped now.
  package var tracks: some Collection<Track> { dropped.keys }

  package func isDropping(_ track: Track) -> Bool { dropped[track] != nil }

  /// Takes what was dropped of a track, after which nothing more of it is expected; nil when nothing was.
  package mutating func takeDropped(of track: Track) -> DroppedFrameRun? { dropped.removeValue(forKey: track) }

  /// Takes what was dropped of every track.
  package mutating func takeAll() -> [Track: DroppedFrameRun] {
    defer { dropped = [:] }
    return dropped
  }
}
