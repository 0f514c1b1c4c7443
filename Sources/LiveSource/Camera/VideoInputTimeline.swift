import FileSource

/// An input's frames on the camera's time, round after round, at their own times or at an even rate.
///
/// Where an input is shorter than the round, its last frame stops: it comes again and again at the input's own
/// pace. At an even rate each frame is the newest of the input: frames are given again or skipped, by time.
struct VideoInputTimeline {
  private let input: any VideoInput
  private let interval: Int64
  /// The input's own range within each round; nil for one that has none, which is never rewound.
  private let range: Range<Int64>?
  private let rounds: LoopSchedule
  private let rate: VideoRate?

  /// When the round began, and whether it has brought a frame.
  private var base: Int64 = 0
  private var roundHasVideoFrame = false
  /// When the input's newest frame came, or came again.
  private var last: Int64?
  /// The next tick of the even rate; nil before the first frame.
  private var tick: Int64?

  /// - Parameters:
  ///   - interval: from one of the input's frames to the next, usually.
  ///   - rate: the even rate; nil for the frames' own times.
  init(
    _ input: any VideoInput, interval: Int64, extent: Extent, rounds: LoopSchedule, rate: VideoRate? = nil
  ) {
    self.input = input
    self.interval = max(1, interval)
    if case .range(let range) = extent { self.range = range } else { range = nil }
    // What ends when it ends is neither cut short nor started again.
    self.rounds = extent == .unknown ? LoopSchedule(period: nil, loops: false) : rounds
    self.rate = rate
  }

  /// When the next frame is to be shown; nil at the end.
  mutating func peek() throws(InputError) -> Int64? {
    guard let rate else { return try step()?.time }
    let step = try step()
    if tick == nil, let first = step?.time {
      let newest = rate.videoFrame(at: first)
      tick = rate.time(of: newest) < first ? newest + 1 : newest
    }
    guard let tick else { return nil }
    let time = rate.time(of: tick)
    if let end = rounds.end, time >= end + (range?.lowerBound ?? 0) { return nil }
    if step == nil, time >= (last ?? 0) + interval { return nil }
    return time
  }

  /// Continues to the frame that `peek` told of.
  mutating func advance() throws(InputError) {
    guard let time = try peek() else { return }
    if rate == nil {
      if let step = try step() { try take(step) }
    } else {
      while let step = try step(), step.time <= time { try take(step) }
      tick = tick.map { $0 + 1 }
    }
  }

  /// The input's frame that `advance` went to.
  var current: any VideoInput { input }

  /// When the last frame has had its time to be seen; nil as long as it is not known.
  var end: Int64? { rounds.end ?? last.map { $0 + interval } }

  // MARK: The input's own frames

  private enum Step {
    /// The input's next frame.
    case videoFrame(Int64)
    /// Its last one, still.
    case standing(Int64)

    var time: Int64 {
      switch self {
      case .videoFrame(let time), .standing(let time): time
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
      // A frame that stops for less than half its time more is not worth another.
      if let last, last + interval + interval / 2 <= roundEnd { return .standing(last + interval) }
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
