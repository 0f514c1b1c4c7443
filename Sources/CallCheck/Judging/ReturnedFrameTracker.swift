import Pattern

/// Tracks which of the frames that we sent return from one peer.
struct ReturnedFrameTracker: Sendable {
  /// How long a frame may take to return, in seconds, before it counts as missing although no later one has returned.
  static let returnTimeout = 2.0
  /// After this many seconds, a frame's outcome is final.
  static let memory = 30.0

  private struct Entry: Sendable {
    let videoFrame: SentFrame
    var isReturned = false
  }

  private var pending: [Entry] = []
  private var positions: [UInt64: Int] = [:]
  /// The number of entries whose outcome is final, which is the index of the first pending one.
  private var settled = 0
  private var settledReturned = 0
  /// The index of the latest frame that returned.
  private var furthest = -1
  private var hasBegun = false
  /// Whether frames that we send are counted: from the first one that returns, until the stream ends.
  private var isCounting = false
  private var doubled = 0
  private var reordered = 0
  private var roundTrips = Samples()

  /// Records a frame that we sent.
  mutating func sent(_ videoFrame: SentFrame) {
    guard isCounting else { return }
    append(videoFrame)
    while let first = pending.first, videoFrame.time - first.videoFrame.time > Self.memory { settle(first) }
  }

  /// Records a frame that arrived.
  ///
  /// - Parameter sent: the recently sent frames.
  mutating func received(_ reading: PatternReading, at time: Double, sent: SentFrames) {
    if !isCounting {
      let ours = sent.from(reading)
      if ours.isEmpty { return }
      hasBegun = true
      isCounting = true
      for videoFrame in ours { append(videoFrame) }
    }
    guard let position = positions[reading.time], pending.indices.contains(position - settled),
      pending[position - settled].videoFrame.reading == reading
    else {
      // A frame older than the remembered ones can only be one that was counted already.
      if !sent.from(reading).isEmpty { doubled += 1 }
      return
    }
    let index = position - settled
    if pending[index].isReturned {
      doubled += 1
      return
    }
    pending[index].isReturned = true
    roundTrips.add(time - pending[index].videoFrame.time)
    if position < furthest { reordered += 1 }
    furthest = max(furthest, position)
  }

  private mutating func append(_ videoFrame: SentFrame) {
    positions[videoFrame.reading.time] = settled + pending.count
    pending.append(Entry(videoFrame: videoFrame))
  }

  private mutating func settle(_ entry: Entry) {
    if entry.isReturned { settledReturned += 1 }
    positions[entry.videoFrame.reading.time] = nil
    pending.removeFirst()
    settled += 1
  }

  /// Accounts for the end of the stream. If frames return later, those that we sent between are not missing.
  mutating func end(at time: Double) {
    (settled, settledReturned) = totals(end: time)
    pending = []
    positions = [:]
    furthest = settled - 1
    isCounting = false
  }

  /// Returns the totals so far; nil if nothing returned.
  ///
  /// - Parameter end: when the peer's media ended.
  func report(end: Double) -> ReturnReport? {
    guard hasBegun else { return nil }
    let (sent, returned) = totals(end: end)
    return ReturnReport(
      sent: sent, returned: returned, missing: sent - returned, doubled: doubled, reordered: reordered,
      ratio: sent > 0 ? roundedForReport(Double(returned) / Double(sent)) : 0, roundTrip: roundTrips.spread)
  }

  private func totals(end: Double) -> (sent: Int, returned: Int) {
    var sent = settled
    var returned = settledReturned
    for (index, entry) in pending.enumerated() {
      if entry.isReturned {
        sent += 1
        returned += 1
      } else if settled + index < furthest || end - entry.videoFrame.time >= Self.returnTimeout {
        sent += 1
      }
    }
    return (sent, returned)
  }
}

/// The recently sent frames, for recognizing them when they return.
struct SentFrames: Sendable {
  /// The minimum number of remembered frames: half a minute or more.
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

  /// Returns the frames that were sent from this one on; empty if it is not ours.
  func from(_ reading: PatternReading) -> ArraySlice<SentFrame> {
    guard let position = times[reading.time].map({ $0 - removed }), recent.indices.contains(position),
      recent[position].reading == reading
    else { return [] }
    return recent[position...]
  }
}

/// A frame of the pattern that we sent.
struct SentFrame: Sendable, Hashable {
  /// The content of the painted code.
  let reading: PatternReading
  /// When it was sent, in seconds since the check's start.
  let time: Double
}
