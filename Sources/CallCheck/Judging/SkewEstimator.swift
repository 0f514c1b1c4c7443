import Media

/// Measures the skew between audio and video, and where it arose.
///
/// With the pattern, each audio mark is compared with the frames half a second around it. Without it, the sender
/// reports say when the media that arrives was captured, and the audio of each second is compared with its frames. Media
/// for which they do not say it is left out.
struct SkewEstimator: Sendable {
  /// An audio packet, a mark in it, or a frame.
  struct Observation: Sendable {
    /// When the media could be heard or seen.
    let heard: Double
    /// When its last packet arrived.
    let arrived: Double
    /// Its position on the track's timeline.
    let time: MediaTime
    /// The timestamp of the pattern in it, in seconds.
    let content: Double?
  }

  /// How far around a mark, in seconds, frames are compared with it.
  private static let matchWindow = 0.5
  /// How long, in seconds, media waits for a sender report that says when it was captured. Browsers send one of audio at
  /// least every 7.5 s.
  private static let maximumWait = 10.0
  /// The minimum number of remembered observations of a track.
  private static let memory = 512

  private var videoFrames: [Observation] = []
  private var audioPackets: [Observation] = []
  private var marks: [Observation] = []
  private var nextSecond: Double?
  private(set) var clock = SenderClock()
  /// The marks whose parts are not yet known, and the ends of the seconds that are not yet compared.
  private var waitingMarks: [Observation] = []
  private var waitingSeconds: [Double] = []

  private var exact = Parts()
  private var estimated = Parts()

  private struct Parts: Sendable {
    var total = Samples()
    var sender = Samples()
    var network = Samples()
    var receiver = Samples()
  }

  mutating func receive(_ report: ClockReport, arrived: Double) { clock.receive(report, arrived: arrived) }

  mutating func videoFrame(_ observation: Observation) -> [(time: Double, skew: Double)] {
    Self.keep(observation, in: &videoFrames)
    clock.note(observation.time, .video, arrived: observation.arrived)
    return settle(until: observation.heard)
  }

  mutating func audio(_ observation: Observation) -> [(time: Double, skew: Double)] {
    Self.keep(observation, in: &audioPackets)
    clock.note(observation.time, .audio, arrived: observation.arrived)
    return estimate(until: observation.heard)
  }

  mutating func mark(_ observation: Observation) {
    Self.keep(observation, in: &marks)
  }

  /// Compares what remains, for which no later frame or sender report will arrive.
  mutating func finish() -> [(time: Double, skew: Double)] {
    let found = settle(until: .infinity)
    attribute(until: .infinity)
    nextSecond = nil
    return found + compareSeconds(until: .infinity)
  }

  private static func keep(_ observation: Observation, in observations: inout [Observation]) {
    if observations.count == 2 * memory { observations.removeFirst(memory) }
    observations.append(observation)
  }

  /// Returns the frames of the pattern that a mark is compared with.
  private func patternFrames(around mark: Observation) -> [Observation] {
    videoFrames.filter { abs($0.heard - mark.heard) <= Self.matchWindow && $0.content != nil }
  }

  /// Compares each mark for which all surrounding frames have arrived.
  private mutating func settle(until time: Double) -> [(time: Double, skew: Double)] {
    var found: [(time: Double, skew: Double)] = []
    while let mark = marks.first, time - mark.heard >= Self.matchWindow {
      marks.removeFirst()
      let around = patternFrames(around: mark)
      guard let content = mark.content,
        let delay = median(around.compactMap { observation in observation.content.map { observation.heard - $0 } })
      else { continue }
      let skew = mark.heard - content - delay
      exact.total.add(skew)
      if let wait = median(around.map { $0.heard - $0.arrived }) {
        exact.receiver.add(mark.heard - mark.arrived - wait)
      }
      Self.keep(mark, in: &waitingMarks)
      found.append((mark.heard, skew))
    }
    return found
  }

