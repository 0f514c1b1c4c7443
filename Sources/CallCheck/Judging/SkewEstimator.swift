import Media

/// Measures the skew between audio and video, and where it arose.
///
/// With the pattern, each audio mark is compared with the frames half a second around it. Without it, the sender
/// reports say when the media that arrives was captured, and the audio of each second is compared with its frames.
struct SkewEstimator: Sendable {
  /// An audio packet, a mark in it, or a frame.
  struct Observation: Sendable {
    /// When the media could be heard or seen.
    let heard: Double
    /// When its last packet arrived.
    let arrived: Double
    /// The sender's wall clock for this media, by its sender reports.
    let stamped: Double?
    /// The timestamp of the pattern in it, in seconds.
    let content: Double?
  }

  /// How far around a mark, in seconds, frames are compared with it.
  private static let matchWindow = 0.5
  /// The minimum number of remembered observations of a track.
  private static let memory = 512

  private var videoFrames: [Observation] = []
  private var audioPackets: [Observation] = []
  private var marks: [Observation] = []
  private var nextSecond: Double?

  private var exact = Parts()
  private var estimated = Parts()

  private struct Parts: Sendable {
    var total = Samples()
    var sender = Samples()
    var network = Samples()
    var receiver = Samples()

    mutating func add(_ audio: Observation, against videoFrames: [Observation], total: Double) {
      self.total.add(total)
      func difference(_ value: (Observation) -> Double?) -> Double? {
        guard let ofAudio = value(audio), let ofVideoFrames = median(videoFrames.compactMap(value)) else { return nil }
        return ofAudio - ofVideoFrames
      }
      difference { observation in observation.stamped.flatMap { stamped in observation.content.map { stamped - $0 } } }
        .map { sender.add($0) }
      difference { observation in observation.stamped.map { observation.arrived - $0 } }.map { network.add($0) }
      difference { $0.heard - $0.arrived }.map { receiver.add($0) }
    }
  }

  mutating func videoFrame(_ observation: Observation) -> [(time: Double, skew: Double)] {
    Self.keep(observation, in: &videoFrames)
    return settle(until: observation.heard)
  }

  mutating func audio(_ observation: Observation) -> [(time: Double, skew: Double)] {
    Self.keep(observation, in: &audioPackets)
    return estimate(until: observation.heard)
  }

  mutating func mark(_ observation: Observation) {
    Self.keep(observation, in: &marks)
  }

  /// Compares the remaining marks, for which no later frame will arrive.
  mutating func finish() -> [(time: Double, skew: Double)] { settle(until: .infinity) }

  private static func keep(_ observation: Observation, in observations: inout [Observation]) {
    if observations.count == 2 * memory { observations.removeFirst(memory) }
    observations.append(observation)
  }

  /// Compares each mark for which all surrounding frames have arrived.
  private mutating func settle(until time: Double) -> [(time: Double, skew: Double)] {
    var found: [(time: Double, skew: Double)] = []
    while let mark = marks.first, time - mark.heard >= Self.matchWindow {
      marks.removeFirst()
      let around = videoFrames.filter { abs($0.heard - mark.heard) <= Self.matchWindow && $0.content != nil }
      guard let content = mark.content,
        let delay = median(around.compactMap { observation in observation.content.map { observation.heard - $0 } })
      else { continue }
      let skew = mark.heard - content - delay
      exact.add(mark, against: around, total: skew)
      found.append((mark.heard, skew))
    }
    return found
  }

  /// Compares audio and video of each second by the sender's own clock.
  private mutating func estimate(until time: Double) -> [(time: Double, skew: Double)] {
    guard let end = nextSecond else {
      nextSecond = time + 1
      return []
    }
    guard time >= end else { return [] }
    nextSecond = time + 1
    let range = (end - 1)..<end
    let heard = audioPackets.filter { range.contains($0.heard) && $0.stamped != nil }
    let seen = videoFrames.filter { range.contains($0.heard) && $0.stamped != nil }
    func transit(_ observations: [Observation], _ value: (Observation) -> Double) -> Double? {
      median(observations.compactMap { observation in observation.stamped.map { value(observation) - $0 } })
    }
    guard let audioTransit = transit(heard, \.heard), let videoTransit = transit(seen, \.heard) else { return [] }
    estimated.total.add(audioTransit - videoTransit)
    if let audioTransit = transit(heard, \.arrived), let videoTransit = transit(seen, \.arrived) {
      estimated.network.add(audioTransit - videoTransit)
    }
    if let audioWait = median(heard.map { $0.heard - $0.arrived }),
      let videoWait = median(seen.map { $0.heard - $0.arrived })
    {
      estimated.receiver.add(audioWait - videoWait)
    }
    return exact.total.count > 0 ? [] : [(end, audioTransit - videoTransit)]
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

/// Converts media times to the sender's wall clock, by the newest sender report of each track.
struct SenderClock: Sendable {
  /// The wall clock that the times of both tracks count from.
  private var origin: UInt64?
  private var reports: [MediaKind: ClockReport] = [:]

  mutating func receive(_ report: ClockReport) {
    guard report.ntp != 0 else { return }
    origin = origin ?? report.ntp
    reports[report.codec.kind] = report
  }

  /// Returns seconds by the sender's clock since an origin that both tracks share; nil before a report.
  func seconds(at time: MediaTime, _ kind: MediaKind) -> Double? {
    guard let origin, let report = reports[kind], report.time.rate == time.rate else { return nil }
    let ticks = time.ticks.subtractingReportingOverflow(report.time.ticks)
    // A report is meaningless more than a day away from its time.
    guard !ticks.overflow, abs(Double(ticks.partialValue)) < 86_400 * Double(time.rate) else { return nil }
    let ntp = Double(Int64(bitPattern: report.ntp &- origin)) / 4_294_967_296
    return ntp + Double(ticks.partialValue) / Double(time.rate)
  }
}
