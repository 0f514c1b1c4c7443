import Media
import PeerEngine
import RTP
import Testing

@Suite("Source timeline")
struct SourceTimelineTests {
  private let start = MonotonicInstant.now

  private func at(_ milliseconds: Int) -> MonotonicInstant { start + .milliseconds(milliseconds) }

  @Test("timestamps wrap forwards and backwards")
  func wrap() {
    var line = SourceTimeline(clockRate: 90_000)
    #expect(line.position(.max - 10, arrival: at(0)).ticks == Int64(UInt32.max) - 10)
    #expect(line.position(89, arrival: at(1)).ticks == Int64(UInt32.max) + 90)
    #expect(line.position(.max, arrival: at(2)).ticks == Int64(UInt32.max))
  }

  @Test("a sender report is mapped to the same timeline as the packets, across a wrap")
  func report() {
    var line = SourceTimeline(clockRate: 48_000)
    #expect(line.position(reportOf: 5, ntp: 1) == nil)
    _ = line.position(.max, arrival: at(0))
    #expect(line.position(reportOf: 9, ntp: 1)?.ticks == Int64(UInt32.max) + 10)
  }

  @Test("a new source continues at the time of its arrival")
  func newSource() {
    var line = SourceTimeline(clockRate: 90_000)
    let first = line.position(1_000, arrival: at(0)).ticks
    line.changeSource()
    #expect(line.position(3_000_000_000, arrival: at(500)).ticks == first + 45_000)
    #expect(line.position(3_000_003_000, arrival: at(700)).ticks == first + 48_000)
  }

  @Test("a new source that continues the old one's timestamps keeps their exact distance")
  func keptTimestamps() {
    var line = SourceTimeline(clockRate: 90_000)
    let first = line.position(1_000, arrival: at(0)).ticks
    line.changeSource()
    #expect(line.position(4_000, arrival: at(60)).ticks == first + 3_000)
  }

  @Test("if both sources sent sender reports, their wall clock decides")
  func wallClock() {
    var line = SourceTimeline(clockRate: 90_000)
    let first = line.position(1_000, arrival: at(0)).ticks
    _ = line.position(reportOf: 1_000, ntp: 100 << 32)
    line.changeSource()
    let next = line.position(7_000_000, arrival: at(480), report: (timestamp: 7_009_000, ntp: 100 << 32 | 1 << 31))
    // The report is at 100.5 s, and the packet is 0.1 s older.
    #expect(next.ticks == first + 36_000)
  }

  @Test("an impossible wall clock is rejected")
  func absurdWallClock() {
    var line = SourceTimeline(clockRate: 90_000)
    let first = line.position(1_000, arrival: at(0)).ticks
    _ = line.position(reportOf: 1_000, ntp: 100 << 32)
    line.changeSource()
    let next = line.position(70_000_000, arrival: at(500), report: (timestamp: 70_000_000, ntp: .max))
    #expect(next.ticks == first + 45_000)
  }

  @Test("time never goes backwards when the source changes")
  func monotonic() {
    var line = SourceTimeline(clockRate: 90_000)
    let first = line.position(50_000, arrival: at(0)).ticks
    line.changeSource()
    #expect(line.position(49_000, arrival: at(0)).ticks == first + 1)
  }
}