  /// Says where the skew of marks arose, as soon as the sender's clock is known for them and the frames around them.
  private mutating func attribute(until time: Double) {
    while let mark = waitingMarks.first {
      let isFinal = time - mark.heard >= Self.maximumWait
      guard let stampedMark = stamped([mark], .audio, isFinal: isFinal),
        let around = stamped(patternFrames(around: mark), .video, isFinal: isFinal)
      else { return }
      waitingMarks.removeFirst()
      guard let stamp = stampedMark.first?.stamp, let content = mark.content else { continue }
      if let error = median(around.compactMap { frame in frame.observation.content.map { frame.stamp - $0 } }) {
        exact.sender.add(stamp - content - error)
      }
      if let transit = median(around.map { $0.observation.arrived - $0.stamp }) {
        exact.network.add(mark.arrived - stamp - transit)
      }
    }
  }

  /// Notes that another second has passed, and compares the seconds that can be.
  private mutating func estimate(until time: Double) -> [(time: Double, skew: Double)] {
    guard let end = nextSecond else {
      nextSecond = time + 1
      return []
    }
    guard time >= end else { return [] }
    nextSecond = time + 1
    waitingSeconds.append(end)
    attribute(until: time)
    return compareSeconds(until: time)
  }

  /// Compares audio and video of each second by the sender's own clock.
  private mutating func compareSeconds(until time: Double) -> [(time: Double, skew: Double)] {
    var found: [(time: Double, skew: Double)] = []
    while let end = waitingSeconds.first {
      let range = (end - 1)..<end
      let isFinal = time - end >= Self.maximumWait
      guard let heard = stamped(audioPackets.filter { range.contains($0.heard) }, .audio, isFinal: isFinal),
        let seen = stamped(videoFrames.filter { range.contains($0.heard) }, .video, isFinal: isFinal)
      else { return found }
      waitingSeconds.removeFirst()
      func difference(_ value: (StampedObservation) -> Double) -> Double? {
        guard let ofAudio = median(heard.map(value)), let ofVideo = median(seen.map(value)) else { return nil }
        return ofAudio - ofVideo
      }
      guard let skew = difference({ $0.observation.heard - $0.stamp }) else { continue }
      estimated.total.add(skew)
      difference { $0.observation.arrived - $0.stamp }.map { estimated.network.add($0) }
      difference { $0.observation.heard - $0.observation.arrived }.map { estimated.receiver.add($0) }
      if exact.total.count == 0 { found.append((end, skew)) }
    }
    return found
  }

  /// An observation, and the sender's wall clock for its media.
  private typealias StampedObservation = (observation: Observation, stamp: Double)

  /// Returns the observations for which the sender's clock is known; nil if more may be known later.
  private func stamped(
    _ observations: [Observation], _ kind: MediaKind, isFinal: Bool
  ) -> [StampedObservation]? {
    var stamped: [StampedObservation] = []
    for observation in observations {
      switch clock.reading(at: observation.time, kind, arrived: observation.arrived, isFinal: isFinal) {
      case .known(let stamp): stamped.append((observation, stamp))
      case .pending: return nil
      case .unknown: continue
      }
    }
    return stamped
  }

  /// The result of all comparisons; nil if there was none.
  var report: SkewReport? {
    if let total = exact.total.spread {
      return SkewReport(
        source: .pattern, total: total, sender: exact.sender.median.map(roundedForReport),
        network: exact.network.median.map(roundedForReport),
        receiver: exact.receiver.median.map(roundedForReport))
    }
    return estimated.total.spread.map { total in
      SkewReport(
        source: .senderReports, total: total, sender: nil, network: estimated.network.median.map(roundedForReport),
        receiver: estimated.receiver.median.map(roundedForReport))
    }
  }
}

/// Returns the median; nil if there are no values.
private func median(_ values: [Double]) -> Double? {
  if values.isEmpty { return nil }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
