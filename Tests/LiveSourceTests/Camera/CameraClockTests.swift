import FileSource
import LiveSource
import Media
import Testing

@Suite("The clock of a playback")
struct CameraClockTests {
  private let made = WallClock(moment: .now, secondsSince1970: 1_700_000_000)

  @Test("it shows the wall clock at the start of playback, however long after the clock was created")
  func beginsLater() {
    let clock = CameraClock(wallClock: made)
    clock.begin(now: made.moment.instant + .milliseconds(8))
    #expect(clock.unixMilliseconds(at: 0) == 1_700_000_000_008)
    #expect(clock.unixMilliseconds(at: Int64(MediaTimebase.rate)) == 1_700_000_001_008)
    #expect(clock.unixTicks(at: 0) == (1_700_000_000_008) * 48)
    #expect(clock.unixTicks(at: 960) == (1_700_000_000_028) * 48)
  }

  @Test("reading the wall clock starts the clock, so that what was read before playback remains true")
  func readBeforeStart() {
    let clock = CameraClock(wallClock: made)
    let first = clock.unixTicks(at: 960)
    clock.begin(now: made.moment.instant + .seconds(500))
    #expect(clock.unixTicks(at: 960) == first)
    #expect(clock.instant(of: 0).map { $0 < made.moment.instant + .seconds(500) } == true)
  }

  @Test("it shows video and audio the same time after a pause")
  func pause() {
    let clock = CameraClock(wallClock: made)
    clock.begin(now: made.moment.instant)
    _ = clock.update(now: made.moment.instant + .seconds(1), expectedWakeup: 0)
    // The machine sleeps for ten minutes.
    let second = Int64(MediaTimebase.rate)
    _ = clock.update(now: made.moment.instant + .seconds(601), expectedWakeup: second)
    let reported = clock.unixMilliseconds(at: second)
    #expect(reported > 1_700_000_000_000 + 590_000 && reported <= 1_700_000_000_000 + 601_000)
    #expect(Int64(reported) == clock.unixTicks(at: 48_000) / 48)
  }
}
