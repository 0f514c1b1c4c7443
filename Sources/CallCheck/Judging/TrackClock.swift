import Media

/// The relation of a track's media clock to the sender's wall clock, according to its last sender reports.
///
/// As long as the media clock runs, the relation stays, except for a slow drift; such reports form a run. A media clock
/// may also stand still while nothing is sent, as Chromium's does while a page mutes: it continues with the next
/// timestamp, and the next report shows for how long it stood still. Meanwhile, Chromium's reports extrapolate the clock
/// as if it ran, so the same media time can occur twice, and only the arrival of a frame tells which one it is.
///
/// So a report applies to a frame if a later one of the same run, sent after the frame, agrees with it, or if a frame
/// with the same or a later media time arrived as fast as others do: after a standstill, all frames would be late by its
/// length.
struct TrackClock: Sendable {
  /// A sender report. All times are in seconds.
  struct Report: Sendable {
    let time: MediaTime
    /// The sender's wall clock.
    let wallClock: Double
    let arrived: Double
    /// How much later it arrived than the fastest reports.
    let excessDelay: Double
    /// When it would have arrived if it had been as fast as those.
    var due: Double
    var run = 0
    /// Whether other reports agree with it, or frames can show that it is right: the first report of a track may be wrong.
    var isCorroborated = false
    /// The least delay of the frames after it, by this report.
    var leastTransit: Double?
    /// How long after it the media clock certainly ran.
    var provenDuration = -Double.infinity

    var delay: Double { arrived - wallClock }

    init(time: MediaTime, wallClock: Double, arrived: Double, leastDelay: Double?) {
      self.time = time
      self.wallClock = wallClock
      self.arrived = arrived
      let delay = arrived - wallClock
      excessDelay = delay - (leastDelay ?? delay)
      due = arrived - max(0, excessDelay)
    }

    /// Returns the media time from this report until another one; nil if they cannot be compared.
    func seconds(until other: MediaTime) -> Double? {
      guard other.rate == time.rate else { return nil }
      let (ticks, overflow) = other.ticks.subtractingReportingOverflow(time.ticks)
      // A report is meaningless more than a day away from its time.
      guard !overflow, ticks.magnitude < 86_400 * UInt64(time.rate) else { return nil }
      return Double(ticks) / Double(time.rate)
    }

    /// Returns by how much more the wall clock advanced until another report than the media clock.
    func lag(of other: Report) -> Double? {
      seconds(until: other.time).map { other.wallClock - wallClock - $0 }
    }
  }

  /// By how much the media clock fell behind the sender's wall clock between two reports.
  struct Standstill: Sendable {
    /// In seconds; slightly negative if the clock drifts.
    let duration: Double
    /// When the two reports would have arrived if they had been as fast as others.
    let begin: Double
    let end: Double
  }

  private enum Relation {
    /// The media clock ran between the two reports.
    case ran
    case stoodStill
    /// The report is older, or the same, and says nothing new.
    case outdated
    case contradictory
  }

  private static let maximumReports = 16
  /// If reports of a run are more frequent than this, only some are kept.
  private static let minimumSpacing = 1.5
  /// Two reports of a running clock may differ by this, and by the drift over at most a minute.
  private static let inaccuracy = 0.04
  private static let maximumDrift = 0.000_5
  /// The excess delay of a report, unless the wall clock was set.
  private static let usualDelays = -0.15...5.0
  /// The delays of two reports that show together that a clock was set differ by less than this.
  private static let agreement = 0.15
  /// Frames are as fast as others if their delay differs by less than this.
  private static let slack = 0.03
  /// The number of reports whose frames say how fast frames can be.
  private static let transitMemory = 4
  /// Reports are not farther behind the frames before them than this, and frames not farther ahead of their arrival.
  private static let maximumDisorder = 0.5
  private static let maximumAdvance = 1.0
  /// A report was certainly sent after a frame if it was due later than this after the frame's arrival.
  private static let certainOrder = 0.1

  private var reports: [Report] = []
  /// A report that contradicts the earlier ones, until another one agrees with it.
  private var suspect: Report?
  private var runs = 0
  private var newest: (time: MediaTime, arrived: Double)?
  /// The least transit of the frames after a report that is no longer kept.
  private var earlierTransit: Double?

