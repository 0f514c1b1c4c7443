package import Media

/// Tracks the missing packets of one source and decides which to request again (RFC 4585, 6.2.1).
///
/// A packet is first requested when it has been missing for 20 ms, because most gaps are only reordered packets; then again
/// whenever an answer is overdue, with longer intervals after some tries; and finally it is given up. The ``NackWindow``
/// limits how many are requested at a time, the oldest first.
package struct NackGenerator: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// How long a packet may be late before it is requested.
    package var reorderingDelay: Duration = .milliseconds(20)
    /// How long to wait for a packet. It grows, up to `maximumPacketTimeout`, on a path with a long round-trip time.
    package var packetTimeout: Duration = .seconds(3)
    package var maximumPacketTimeout: Duration = .seconds(3)
    /// Whether the sender answers NACKs; if not, missing packets are only waited for.
    package var supportsNack = true
    /// The maximum number of consecutive missing packets; a longer run is not requested at all.
    package var maximumRun = 1_000
    /// The maximum number of packets in the list; the oldest are given up first.
    package var limit = 2_000

    package init() {}
  }

  /// The meaning of a packet's arrival.
  package enum Arrival: Sendable, Hashable {
    /// It is newer than all others.
    case newest
    /// It fills a gap. `requests` is how often it was requested, `sinceRequest` the time since the last request,
    /// `sinceMissed` the time since the gap was detected.
    case filled(requests: Int, sinceRequest: Duration?, sinceMissed: Duration)
    /// It was not missing: a duplicate, or given up before.
    case known
  }

  private struct Missing: Sendable {
    var sequence: Int64
    var since: MonotonicInstant
    var nextRequest: MonotonicInstant
    var lastRequest: MonotonicInstant?
    /// When the answer to the last request is expected; nil while none is awaited.
    var answerIsDue: MonotonicInstant?
    var requests = 0
  }

  package let configuration: Configuration
  /// The number of requested sequence numbers, each request counted.
  package private(set) var requested: UInt64 = 0
  /// A time at or before which ``poll(roundTrip:now:)`` must be called.
  package private(set) var deadline: MonotonicInstant?

  /// In order of sequence number, and so of age.
  private var missing: [Missing] = []
  private var highest: Int64?
  private var window = NackWindow()
  /// Whether there are more packets to request than the window allows.
  private var isHeldBack = false
  /// The interval within which requests that are due are sent together.
  private static let batchingInterval: Duration = .milliseconds(3)

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
  }

  /// The number of packets that are missing and not given up.
  package var count: Int { missing.count }

  package func isMissing(_ sequence: Int64) -> Bool {
    guard !missing.isEmpty else { return false }
    let position = position(of: sequence)
    return position < missing.count && missing[position].sequence == sequence
  }

  /// Returns the first missing packet above `sequence`.
  package func firstMissing(above sequence: Int64) -> Int64? {
    guard !missing.isEmpty else { return nil }
    let position = position(of: sequence &+ 1)
    return position < missing.count ? missing[position].sequence : nil
  }

  /// Returns when the first missing packet above `sequence` will have been missing for `age`.
  package func instant(ofAge age: Duration, above sequence: Int64) -> MonotonicInstant? {
    guard !missing.isEmpty else { return nil }
    let position = position(of: sequence &+ 1)
    return position < missing.count ? missing[position].since + age : nil
  }

  package mutating func arrived(_ sequence: Int64, now: MonotonicInstant) -> Arrival {
    guard let highest else {
      self.highest = sequence
      return .newest
    }
    if sequence > highest {
      addMissing(from: highest &+ 1, to: sequence, now: now)
      self.highest = sequence
      return .newest
    }
    guard !missing.isEmpty else { return .known }
    let position = position(of: sequence)
    guard position < missing.count, missing[position].sequence == sequence else { return .known }
    let entry = missing.remove(at: position)
    if entry.requests > 0 { window.wasAnswered() }
    if missing.isEmpty {
      deadline = nil
    } else if isHeldBack {
      schedule(now + Self.batchingInterval)
    }
    return .filled(
      requests: entry.requests, sinceRequest: entry.lastRequest.map { now - $0 }, sinceMissed: now - entry.since)
  }

  /// Adds packets before the first one that arrived. They were sent, because an earlier one has arrived, or because the
  /// first one continues a frame.
  ///
  /// Only packets below the first one in the list are added, because the list covers the others already.
  package mutating func expectEarlier(_ range: Range<Int64>, now: MonotonicInstant) {
    let end = min(range.upperBound, missing.first?.sequence ?? .max)
    guard range.lowerBound < end, range.count <= configuration.maximumRun else { return }
    missing.insert(contentsOf: (range.lowerBound..<end).map { entry($0, now: now) }, at: 0)
    schedule(now + configuration.reorderingDelay)
  }

  /// Removes all missing packets below `sequence`.
  package mutating func giveUp(below sequence: Int64) {
    guard let first = missing.first, first.sequence < sequence else { return }
    missing.removeSubrange(..<position(of: sequence))
    if missing.isEmpty { deadline = nil }
  }

  /// Gives up packets that are too old and returns the sequence numbers to request now, in order.
  package mutating func poll(roundTrip: RoundTripTime, now: MonotonicInstant) -> [Int64] {
    guard let due = deadline, due <= now else { return [] }
    let timeout = packetTimeout(roundTrip: roundTrip)
    if let keep = missing.firstIndex(where: { now - $0.since < timeout }) {
      if keep > 0 { missing.removeSubrange(..<keep) }
    } else {
      missing.removeAll(keepingCapacity: true)
    }
    guard let oldest = missing.first else {
      deadline = nil
      return []
    }
    let end = oldest.since + timeout
    guard configuration.supportsNack else {
      deadline = end
      return []
    }
    let requests = requestDue(roundTrip: roundTrip, now: now)
    deadline = min(end, nextRequest ?? end)
    requested &+= UInt64(requests.count)
    return requests
  }

  /// Requests the packets that are due, the oldest first, as far as the window allows.
  private mutating func requestDue(roundTrip: RoundTripTime, now: MonotonicInstant) -> [Int64] {
    // Packets that are due shortly are included, which saves RTCP packets.
    let horizon = now + Self.batchingInterval
    var awaited = 0
    for index in missing.indices {
      guard let due = missing[index].answerIsDue else { continue }
      if due > horizon {
        awaited += 1
      } else {
        missing[index].answerIsDue = nil
        window.wasNotAnswered()
      }
    }
    isHeldBack = false
    var requests: [Int64] = []
    for index in missing.indices where missing[index].nextRequest <= horizon {
      guard awaited < window.size else {
        isHeldBack = true
        break
      }
      awaited += 1
      missing[index].requests += 1
      missing[index].lastRequest = now
      missing[index].answerIsDue = now + roundTrip.retryInterval
      missing[index].nextRequest = now + interval(after: missing[index].requests, roundTrip: roundTrip)
      requests.append(missing[index].sequence)
    }
    return requests
  }

  /// When there will be packets to request: as soon as an answer is overdue, if the window is full.
  private var nextRequest: MonotonicInstant? {
    isHeldBack ? missing.lazy.compactMap(\.answerIsDue).min() : missing.lazy.map(\.nextRequest).min()
  }

  /// Returns how long to wait for a packet on a path with this round-trip time: long enough for at least three requests.
  package func packetTimeout(roundTrip: RoundTripTime) -> Duration {
    guard configuration.supportsNack else { return configuration.packetTimeout }
    return max(
      configuration.packetTimeout,
      min(roundTrip.estimate * 3 + .milliseconds(200), configuration.maximumPacketTimeout))
  }

  /// Returns the interval to the next request: six tries at the pace of the round trip, then each interval 1.25 times
  /// longer than the one before, up to twice. Packets that are still missing when a congested path recovers must not wait
  /// long.
  private func interval(after requests: Int, roundTrip: RoundTripTime) -> Duration {
    let base = roundTrip.retryInterval
    guard requests > 6 else { return base }
    var interval = base
    for _ in 6..<min(requests, 10) { interval = interval * 5 / 4 }
    return min(interval, base * 2)
  }

  private mutating func addMissing(from first: Int64, to end: Int64, now: MonotonicInstant) {
    guard first < end, end &- first <= Int64(configuration.maximumRun) else { return }
    for sequence in first..<end { missing.append(entry(sequence, now: now)) }
    if missing.count > configuration.limit { missing.removeFirst(missing.count - configuration.limit) }
    schedule(now + (configuration.supportsNack ? configuration.reorderingDelay : configuration.packetTimeout))
  }

  private func entry(_ sequence: Int64, now: MonotonicInstant) -> Missing {
    Missing(sequence: sequence, since: now, nextRequest: now + configuration.reorderingDelay)
  }

  private mutating func schedule(_ instant: MonotonicInstant) {
    deadline = deadline.map { min($0, instant) } ?? instant
  }

  /// Returns the index of `sequence` in the list, or the index at which it would be inserted.
  private func position(of sequence: Int64) -> Int {
    var low = 0
    var high = missing.count
    while low < high {
      let middle = (low + high) / 2
      if missing[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
