package import Media
internal import NIOCore

/// Schedules the frames of a file: all tracks on one clock, in real time, once or in a loop. It reads nothing and never
/// waits.
///
/// A frame is always due at `began` plus its `time`. Each round of a loop is offset by a whole number of ticks of both
/// tracks' clocks, so the thousandth round is as exact as the first. The caller keeps each track filled a little ahead:
///
///     append ─► one queue for each track ─► poll(now:) ─► frames that are due
///
/// After a late wakeup, everything that became due meanwhile is due at once, and nothing else. Only after more than
/// `maximumCatchUp` (the machine slept, the disk hung) does playback continue from where it was, with the pause in the
/// timestamps, as if a camera had paused.
package struct PacedPlayer: Sendable {
  /// How far ahead the queue of a track should reach, and its maximum number of bytes.
  package static let lookAhead: Duration = .seconds(2)
  package static let maximumQueue = 8 << 20
  /// The maximum delay that is caught up.
  package static let maximumCatchUp: Duration = .seconds(2)

  private let owner: ParticipantID
  private let loops: Bool
  /// The duration of one round, in units of `MediaTimebase.rate`; a multiple of `MediaTimebase.commonSpan`.
  private let period: Int64
  private var tracks: [MediaKind: Track]
  /// When time zero was, once playback has begun.
  private var began: ContinuousClock.Instant?
  /// The duration of all pauses, in units.
  private var pauses: Int64 = 0
  /// The time up to which frames have been returned, in units without pauses.
  private var now: Int64 = 0

  private struct Track: Sendable {
    /// Frames to be played; `time` counts from the beginning of the first round.
    var queue = BoundedFrameQueue<FileFrame>()
    /// The round that is being appended.
    var round: Int64 = 0
    var hasEnded = false
    let codec: Codec

    init(_ codec: Codec) {
      self.codec = codec
    }
  }

  /// - Parameters:
  ///   - codecs: the codecs of the file's tracks, one of a kind.
  ///   - period: the duration of one round in units of `MediaTimebase.rate`; rounded up to a multiple of
  ///     `MediaTimebase.commonSpan`.
  ///   - owner: the participant that the frames belong to.
  package init(codecs: [Codec], period: Int64, loops: Bool, owner: ParticipantID) {
    self.owner = owner
    self.loops = loops
    self.period = MediaTimebase.roundedUp(max(MediaTimebase.commonSpan, period))
    tracks = Dictionary(codecs.map { ($0.kind, Track($0)) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Filling

  /// Whether a track needs more frames.
  package func wants(_ kind: MediaKind) -> Bool {
    guard let track = tracks[kind], !track.hasEnded else { return false }
    guard let last = track.queue.last else { return true }
    return last.time < now + MediaTimebase.units(Self.lookAhead) && track.queue.bytes < Self.maximumQueue
  }

  /// Appends a track's next frames, in the file's order.
  package mutating func append(_ frames: [FileFrame], of kind: MediaKind) {
    guard var track = tracks.removeValue(forKey: kind) else { return }
    let offset = track.round &* period
    for var frame in frames {
      frame.time &+= offset
      track.queue.append(frame, bytes: frame.payload.readableBytes)
    }
    tracks[kind] = track
  }

  /// Records that a track has been appended to its end. Frames appended after that belong to the next round; without a
  /// loop, there must be none.
  package mutating func roundEnded(_ kind: MediaKind) {
    tracks[kind]?.round += 1
    if !loops { tracks[kind]?.hasEnded = true }
  }

  // MARK: Playing

  /// Starts the clock: the first frame is due now.
  package mutating func begin(now: ContinuousClock.Instant) {
    if began == nil { began = now }
  }

  /// Returns the frames that are due, in order of their times. None before `begin`.
  package mutating func poll(now instant: ContinuousClock.Instant) -> [EncodedFrame] {
    guard let began else { return [] }
    pauseIfTooLate(instant)
    now = max(now, MediaTimebase.units(instant - began) - pauses)

    var due: [EncodedFrame] = []
    while let (codec, head) = nextFrame, instant >= self.instant(of: head.time, began) {
      _ = tracks[codec.kind]?.queue.popFirst()
      due.append(encoded(head, codec, began))
    }
    return due
  }

  /// When to call `poll` next; nil before `begin`, when nothing is left, and while a track that has not ended has no
  /// frames.
  package var deadline: ContinuousClock.Instant? {
    guard let began, !isFinished else { return nil }
    if let head = nextFrame?.frame { return instant(of: head.time, began) }
    return hasEnded ? instant(of: period, began) : nil
  }

  /// Whether the file has been played to its end, including the duration of the last frame; never true in a loop.
  package var isFinished: Bool {
    hasEnded && nextFrame == nil && now >= period
  }

  private var hasEnded: Bool {
    tracks.values.allSatisfy(\.hasEnded)
  }

  /// The earliest frame of all tracks; of two with the same time, the audio.
  private var nextFrame: (codec: Codec, frame: FileFrame)? {
    var earliest: (codec: Codec, frame: FileFrame)?
    for kind in [MediaKind.audio, .video] {
      guard let frame = tracks[kind]?.queue.first, let codec = tracks[kind]?.codec else { continue }
      if let earliest, earliest.frame.time <= frame.time { continue }
      earliest = (codec, frame)
    }
    return earliest
  }

  private mutating func pauseIfTooLate(_ instant: ContinuousClock.Instant) {
    guard let began, let head = nextFrame?.frame else { return }
    let lateness = instant - self.instant(of: head.time, began)
    guard lateness > Self.maximumCatchUp else { return }
    pauses &+= MediaTimebase.units(lateness) / MediaTimebase.commonSpan * MediaTimebase.commonSpan
  }

  private func instant(of time: Int64, _ began: ContinuousClock.Instant) -> ContinuousClock.Instant {
    began + MediaTimebase.duration(time &+ pauses)
  }

  private func encoded(_ frame: FileFrame, _ codec: Codec, _ began: ContinuousClock.Instant) -> EncodedFrame {
    let unit = MediaTimebase.units(perTickOf: codec)
    return EncodedFrame(
      owner: owner, codec: codec,
      time: MediaTime(ticks: (frame.time &+ pauses &+ unit / 2) / unit, rate: codec.clockRate),
      payload: frame.payload, header: frame.header, isKeyframe: frame.isKeyframe, size: frame.size,
      arrived: MonotonicInstant(instant(of: frame.time, began)))
  }
}
