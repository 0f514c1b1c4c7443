internal import NIOCore

/// Drops frames for which there is no room, separately for each track, and counts them.
///
/// After a dropped video frame, the track's frames are dropped until a keyframe, because they depend on it. The
/// keyframe needs ample room, so that the track does not stop again at once. Audio frames are dropped one by one.
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
  package enum Capacity: Sendable {
    case full
    /// Enough for a track to continue.
    case low
    /// Enough for a video track to resume as well.
    case ample
  }

  package enum Admission: Sendable {
    /// Admitted; carries the frames that were dropped before it, or nil if there were none.
    case admitted(after: DroppedFrameRun?)
    /// Dropped; carries all frames dropped since the last admitted one, including this one.
    case dropped(DroppedFrameRun)
  }

  private var dropped: [TrackID: DroppedFrameRun] = [:]

  package init() {}

  /// Decides whether the next frame of a track is admitted.
  ///
  /// - Parameters:
  ///   - capacity: called at most once, and not at all for a frame that is dropped in any case.
  ///   - reason: why the first frame is dropped.
  package mutating func admit(
    _ frame: EncodedFrame, of track: TrackID, capacity: () -> Capacity, reason: () -> MediaGap.Reason = { .overloaded }
  ) -> Admission {
    let before = dropped.isEmpty ? nil : dropped[track]
    let isAdmitted =
      if before == nil || track.kind == .audio {
        capacity() != .full
      } else {
        frame.isKeyframe && capacity() == .ample
      }
    if isAdmitted {
      if before != nil { dropped[track] = nil }
      return .admitted(after: before)
    }
    return .dropped(drop(frame, of: track, reason: reason))
  }

  /// Drops a frame without checking for room.
  ///
  /// - Returns: all frames dropped since the last admitted one, including this one.
  @discardableResult
  package mutating func drop(
    _ frame: EncodedFrame, of track: TrackID, reason: () -> MediaGap.Reason = { .overloaded }
  ) -> DroppedFrameRun {
    var sum = dropped[track] ?? DroppedFrameRun(reason())
    sum.add(frame)
    dropped[track] = sum
    return sum
  }

  /// The tracks whose frames are being dropped.
  package var tracks: some Collection<TrackID> { dropped.keys }

  package func isDropping(_ track: TrackID) -> Bool { dropped[track] != nil }

  /// Removes and returns the dropped frames of a track; nil if there are none.
  package mutating func takeDropped(of track: TrackID) -> DroppedFrameRun? { dropped.removeValue(forKey: track) }

  /// Removes and returns the dropped frames of all tracks of a participant.
  package mutating func takeDropped(of participant: ParticipantID) -> [TrackID: DroppedFrameRun] {
    let taken = dropped.filter { $0.key.participant == participant }
    for track in taken.keys { dropped[track] = nil }
    return taken
  }

  /// Removes and returns the dropped frames of every track.
  package mutating func takeAll() -> [TrackID: DroppedFrameRun] {
    defer { dropped = [:] }
    return dropped
  }
}

/// Consecutive frames of one track that were dropped because there was no room for them, and what was missing before
/// them.
package struct DroppedFrameRun: Sendable, Hashable {
  /// ``MediaGap/Reason/diskStalled``, ``MediaGap/Reason/overloaded`` or ``MediaGap/Reason/memoryFull``.
  package var reason: MediaGap.Reason { lostBefore.reason }
  package private(set) var count = 0
  package private(set) var keyframes = 0
  /// Bytes of payload.
  package private(set) var bytes = 0
  /// When the first and the last of them arrived; nil while there is none.
  package private(set) var firstArrival: MonotonicInstant?
  package private(set) var lastArrival: MonotonicInstant?
  /// Packets and frames that were lost before, as the gaps of the dropped frames say.
  package private(set) var lostBefore: MediaGap

  package init(_ reason: MediaGap.Reason) {
    lostBefore = MediaGap(reason)
  }

  package mutating func add(_ frame: EncodedFrame) {
    count += 1
    if frame.isKeyframe { keyframes += 1 }
    bytes += frame.payload.readableBytes
    firstArrival = min(firstArrival ?? frame.arrived, frame.arrived)
    lastArrival = max(lastArrival ?? frame.arrived, frame.arrived)
    note(frame.gap)
  }

  /// Returns the gap before the next frame of the track.
  ///
  /// - Parameter next: the gap that this frame already has.
  package func gap(before next: MediaGap?) -> MediaGap {
    var sum = self
    sum.note(next)
    sum.lostBefore.framesDropped += count
    sum.lostBefore.delay = next?.delay ?? .zero
    return sum.lostBefore
  }

  private mutating func note(_ gap: MediaGap?) {
    lostBefore.packetsLost += gap?.packetsLost ?? 0
    lostBefore.framesDropped += gap?.framesDropped ?? 0
  }
}
