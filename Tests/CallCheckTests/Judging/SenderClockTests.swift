import CallCheck
import Media
import Testing

@Suite("Skew by sender reports")
struct SenderClockTests {
  /// The skew samples of a report, and when they were taken.
  private func samples(of sender: ReportingSender) throws -> [(time: Double, skew: Double)] {
    let peer = try sender.report()
    #expect(peer.skew?.source == .senderReports)
    #expect(abs(peer.skew?.total.worst ?? 9) <= 0.04)
    let samples = peer.timeline.skew.enumerated().compactMap { index, skew in
      skew.map { (time: Double(index) * peer.timeline.step, skew: $0) }
    }
    let worst = samples.map { abs($0.skew) }.max() ?? 9
    print("measured: skew of tracks in sync by sender reports: at most \(worst) s in \(samples.count) samples")
    #expect(worst <= 0.04)
    return samples
  }

  @Test("is right around a pause of 3 s in which the audio clock stood still", arguments: [1, 2.5, 5] as [Double])
  func pause(reportInterval: Double) throws {
    var sender = ReportingSender()
    sender.pauses = [(begin: 7, duration: 3)]
    sender.reportInterval = reportInterval
    let samples = try samples(of: sender)
    #expect(samples.count(where: { $0.time < 7 }) >= 4)
    #expect(samples.count(where: { $0.time > 12 }) >= 6)
  }

  @Test("is unknown after a pause that no report covers")
  func uncovered() throws {
    var sender = ReportingSender()
    sender.pauses = [(begin: 14, duration: 2)]
    // The last report is sent at 13.5 s, and would be followed by one at 26 s.
    sender.reportInterval = 12.5
    let samples = try samples(of: sender)
    #expect(samples.contains(where: { $0.time > 12 }))
    #expect(!samples.contains(where: { $0.time > 17.5 }))
  }

  @Test("is right between many pauses of 0.45 s", arguments: [1, 2, 5] as [Double])
  func shortPauses(reportInterval: Double) throws {
    var sender = ReportingSender()
    sender.duration = 24
    sender.pauses = (1...8).map { (begin: Double($0) * 2 + 1.3, duration: 0.45) }
    sender.reportInterval = reportInterval
    let samples = try samples(of: sender)
    #expect(samples.contains(where: { $0.time < 4 }))
    #expect(samples.contains(where: { $0.time > 21 }))
    // With a report of each run, the media between its pauses is not left out.
    if reportInterval < 5 { #expect(samples.count(where: { (4..<18).contains($0.time) }) >= 4) }
  }

  @Test("is not left out because of a drift", arguments: [200e-6, -200e-6, 500e-6])
  func drift(drift: Double) throws {
    var sender = ReportingSender()
    sender.duration = 60
    sender.drift = drift
    sender.reportInterval = 5
    let samples = try samples(of: sender)
    #expect(samples.count >= 55)
  }

  @Test("is right if the clock drifts and stands still")
  func driftAndPause() throws {
    var sender = ReportingSender()
    sender.duration = 60
    sender.drift = 200e-6
    sender.reportInterval = 5
    sender.pauses = [(begin: 27, duration: 3)]
    let samples = try samples(of: sender)
    #expect(samples.count >= 45)
  }

  @Test(
    "is right if a report arrives 2 s late, whether it was sent in the pause or after it", arguments: [3, 4])
  func late(number: Int) throws {
    var sender = ReportingSender()
    sender.pauses = [(begin: 7, duration: 3)]
    sender.change = { index, report in
      if index == number, report.codec == .opus { report.arrival += 2 }
    }
    let samples = try samples(of: sender)
    #expect(samples.count(where: { $0.time < 7 }) >= 4)
    #expect(samples.count(where: { $0.time > 14 }) >= 4)
  }

  /// A fault of a report.
  enum Absurdity: CaseIterable {
    case hourAgo, secondsAhead, noWallClock, farTicks, laterTicks, earlierTicks, slightlyEarlierTicks, otherEra

    func apply(to report: inout ReportingSender.Report) {
      switch self {
      case .hourAgo: report.ntp &-= 3_600 << 32
      case .secondsAhead: report.ntp &+= 3 << 32
      case .noWallClock: report.ntp = 1
      case .farTicks: report.ticks = .min
      case .laterTicks: report.ticks += 48_000 * 4
      case .earlierTicks: report.ticks -= 48_000 * 4
      case .slightlyEarlierTicks: report.ticks -= 48_000 * 3 / 10
      case .otherEra: report.ntp = ~report.ntp
      }
    }
  }

  @Test(
    "is right if the first report, or a later one, is absurd", arguments: Absurdity.allCases, [0, 3, 7])
  func absurd(absurdity: Absurdity, number: Int) throws {
    var sender = ReportingSender()
    sender.change = { index, report in
      if index == number, report.codec == .opus { absurdity.apply(to: &report) }
    }
    let samples = try samples(of: sender)
    #expect(samples.count >= 10)
  }

  @Test("is right if the sender's wall clock is set", arguments: [10, -10] as [Double])
  func wallClockSet(by length: Double) throws {
    var sender = ReportingSender()
    sender.wallClockSet = (at: 8.3, by: length)
    let samples = try samples(of: sender)
    #expect(samples.count(where: { $0.time < 8 }) >= 5)
    #expect(samples.count(where: { $0.time > 14 }) >= 3)
  }
}
