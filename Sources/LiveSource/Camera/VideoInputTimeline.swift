import FileSource

/// The frames of an input on the camera's timeline, round after round, at their own times or at a constant rate.
///
/// If an input is shorter than the round, its last frame is repeated at the input's own frame interval. At a constant
/// rate, each frame is the newest of the input: input frames are repeated or skipped as needed.
struct VideoInputTimeline {
  private let input: any VideoInput
  private let interval: Int64
  /// The input's range within each round; nil for an input without one, which is never rewound.
  private let range: Range<Int64>?
  private let rounds: LoopSchedule
  private let rate: VideoRate?

  /// When the round began, and whether it has had a frame.
  private var base: Int64 = 0
  private var roundHasVideoFrame = false
  /// The time of the input's newest frame, or of its last repetition.
  private var last: Int64?
  /// The next tick of the constant rate; nil before the first frame.
  private var tick: Int64?

  /// - Parameters:
  ///   - interval: the usual interval between the input's frames.
  ///   - rate: the constant rate; nil to keep the frames' own times.
  init(
    _ input: any VideoInput, interval: Int64, extent: Extent, rounds: LoopSchedule, rate: VideoRate? = nil
  ) {
    self.input = input
    self.interval = max(1, interval)
    if case .range(let range) = extent { self.range = range } else { range = nil }
    // An input of unknown duration is neither cut short nor restarted.
    self.rounds = extent == .unknown ? LoopSchedule(period: nil, loops: false) : rounds
    self.rate = rate
  }

  /// Returns the time of the next frame; nil at the end.
  mutating func peek() throws(InputError) -> Int64? {
    guard let rate else { return try step()?.time }
    let step = try step()
    if tick == nil, let first = step?.time {
      let newest = rate.frameNumber(at: first)
      tick = rate.time(of: newest) < first ? newest + 1 : newest
    }
    guard let tick else { return nil }
    let time = rate.time(of: tick)
    if let end = rounds.end, time >= end + (range?.lowerBound ?? 0) { return nil }
    if step == nil, time >= (last ?? 0) + interval { return nil }
    return time
  }

  /// Advances to the frame whose time `peek` returned.
  mutating func advance() throws(InputError) {
    guard let time = try peek() else { return }
    if rate == nil {
      if let step = try step() { try take(step) }
    } else {
      while let step = try step(), step.time <= time { try take(step) }
      tick = tick.map { $0 + 1 }
    }
  }

  /// The input, positioned at the frame that `advance` reached.
  var current: any VideoInput { input }

  /// When the last frame's duration ends; nil while that is unknown.
  var end: Int64? { rounds.end ?? last.map { $0 + interval } }

  // MARK: The input's own frames

  private enum Step {
    /// The input's next frame.
    case videoFrame(Int64)
    /// A repetition of its last frame.
    case repetition(Int64)

    var time: Int64 {
      switch self {
      case .videoFrame(let time), .repetition(let time): time
      }
    }
  }

  private mutating func step() throws(InputError) -> Step? {
    guard let range, let period = rounds.period else {
      guard let time = try input.peek() else { return nil }
      if let end = rounds.end, time >= end { return nil }
      return .videoFrame(time)
    }
    while true {
      let roundEnd = base + range.lowerBound + period
      if let time = try input.peek(), base + time < roundEnd { return .videoFrame(base + time) }
      // A repetition that would be shown for less than half an interval is left out.
      if let last, last + interval + interval / 2 <= roundEnd { return .repetition(last + interval) }
      guard rounds.loops else { return nil }
      guard roundHasVideoFrame else { throw .changed }
      try input.rewind()
      base += period
      roundHasVideoFrame = false
    }
  }

  private mutating func take(_ step: Step) throws(InputError) {
    if case .videoFrame = step {
      try input.advance()
      roundHasVideoFrame = true
    }
    last = step.time
  }
}
