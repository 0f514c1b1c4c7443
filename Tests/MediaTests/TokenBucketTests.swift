import Media
import Testing

@Suite("Token bucket")
struct TokenBucketTests {
  private let start = MonotonicInstant.now

  @Test("a burst passes, then one token in each interval, and a whole burst again after a pause")
  func burst() {
    var bucket = TokenBucket(burst: 3, interval: .seconds(1))
    #expect(bucket.isFull(now: start))
    let atOnce = (0..<5).map { _ in bucket.consume(now: start) }
    #expect(atOnce == [true, true, true, false, false])
    #expect(bucket.next(now: start) == start + .seconds(1))
    let spaced = [900, 1_000, 1_500, 2_000].map { bucket.consume(now: start + .milliseconds($0)) }
    #expect(spaced == [false, true, false, true])
    #expect(bucket.next(now: start + .milliseconds(2_300)) == start + .seconds(3))
    #expect(!bucket.isFull(now: start + .milliseconds(4_999)))
    #expect(bucket.isFull(now: start + .seconds(5)))
    let later = start + .seconds(20)
    #expect(bucket.next(now: later) == later)
    let afterPause = (0..<4).map { _ in bucket.consume(now: later) }
    #expect(afterPause == [true, true, true, false])
  }

  @Test("time that passes while the bucket is full adds nothing")
  func full() {
    var bucket = TokenBucket(burst: 1, interval: .seconds(1))
    let first = bucket.consume(now: start + .milliseconds(900))
    let tooEarly = bucket.consume(now: start + .milliseconds(1_899))
    let second = bucket.consume(now: start + .milliseconds(1_900))
    #expect((first, tooEarly, second) == (true, false, true))
    // The bucket was full from 2.9 s on, so the next interval begins with the third token.
    let third = bucket.consume(now: start + .milliseconds(3_700))
    #expect(third)
    #expect(bucket.next(now: start + .milliseconds(3_700)) == start + .milliseconds(4_700))
  }

  @Test("a rate per second is kept, also where a second is not a whole number of intervals")
  func rate() {
    var bucket = TokenBucket(perSecond: 10, burst: 3)
    let atOnce = (0..<5).map { _ in bucket.consume(now: start) }
    #expect(atOnce == [true, true, true, false, false])
    let spaced = [50, 150, 160].map { bucket.consume(now: start + .milliseconds($0)) }
    #expect(spaced == [false, true, false])
    for rate in [3, 7, 16_384] {
      // With a burst of 1, the time between the end of an interval and the use of its token would be lost.
      var bucket = TokenBucket(perSecond: rate, burst: 2)
      let passed = (0..<200_000).count { bucket.consume(now: start + .microseconds(10 * $0)) }
      #expect(abs(passed - 2 * rate) <= 2)
    }
  }

  @Test("several tokens are consumed together or not at all")
  func counts() {
    var bucket = TokenBucket(perSecond: 1_000_000, burst: 1_500_000)
    let asked = [1_000_000, 500_001, 500_000, 0, 1].map { bucket.consume($0, now: start) }
    #expect(asked == [true, false, true, true, false])
    let later = [250_001, 250_000].map { bucket.consume($0, now: start + .milliseconds(250)) }
    #expect(later == [false, true])
    let aboveBurst = bucket.consume(1_500_001, now: start + .seconds(100))
    let huge = bucket.consume(.max, now: start + .seconds(100))
    #expect(!aboveBurst && !huge)
    let negative = bucket.consume(-1, now: start + .seconds(100))
    #expect(negative)
    let all = bucket.consume(1_500_000, now: start + .seconds(100))
    #expect(all)
    #expect(!bucket.isFull(now: start + .seconds(100)))
  }

  @Test("a clock that jumps back neither adds tokens at once nor stops the bucket")
  func clockJumpsBack() {
    var bucket = TokenBucket(burst: 2, interval: .seconds(1))
    let atOnce = (0..<3).map { _ in bucket.consume(now: start) }
    #expect(atOnce == [true, true, false])
    let earlier = start - .seconds(3_600)
    let back = [0, 999, 1_000, 1_500, 2_000].map { bucket.consume(now: earlier + .milliseconds($0)) }
    #expect(back == [false, false, true, false, true])
  }

  @Test("times that alternate by a little, as those of several sockets do, add nothing twice")
  func reordering() {
    var bucket = TokenBucket(burst: 10, interval: .milliseconds(10))
    var consumed = 0
    for step in 0..<1_000 {
      let now = start + .milliseconds(step)
      for time in [now, now - .milliseconds(200), now] where bucket.consume(now: time) { consumed += 1 }
    }
    // The burst, and one in 10 ms of 1 s.
    #expect((108...111).contains(consumed))
  }

  @Test("extreme rates, bursts and times do not trap")
  func extremes() {
    let far = start + .seconds(Int64.max)
    for burst in [Int.min, 0, 1, .max] {
      for interval in [Duration.zero, .seconds(-1), Duration(attoseconds: 1), .seconds(Int64.max), .nanoseconds(1)] {
        var bucket = TokenBucket(burst: burst, interval: interval)
        for now in [start, far, start, start - .seconds(Int64.max), far] {
          let passed = bucket.consume(now: now)
          #expect(!passed || burst > 0)
          #expect(bucket.next(now: now) >= now)
          _ = (bucket.isFull(now: now), bucket.consume(.max, now: now), bucket.consume(.min, now: now))
        }
      }
      for rate in [Int.min, 0, .max] {
        var bucket = TokenBucket(perSecond: rate, burst: burst)
        let passed = bucket.consume(now: start)
        #expect(passed == (burst > 0))
      }
    }
    var never = TokenBucket(perSecond: 0, burst: 1)
    let passed = [start, start + .seconds(1_000_000)].map { never.consume(now: $0) }
    #expect(passed == [true, false])
    _ = never.next(now: start).instant
    var unlimited = TokenBucket(perSecond: .max, burst: 1)
    let all = (0..<1_000).allSatisfy { unlimited.consume(now: start + .nanoseconds($0)) }
    #expect(all)
  }
}
