import RoomServer
import Testing

@Suite("The bitrate limit of publishers")
struct BitrateLimitTests {
  /// Adds samples, one each second.
  ///
  /// - Returns: the second of the first excess, and its bitrate.
  private func firstExcess(_ bytesPerSecond: [Int]) -> (second: Int, bitrate: Int)? {
    var limit = BitrateLimit()
    let start = ContinuousClock.now
    var sum: UInt64 = 0
    for second in 0...bytesPerSecond.count {
      if let bitrate = limit.add(bytes: sum, now: start + .seconds(second)) { return (second, bitrate) }
      if second < bytesPerSecond.count { sum += UInt64(bytesPerSecond[second]) }
    }
    return nil
  }

  @Test("an average of 20 Mb/s is allowed for ever, and more is not")
  func limit() throws {
    #expect(firstExcess(Array(repeating: 2_500_000, count: 100)) == nil)
    let excess = try #require(firstExcess(Array(repeating: 2_500_001, count: 100)))
    #expect(excess == (5, 20_000_008))
  }

  @Test("a second of 90 Mb/s is allowed if the five seconds with it are not too much")
  func burst() throws {
    let quiet = Array(repeating: 100_000, count: 10)
    #expect(firstExcess(quiet + [11_250_000] + quiet) == nil)
    let excess = try #require(firstExcess(quiet + [11_250_000, 2_000_000] + quiet))
    #expect(excess.second == 12)
  }

  @Test("counters that begin again do not count as sent, and the average then begins again too")
  func restart() {
    var limit = BitrateLimit()
    let start = ContinuousClock.now
    for second in 0..<10 {
      #expect(limit.add(bytes: UInt64(second) * 1_000, now: start + .seconds(second)) == nil)
    }
    for second in 10..<15 {
      #expect(limit.add(bytes: UInt64(second - 10) * 9_000_000, now: start + .seconds(second)) == nil)
    }
    #expect(limit.add(bytes: 45_000_000, now: start + .seconds(15)) == 72_000_000)
  }

  @Test("samples at the same moment, and many in a second, are harmless")
  func manySamples() {
    var limit = BitrateLimit()
    let start = ContinuousClock.now
    for index in 0..<10_000 {
      #expect(limit.add(bytes: UInt64(index) * 1_000, now: start + .milliseconds(index)) == nil)
    }
  }
}
