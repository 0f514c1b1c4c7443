import FileSource
import Media

/// Schedules frames that are sent as stored, round after round. It reads no clock.
///
/// Each frame depends on those before it, so none is left out: after a late wakeup `take` returns everything that has become due.
struct StoredVideoTrack {
  private let reader: TrackReader
  private let rounds: LoopSchedule
  private let frames: Int
  private let offset: Int64
  /// When the round began, and the number of its frames that were read.
  private var base: Int64 = 0
  private var count = 0
  private var next: FileFrame?
  private var isOver = false

  init(_ plan: StoredVideoPlan, rounds: LoopSchedule) throws(InputError) {
    reader = try plan.open()
    frames = plan.frames
    offset = plan.offset
    self.rounds = rounds
  }

  /// Reads the next frame, unless one is ready.
  mutating func prepare() throws(InputError) {
    while next == nil, !isOver {
      let reader = reader
      if var frame = try refusing({ () throws(MediaFile.ReadError) in try reader.next() }) {
        frame.time &+= base &+ offset
        next = frame
        count += 1
        return
      }
      // Each round must contain the frames that the check counted, or the rounds would not join in time.
      guard count == frames, count > 0 else { throw .changed }
      guard rounds.loops, let period = rounds.period else {
        isOver = true
        return
      }
      try refusing { () throws(MediaFile.ReadError) in try reader.rewind() }
      base &+= period
      count = 0
    }
  }

  /// When to call `take` next, in units of `MediaTimebase.rate`: the next frame's time, or, after the last one, the end of the round.
  var deadline: Int64 { next?.time ?? rounds.end ?? base }

  /// Returns the next frame that is due; nil if none is. Call it until it returns nil.
  mutating func take(now: Int64) throws(InputError) -> FileFrame? {
    try prepare()
    guard let frame = next, frame.time <= now else { return nil }
    next = nil
    return frame
  }

  /// Whether the last frame has been returned and the round has ended.
  func isFinished(now: Int64) -> Bool {
    isOver && next == nil && now >= (rounds.end ?? 0)
  }
}
