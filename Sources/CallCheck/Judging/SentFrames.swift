import Pattern

/// The frames that were sent recently, to know them again.
struct SentFrames: Sendable {
  /// How many are remembered: half a minute and more.
  static let memory = 2_048

  private(set) var recent: [SentFrame] = []
  private var times: [UInt64: Int] = [:]
  private var removed = 0

  mutating func add(_ videoFrame: SentFrame) {
    times[videoFrame.reading.time] = removed + recent.count
    recent.append(videoFrame)
    if recent.count < 2 * Self.memory { return }
    for old in recent.prefix(Self.memory) where times[old.reading.time].map({ $0 < removed + Self.memory }) == true {
      times[old.reading.time] = nil
    }
    recent.removeFirst(Self.memory)
    removed += Self.memory
  }

  /// The frames that were sent from this one on; empty when it is not ours.
  func from(_ reading: PatternReading) -> ArraySlice<SentFrame> {
    guard let position = times[reading.time].map({ $0 - removed }), recent.indices.contains(position),
      recent[position].reading == reading
    else { return [] }
    return recent[position...]
  }
}

/// A frame of the pattern that we sent.
struct SentFrame: Sendable, Hashable {
  /// What is painted on it.
  let reading: PatternReading
  /// When it was sent, in seconds since the check's start.
  let time: Double
}