  func leastDelay(since time: Double) -> Double? {
    reports.filter { $0.arrived >= time }.map(\.delay).min()
  }

  // MARK: Reports

  /// Adds a sender report.
  ///
  /// - Returns: whether it shows that the sender's wall clock was set.
  mutating func receive(_ report: Report) -> Bool {
    let isDelayUsual = Self.usualDelays.contains(report.excessDelay)
    switch reports.last.map({ Self.relation(of: report, to: $0) }) {
    case .outdated?:
      return false
    case .ran?:
      corroborateLast()
      append(report)
    case .stoodStill? where isDelayUsual && !isBehindFrames(report):
      corroborateLast()
      forgetUnprovenTransits()
      beginRun(with: report, isCorroborated: usualTransit(besides: nil) != nil)
    case nil where isDelayUsual:
      beginRun(with: report, isCorroborated: false)
    default:
      return receiveContradictory(report, isWallClockSet: !isDelayUsual)
    }
    suspect = nil
    return false
  }

  private static func relation(of report: Report, to last: Report) -> Relation {
    guard let lag = last.lag(of: report) else { return .contradictory }
    let elapsed = report.wallClock - last.wallClock
    let isRunning = abs(lag) <= inaccuracy + maximumDrift * min(abs(elapsed), 60)
    if elapsed <= 0 { return isRunning ? .outdated : .contradictory }
    if isRunning { return .ran }
    return lag > 0 ? .stoodStill : .contradictory
  }

  /// Whether frames arrived before a report whose media time is much later.
  private func isBehindFrames(_ report: Report) -> Bool {
    guard let newest, let ahead = report.seconds(until: newest.time) else { return false }
    return ahead > Self.maximumDisorder + max(0, newest.arrived - report.due)
  }

  /// Follows a report that contradicts earlier ones if the one before did so too, in the same way.
  private mutating func receiveContradictory(_ report: Report, isWallClockSet: Bool) -> Bool {
    guard var before = suspect, case .ran = Self.relation(of: report, to: before),
      abs(report.delay - before.delay) <= Self.agreement
    else {
      suspect = report
      return false
    }
    suspect = nil
    let isLater = reports.last.map { before.wallClock > $0.wallClock } ?? true
    if isWallClockSet || !isLater {
      earlierTransit = isWallClockSet ? nil : usualTransit(besides: nil)
      reports = []
    }
    var report = report
    if isWallClockSet {
      // The delays that they were compared with are those of another clock.
      before.due = before.arrived
      report.due = report.arrived
    }
    beginRun(with: before, isCorroborated: true)
    append(report)
    return isWallClockSet
  }

  private mutating func corroborateLast() {
    if !reports.isEmpty { reports[reports.count - 1].isCorroborated = true }
  }

  private mutating func beginRun(with report: Report, isCorroborated: Bool) {
    runs &+= 1
    var report = report
    report.run = runs
    report.isCorroborated = isCorroborated
    keep(report)
  }

  private mutating func append(_ report: Report) {
    var report = report
    report.run = runs
    report.isCorroborated = true
    // Reports that are too frequent would leave no memory for older frames: the one in the middle is dropped.
    let index = reports.count - 2
    if index >= 0, reports[index].run == runs, report.wallClock - reports[index].wallClock < Self.minimumSpacing,
      let middle = reports.popLast()
    {
      let distance = reports[index].seconds(until: middle.time) ?? 0
      reports[index].provenDuration = max(reports[index].provenDuration, distance + middle.provenDuration)
      reports[index].leastTransit = [reports[index].leastTransit, middle.leastTransit].compactMap { $0 }.min()
    }
    keep(report)
  }

  private mutating func keep(_ report: Report) {
    reports.append(report)
    guard reports.count > Self.maximumReports else { return }
    earlierTransit = reports.removeFirst().leastTransit ?? earlierTransit
  }

  /// Forgets how late frames were after the reports of a run that ended, if the media clock had stood still by then.
  private mutating func forgetUnprovenTransits() {
    for index in reports.indices where reports[index].run == runs && reports[index].provenDuration < 0 {
      reports[index].leastTransit = nil
    }
  }

