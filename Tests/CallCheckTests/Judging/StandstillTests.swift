import CallCheck
import Testing

/// Audio whose timestamps continue after an interval in which none arrived.
@Suite("Audio that was late")
struct StandstillTests {
  private static let late = AudioGapReason.late.rawValue

  private func sender(reportInterval: Double = 2.5) -> ReportingSender {
    var sender = ReportingSender()
    sender.hasTone = true
    sender.reportInterval = reportInterval
    return sender
  }

  private func audio(of sender: ReportingSender) throws -> AudioReport {
    let audio = try #require(sender.report().audio)
    print("measured: gaps \(audio.gaps.list), silences \(audio.silence.list)")
    return audio
  }

  private func expect(_ intervals: IntervalSummary, are expected: [(start: Double, duration: Double)]) {
    #expect(intervals.count == expected.count)
    for (interval, expected) in zip(intervals.list, expected) {
      #expect(abs(interval.start - expected.start) < 0.03)
      #expect(abs(interval.duration - expected.duration) < 0.03)
    }
  }

  @Test("is silence if its clock stood still for 3 s", arguments: [1, 2.5, 5] as [Double])
  func pause(reportInterval: Double) throws {
    var sender = sender(reportInterval: reportInterval)
    sender.pauses = [(begin: 7, duration: 3)]
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [])
    // A packet is heard for 20 ms after its arrival.
    expect(audio.silence, are: [(start: 7.05, duration: 3)])
  }

  @Test("is one silence with the silent audio around a standstill")
  func withinSilence() throws {
    var sender = sender()
    sender.hasTone = false
    sender.pauses = [(begin: 7, duration: 3)]
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [])
    #expect(audio.silence.count == 1)
    #expect(audio.silence.longest > 18.5)
  }

  @Test("is silence after each of eight standstills of 0.45 s", arguments: [1, 2, 2.5, 5] as [Double])
  func shortPauses(reportInterval: Double) throws {
    var sender = sender(reportInterval: reportInterval)
    sender.duration = 24
    sender.pauses = (1...8).map { (begin: Double($0) * 2 + 1.3, duration: 0.45) }
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [])
    expect(audio.silence, are: sender.pauses.map { (start: $0.begin + 0.05, duration: 0.45) })
  }

  @Test("is silence if its clock stood still for 2 s and no report follows")
  func atEnd() throws {
    var sender = sender(reportInterval: 5)
    // The last report is sent at 16 s.
    sender.pauses = [(begin: 17.5, duration: 2)]
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [])
    expect(audio.silence, are: [(start: 17.55, duration: 2)])
  }

  @Test(
    "is a gap if it arrived in a burst after 1 s, with or without reports", arguments: [1, 2.5, 5, 100] as [Double])
  func stall(reportInterval: Double) throws {
    var sender = sender(reportInterval: reportInterval)
    sender.stall = (begin: 7, duration: 1)
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [(start: 7.01, duration: 0.99)])
    #expect(audio.gaps.list.map(\.reason) == [Self.late])
    expect(audio.silence, are: [])
  }

  @Test(
    "is a gap if the network's delay stays 0.5 s higher, with or without reports",
    arguments: [1, 2.5, 5, 100] as [Double])
  func lastingDelay(reportInterval: Double) throws {
    var sender = sender(reportInterval: reportInterval)
    sender.furtherDelay = (from: 7, by: 0.5)
    let audio = try audio(of: sender)
    expect(audio.gaps, are: [(start: 7.05, duration: 0.5)])
    #expect(audio.gaps.list.map(\.reason) == [Self.late])
    expect(audio.silence, are: [])
  }

  @Test("is a gap by the network's part if its clock also stood still")
  func both() throws {
    var sender = sender()
    sender.pauses = [(begin: 7, duration: 2)]
    sender.furtherDelay = (from: 9, by: 0.5)
    let audio = try audio(of: sender)
    expect(audio.silence, are: [(start: 7.05, duration: 2)])
    expect(audio.gaps, are: [(start: 9.05, duration: 0.5)])
  }

  @Test("has its own cause each time, also between the same two reports")
  func several() throws {
    var sender = sender(reportInterval: 5)
    sender.pauses = [(begin: 7, duration: 0.6)]
    sender.stall = (begin: 9, duration: 1)
    let audio = try audio(of: sender)
    expect(audio.silence, are: [(start: 7.05, duration: 0.6)])
    expect(audio.gaps, are: [(start: 9.01, duration: 0.99)])
    #expect(audio.gaps.list.map(\.reason) == [Self.late])
  }
}
