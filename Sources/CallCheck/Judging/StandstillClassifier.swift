import Media

/// Decides why the media of a track arrived late although its timestamps continue: the network delayed it, or the sender
/// sent nothing and its media clock stood still meanwhile.
///
/// After a delay by the network, the packets that were held up arrive in a burst, and those after them are as fast as
/// before. After a standstill, all packets stay late by its length. They also do if the network's delay stays higher; the
/// next sender report distinguishes the two. Until then a wait is undecided.
struct StandstillClassifier: Sendable {
  /// An interval in which nothing arrived, although the timestamps after it continue those before it.
  struct Wait: Sendable {
    let number: Int
    /// When the media before it ended. All times are in seconds.
    let start: Double
    let duration: Double
    /// When the packet before it arrived.
    let previousArrived: Double
    /// The media time of the packet that ended it.
    let next: MediaTime
    /// By how much the packets after it are later than those before it, at least.
    fileprivate(set) var leastLateness: Double
    /// Until when packets after it were compared.
    fileprivate(set) var comparedUntil: Double
    /// For how long the media clock stood still; nil as long as that is undecided.
    fileprivate(set) var standstill: Double?

    /// When the packet arrived that ended it.
    var end: Double { start + duration }
  }

  /// How long, in seconds, a wait may stay undecided. Browsers send a report of audio at least every 7.5 s.
  private static let maximumTime = 10.0
  /// Only so many of the last waits are undecided.
  private static let maximumCount = 16
  /// Packets whose delays differ by less than this are equally fast.
  private static let jitter = 0.1
  /// The delay of a network path does not change at once by more than this, and then stay.
  private static let maximumDelayChange = 1.0
  /// How long packets must have been late for a decision without reports.
  private static let minimumObservation = 0.1

  private let kind: MediaKind
  private var waits: [Wait] = []
  private var count = 0

  init(_ kind: MediaKind) {
    self.kind = kind
  }

  var hasUndecided: Bool { waits.contains { $0.standstill == nil } }

  /// Adds a wait that a packet ended.
  ///
  /// - Parameter standstill: for how long the media clock stood still, if that is known.
  /// - Returns: its number.
  @discardableResult
  mutating func add(
    start: Double, duration: Double, previousArrived: Double, next: MediaTime, standstill: Double?
  ) -> Int {
    count &+= 1
    // The reports around an undecided wait may enclose earlier ones.
    waits.removeAll { $0.standstill != nil && start - $0.end >= 2 * Self.maximumTime }
    waits.append(
      Wait(
        number: count, start: start, duration: duration, previousArrived: previousArrived, next: next,
        leastLateness: duration, comparedUntil: start + duration, standstill: standstill))
    return count
  }

  /// Compares a packet with those before each undecided wait.
  ///
  /// - Parameter time: when it could be heard or seen.
  mutating func note(_ packet: MediaTime, at time: Double) {
    for index in waits.indices where waits[index].standstill == nil {
      let wait = waits[index]
      let (ticks, overflow) = packet.ticks.subtractingReportingOverflow(wait.next.ticks)
      guard !overflow, ticks >= 0, packet.rate == wait.next.rate, packet.rate > 0 else { continue }
      let lateness = time - wait.start - Double(ticks) / Double(packet.rate)
      // The timestamps jumped.
      guard lateness > -Self.maximumDelayChange else { continue }
      waits[index].leastLateness = min(wait.leastLateness, lateness)
      waits[index].comparedUntil = time
    }
  }

  /// Decides what can be decided.
  ///
  /// - Parameter isFinal: whether neither packets nor reports will follow; then all waits are decided.
  /// - Returns: the waits that were decided, in order.
  mutating func settle(at time: Double, isFinal: Bool, by clock: SenderClock) -> [Wait] {
    var settled: [Wait] = []
    for index in waits.indices where waits[index].standstill == nil {
      let isLast =
        isFinal || time - waits[index].end >= Self.maximumTime || waits.count - index > Self.maximumCount
      guard let standstill = standstill(in: waits[index], by: clock, isFinal: isLast) else { continue }
      waits[index].standstill = standstill
      settled.append(waits[index])
    }
    return settled
  }

  private func standstill(in wait: Wait, by clock: SenderClock, isFinal: Bool) -> Double? {
    if wait.leastLateness <= Self.jitter { return 0 }
    if let reported = clock.standstill(after: wait.previousArrived, before: wait.next, kind, arrived: wait.end) {
      let standstill = min(share(of: reported, in: wait), wait.leastLateness)
      if standstill < Self.jitter { return 0 }
      // A shorter delay alone would not have caused a gap.
      return wait.duration - standstill <= AudioJudge.latest ? wait.duration : standstill
    }
    guard isFinal else { return nil }
    let isSteady =
      wait.leastLateness > wait.duration - Self.jitter && wait.comparedUntil - wait.end >= Self.minimumObservation
    return isSteady && wait.duration > Self.maximumDelayChange ? wait.duration : 0
  }

  /// Returns the part of a reported standstill that lies in a wait. It is distributed over all undecided waits between
  /// the two reports.
  private func share(of reported: TrackClock.Standstill, in wait: Wait) -> Double {
    let enclosed = waits.filter { $0.end > reported.begin && $0.end < reported.end }
    let decided = enclosed.compactMap(\.standstill).reduce(0, +)
    let undecided = enclosed.filter { $0.standstill == nil }.map(\.duration).reduce(0, +)
    return max(0, reported.duration - decided) * wait.duration / max(undecided, wait.duration)
  }
}