  // MARK: Frames

  /// Notes that a frame arrived.
  mutating func note(_ time: MediaTime, arrived: Double) {
    newest = (time, arrived)
    guard let index = index(before: time, arrived: arrived), let media = reports[index].seconds(until: time),
      media <= arrived - reports[index].due + Self.maximumAdvance
    else { return }
    let transit = arrived - reports[index].wallClock - media
    let usual = usualTransit(besides: index)
    // Frames that are too fast contradict a report that shows a standstill. Later ones of its run confirm it.
    let isFirstOfRun = index == 0 || reports[index - 1].run != reports[index].run
    if isFirstOfRun, let usual, transit < usual - Self.slack { return }
    reports[index].leastTransit = min(reports[index].leastTransit ?? transit, transit)
    let least = min(reports[index].leastTransit ?? transit, usual ?? transit)
    if transit - least <= Self.slack { reports[index].provenDuration = max(reports[index].provenDuration, media) }
  }

  /// Returns the least delay of frames after the last reports except one.
  private func usualTransit(besides excluded: Int?) -> Double? {
    let known = reports.indices.filter { $0 != excluded }.compactMap { reports[$0].leastTransit }
    return known.suffix(Self.transitMemory).min() ?? earlierTransit
  }

  /// Returns the index of the last report that was sent before a frame; nil if it is not known.
  private func index(before time: MediaTime, arrived: Double) -> Int? {
    guard var index = reports.lastIndex(where: { $0.due <= arrived }) else { return nil }
    while let media = reports[index].seconds(until: time) {
      if media >= 0 { return index }
      // The frame was delayed, or the media clock stood still.
      guard index > 0, reports[index - 1].run == reports[index].run else { return nil }
      index -= 1
    }
    return nil
  }

  /// Returns for how long the media clock stood still between the reports around two consecutive frames; nil as long as
  /// that is not known.
  ///
  /// - Parameters:
  ///   - previous: when the earlier frame arrived.
  ///   - next: the media time of the later frame.
  ///   - arrived: when the later frame arrived.
  func standstill(after previous: Double, before next: MediaTime, arrived: Double) -> Standstill? {
    guard let first = reports.indices.last(where: { reports[$0].due <= previous && isConfirmed($0) }),
      let second = reports[(first + 1)...].indices.first(where: { index in
        reports[index].due > arrived + Self.certainOrder && (reports[index].seconds(until: next) ?? 1) <= 0
          && isConfirmed(index)
      }), let lag = reports[first].lag(of: reports[second]), lag > -Self.agreement
    else { return nil }
    return Standstill(duration: lag, begin: reports[first].due, end: reports[second].due)
  }

  /// Whether another report of the same run, or the frames after a report, agree with it.
  private func isConfirmed(_ index: Int) -> Bool {
    reports[index].provenDuration >= 0 || reports.count { $0.run == reports[index].run } > 1
  }

  /// Returns the wall clock at the media time of a frame that arrived at a time.
  func reading(at time: MediaTime, arrived: Double, isFinal: Bool) -> SenderClock.Reading {
    guard let index = index(before: time, arrived: arrived), let media = reports[index].seconds(until: time) else {
      return .unknown
    }
    let report = reports[index]
    let laterReports = reports[(index + 1)...].prefix(while: { $0.run == report.run })
    let isConfirmed = laterReports.contains { $0.due >= arrived && ($0.seconds(until: time) ?? 1) <= 0 }
    let isCurrent = report.run == runs
    let isTrusted = report.isCorroborated || isFinal && isCurrent && suspect == nil
    guard isConfirmed || isTrusted && media <= report.provenDuration else {
      return isCurrent && !isFinal ? .pending : .unknown
    }
    var wallClock = report.wallClock + media
    if let next = laterReports.first, let lag = report.lag(of: next), let span = report.seconds(until: next.time),
      span > 0
    {
      // A drift, or inaccuracy.
      wallClock += lag * min(1, media / span)
    }
    return .known(wallClock)
  }
}
