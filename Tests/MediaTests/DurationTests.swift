import Media
import Testing

@Suite("Durations in seconds")
struct DurationTests {
  private static let durations: [Duration] = [
    .zero, .nanoseconds(1), .microseconds(20_833), .milliseconds(300), .milliseconds(-40), .seconds(9), .seconds(10),
    .seconds(-10), .seconds(86_400), .seconds(-3_000_000_000),
  ]

  @Test("they equal a division by one second, short and long, of either sign", arguments: durations)
  func seconds(duration: Duration) {
    let expected = duration / .seconds(1)
    #expect(abs(duration.seconds - expected) <= abs(expected) * 1e-15)
  }

  @Test("they are exact for half a second after whole hours")
  func exact() {
    for hours in 0..<100 as Range<Int64> {
      let half = Duration.seconds(hours * 3_600) + .milliseconds(500)
      #expect(half.seconds == Double(hours) * 3_600 + 0.5)
    }
  }

  @Test("they cover the longest possible durations")
  func longest() {
    #expect(abs(Duration(attoseconds: .max).seconds / 1.7e20 - 1) < 0.01)
    #expect(abs(Duration(attoseconds: .min).seconds / -1.7e20 - 1) < 0.01)
  }
}
