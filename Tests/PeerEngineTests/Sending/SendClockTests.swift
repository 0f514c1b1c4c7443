import Media
import PeerEngine
import RTP
import Testing

@Suite("Send clock")
struct SendClockTests {
  private let start = MonotonicInstant.now

  @Test("both tracks share one timeline, and each keeps its frames' distances exactly")
  func oneTimeline() {
    var clock = SendClock(epoch: start)
    let due = start + .milliseconds(1_234)
    let video = clock.ticks(of: MediaTime(ticks: 0, rate: 90_000), codec: .vp8, due: due)
    #expect(video == 111_060)
    #expect(clock.ticks(of: MediaTime(ticks: 960, rate: 48_000), codec: .opus, due: due + .milliseconds(27)) == 60_192)
    #expect(
      clock.ticks(of: MediaTime(ticks: 3_003, rate: 90_000), codec: .vp8, due: due + .milliseconds(31)) == video
        + 3_003)
    #expect(clock.ticks(at: due, codec: .vp8) == video)
  }

  @Test("a file's millisecond timestamps are converted to ticks")
  func otherRate() {
    var clock = SendClock(epoch: start)
    #expect(clock.ticks(of: MediaTime(ticks: 0, rate: 1_000), codec: .vp8, due: start) == 0)
    #expect(clock.ticks(of: MediaTime(ticks: 33, rate: 1_000), codec: .vp8, due: start) == 2_970)
  }

  @Test("a source that starts again continues at the current time")
  func restartedSource() {
    var clock = SendClock(epoch: start)
    _ = clock.ticks(of: MediaTime(ticks: 90_000 * 60, rate: 90_000), codec: .vp8, due: start + .seconds(1))
    let again = clock.ticks(of: MediaTime(ticks: 0, rate: 90_000), codec: .vp8, due: start + .seconds(2))
    #expect(again == 180_000)
  }
}
