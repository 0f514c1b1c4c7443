package import Pattern

/// Tracks the numbers on the pattern's frames: missing, duplicate and reordered ones.
package struct FrameNumberTracker: Sendable {
  /// How many numbers below the highest are remembered; older numbers that arrive count as duplicates.
  static let memory = 4_096

  /// The relation of a number to the earlier ones.
  package enum Classification: Sendable, Hashable {
    case next
    case doubled
    case reordered
    /// The pattern restarted.
    case restart
  }

  private struct Run: Sendable {
    var lowest: Int64
    var highest: Int64
    var time: UInt64
    var unique = 1
    var seen = [Bool](repeating: false, count: FrameNumberTracker.memory)

    init(_ reading: PatternReading) {
      lowest = Int64(reading.frameNumber)
      highest = lowest
      time = reading.time
      seen[Self.position(lowest)] = true
    }

    static func position(_ number: Int64) -> Int { Int(number % Int64(FrameNumberTracker.memory)) }

    var painted: Int { Int(highest - lowest) + 1 }
  }

  private var run: Run?
  /// The totals of the earlier runs.
  private var painted = 0
  private var unique = 0
  private(set) var streamID: UInt16 = 0
  package private(set) var doubled = 0
  private(set) var reordered = 0
  package private(set) var restarts = 0

  package init() {}

  /// Adds the reading of the next frame that was received.
  package mutating func add(_ reading: PatternReading) -> Classification {
    let number = Int64(reading.frameNumber)
    guard var current = run, reading.streamID == streamID else { return begin(reading) }
    // Numbers and times increase together; if only one of them decreases, this is another run.
    if (number < current.highest && reading.time > current.time)
      || (number > current.highest && reading.time < current.time)
    {
      return begin(reading)
    }
    defer { run = current }
    if number > current.highest {
      var skipped = current.highest + 1
      if number - skipped >= Int64(Self.memory) {
        current.seen = [Bool](repeating: false, count: Self.memory)
      } else {
        while skipped <= number {
          current.seen[Run.position(skipped)] = false
          skipped += 1
        }
      }
      current.seen[Run.position(number)] = true
      current.highest = number
      current.time = reading.time
      current.unique += 1
      return .next
    }
    let isRemembered = current.highest - number < Int64(Self.memory)
    if !isRemembered || current.seen[Run.position(number)] {
      doubled += 1
      return .doubled
    }
    current.seen[Run.position(number)] = true
    current.lowest = min(current.lowest, number)
    current.unique += 1
    reordered += 1
    return .reordered
  }

  /// Accounts for the end of the stream. Numbers that follow begin a run, and those between are not missing.
  mutating func end() {
    painted = numbersPainted
    unique = numbersSeen
    run = nil
  }

  private mutating func begin(_ reading: PatternReading) -> Classification {
    let isFirst = run == nil
    painted = numbersPainted
    unique = numbersSeen
    run = Run(reading)
    streamID = reading.streamID
    if isFirst { return .next }
    restarts += 1
    return .restart
  }

  /// The count of numbers from the first to the last of each run.
  package var numbersPainted: Int { painted + (run?.painted ?? 0) }

  /// The count of distinct numbers that were seen.
  package var numbersSeen: Int { unique + (run?.unique ?? 0) }
}
