import Media

/// Tells how far sound and pictures are apart, and where that was born.
///
/// With the pattern, each mark of the sound is compared with the pictures half a second around it. Without it, the sender's clock
/// reports say when what arrives was captured, and each second's sound is compared with its pictures.
struct SkewGauge: Sendable {
  /// A packet of sound, a mark in it, or a picture.
  struct Moment: Sendable {
    /// When it could be heard or seen.
    let heard: Double
    /// When its last packet had come.
    let arrived: Double
    /// What the sender's wall clock read, by its reports.
    let stamped: Double?
    /// The time that the pattern in it tells, in seconds.
    let content: Double?
  }

  /// How far around a mark pictures are looked at.
  private static let reach = 0.5
  /// How many moments of a track are remembered.
  private static let memory = 512

  private var pictures: [Moment] = []
  private var sounds: [Moment] = []
  private var marks: [Moment] = []
  private var nextSecond: Double?

  private var exact = Parts()
  private var estimated = Parts()

  private struct Parts: Sendable {
    var total = Samples()
    var sender = Samples()
    var network = Samples()
    var receiver = Samples()

    mutating func add(_ sound: Moment, against pictures: [Moment], total: Double) {
      self.total.add(total)
      func difference(_ value: (Moment) -> Double?) -> Double? {
        guard let ofSound = value(sound), let ofPictures = median(pictures.compactMap(value)) else { return nil }
        return ofSound - ofPictures
      }
      difference { moment in moment.stamped.flatMap { stamped in moment.content.map { stamped - $0 } } }
        .map { sender.add($0) }
      difference { moment in moment.stamped.map { moment.arrived - $0 } }.map { network.add($0) }
      difference { $0.heard - $0.arrived }.map { receiver.add($0) }
    }
  }

  mutating func picture(_ moment: Moment) -> [(time: Double, skew: Double)] {
    Self.keep(moment, in: &pictures)
    return settle(until: moment.heard)
  }

  mutating func sound(_ moment: Moment) -> [(time: Double, skew: Double)] {
    Self.keep(moment, in: &sounds)
    return estimate(until: moment.heard)
  }

  mutating func mark(_ moment: Moment) {
    Self.keep(moment, in: &marks)
  }

  /// Compares what could not be compared yet, because no later picture has come.
  mutating func finish() -> [(time: Double, skew: Double)] { settle(until: .infinity) }

  private static func keep(_ moment: Moment, in moments: inout [Moment]) {
    if moments.count == 2 * memory { moments.removeFirst(memory) }
    moments.append(moment)
  }

  /// Compares each mark around which all pictures have come.
  private mutating func settle(until time: Double) -> [(time: Double, skew: Double)] {
    var found: [(time: Double, skew: Double)] = []
    while let mark = marks.first, time - mark.heard >= Self.reach {
      marks.removeFirst()
      let around = pictures.filter { abs($0.heard - mark.heard) <= Self.reach && $0.content != nil }
      guard let content = mark.content,
        let delay = median(around.compactMap { moment in moment.content.map { moment.heard - $0 } })
      else { continue }
      let skew = mark.heard - content - delay
      exact.add(mark, against: around, total: skew)
      found.append((mark.heard, skew))
    }
    return found
  }

  /// Compares each second in which sound and pictures came, by the sender's own clock.
  private mutating func estimate(until time: Double) -> [(time: Double, skew: Double)] {
    guard let end = nextSecond else {
      nextSecond = time + 1
      return []
    }
    guard time >= end else { return [] }
    nextSecond = time + 1
    let range = (end - 1)..<end
    let heard = sounds.filter { range.contains($0.heard) && $0.stamped != nil }
    let seen = pictures.filter { range.contains($0.heard) && $0.stamped != nil }
    func transit(_ moments: [Moment], _ value: (Moment) -> Double) -> Double? {
      median(moments.compactMap { moment in moment.stamped.map { value(moment) - $0 } })
    }
    guard let sound = transit(heard, \.heard), let picture = transit(seen, \.heard) else { return [] }
    estimated.total.add(sound - picture)
    if let sound = transit(heard, \.arrived), let picture = transit(seen, \.arrived) {
      estimated.network.add(sound - picture)
    }
    if let sound = median(heard.map { $0.heard - $0.arrived }), let picture = median(seen.map { $0.heard - $0.arrived })
    {
      estimated.receiver.add(sound - picture)
    }
    return exact.total.count > 0 ? [] : [(end, sound - picture)]
  }

  /// All together; nil when nothing could be told.
  var report: SkewReport? {
    if let total = exact.total.spread {
      return SkewReport(
        source: .pattern, total: total, sender: exact.sender.median.map(tidy), network: exact.network.median.map(tidy),
        receiver: exact.receiver.median.map(tidy))
    }
    return estimated.total.spread.map { total in
      SkewReport(
        source: .senderReports, total: total, sender: nil, network: estimated.network.median.map(tidy),
        receiver: estimated.receiver.median.map(tidy))
    }
  }
}

/// The middle one; nil when there are none.
private func median(_ values: [Double]) -> Double? {
  if values.isEmpty { return nil }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// What the sender's wall clock read at a media time, by the newest report of its track.
struct SenderClock: Sendable {
  /// The wall clock that all times are counted from, of both tracks.
  private var origin: UInt64?
  private var reports: [MediaKind: ClockReport] = [:]

  mutating func take(_ report: ClockReport) {
    guard report.ntp != 0 else { return }
    origin = origin ?? report.ntp
    reports[report.codec.kind] = report
  }

  /// Seconds by the sender's clock, from an origin that both tracks share; nil before a report.
  func seconds(at time: MediaTime, _ kind: MediaKind) -> Double? {
    guard let origin, let report = reports[kind], report.time.rate == time.rate else { return nil }
    let ticks = time.ticks.subtractingReportingOverflow(report.time.ticks)
    // Further away than a day a report says nothing.
    guard !ticks.overflow, abs(Double(ticks.partialValue)) < 86_400 * Double(time.rate) else { return nil }
    let ntp = Double(Int64(bitPattern: report.ntp &- origin)) / 4_294_967_296
    return ntp + Double(ticks.partialValue) / Double(time.rate)
  }
}
