import Media
import Testing

@Suite("A monotonic instant")
struct MonotonicInstantTests {
  private let clock = ContinuousClock.now

  @Test("it is converted to the clock's instant and back without a change")
  func conversion() {
    for offset: Duration in [.zero, .nanoseconds(1), .seconds(-3), .seconds(86_400 * 365)] {
      let instant = clock + offset
      #expect(MonotonicInstant(instant).instant == instant)
      #expect(MonotonicInstant(MonotonicInstant(instant).instant) == MonotonicInstant(instant))
    }
  }

  @Test("sums, differences and the order are those of the clock's instants")
  func arithmetic() {
    let start = MonotonicInstant(clock)
    for offset: Duration in [.seconds(-86_400), .nanoseconds(-1), .zero, .microseconds(20), .seconds(86_400)] {
      let other = MonotonicInstant(clock + offset)
      #expect(start + offset == other)
      #expect(other - offset == start)
      #expect(other - start == offset)
      #expect((other < start) == (offset < .zero))
      #expect(max(other, start) - start == max(offset, .zero))
      var moved = start
      moved += offset
      #expect(moved == other)
    }
  }

  @Test("the present is not before an instant read earlier")
  func present() {
    let earlier = MonotonicInstant.now
    #expect(earlier >= MonotonicInstant(clock))
    #expect(MonotonicInstant.now >= earlier)
  }
}
