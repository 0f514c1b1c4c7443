import Pattern

/// Keeps account of what comes back of the frames that we sent, to one peer.
struct ReturnedFrameTracker: Sendable {
  /// How long a frame may take to come back before it counts as missing although no later one has come back.
  static let patience = 2.0
  /// After so long a frame is counted for good.
  static let memory = 30.0

  private struct Entry: Sendable {
    let videoFrame: SentFrame
    var isReturned = false
  }

  private var pending: [Entry] = []
  private var positions: [UInt64: Int] = [:]
  /// How many entries were counted for good, which is the place of the first pending one.
  private var settled = 0
  private var settledReturned = 0
  /// The place of the latest frame that came back.
  private var furthest = -1
  private(set) var hasBegun = false
  private var doubled = 0
  private var reordered = 0
  private var roundTrips = Samples()

  /// A frame was sent.
  mutating func sent(_ videoFrame: SentFrame) {
    guard hasBegun else { return }
    append(videoFrame)
    while let first = pending.first, videoFrame.time - first.videoFrame.time > Self.memory { settle(first) }
  }

  /// A frame came.
  ///
  /// - Parameter sent: everything that was sent recently.
  mutating func came(_ reading: PatternReading, at time: Double, sent: SentFrames) {
    if !hasBegun {
      let ours = sent.from(reading)
      if ours.isEmpty { return }
      hasBegun = true
      for videoFrame in ours { append(videoFrame) }
    }
    guard let position = positions[reading.time], pending.indices.contains(position - settled),
      pending[position - settled].videoFrame.reading == reading
    else {
      // Older than what is remembered, it can only be one that is counted already.
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

  /// The account until now; nil when nothing came back.
  ///
  /// - Parameter end: when the peer's media ended.
  func report(end: Double) -> ReturnReport? {
    guard hasBegun else { return nil }
    var sent = settled
    var returned = settledReturned
    for (index, entry) in pending.enumerated() {
      if entry.isReturned {
        sent += 1
        returned += 1
      } else if settled + index < furthest || end - entry.videoFrame.time >= Self.patience {
        sent += 1
      }
    }
    return ReturnReport(
      sent: sent, returned: returned, missing: sent - returned, doubled: doubled, reordered: reordered,
      ratio: sent > 0 ? roundedForReport(Double(returned) / Double(sent)) : 0, roundTrip: roundTrips.spread)
  }
}
