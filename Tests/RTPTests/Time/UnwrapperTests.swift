import RTP
import TestSupport
import Testing

@Suite("Unwrapping of sequence numbers")
struct UnwrapperTests {
  @Test("a sequence number continues after 65535")
  func sequenceNumberWraps() {
    var unwrapper = SequenceNumberUnwrapper()
    #expect(unwrapper.unwrap(65_534) == 65_534)
    #expect(unwrapper.unwrap(65_535) == 65_535)
    #expect(unwrapper.unwrap(0) == 65_536)
    #expect(unwrapper.unwrap(65_535) == 65_535)
    #expect(unwrapper.unwrap(2) == 65_538)
  }

  @Test("a number before the first can be negative")
  func belowZero() {
    var unwrapper = SequenceNumberUnwrapper()
    #expect(unwrapper.unwrap(0) == 0)
    #expect(unwrapper.unwrap(65_535) == -1)
    #expect(unwrapper.unwrap(1) == 1)
  }

  @Test("a distance of half the range counts as backward, one less as forward")
  func halfWay() {
    var unwrapper = SequenceNumberUnwrapper()
    _ = unwrapper.unwrap(0)
    #expect(unwrapper.position(of: 32_767) == 32_767)
    #expect(unwrapper.position(of: 32_768) == -32_768)
  }

  @Test("position(of:) does not change the reference")
  func placeDoesNotMove() {
    var unwrapper = SequenceNumberUnwrapper()
    _ = unwrapper.unwrap(10)
    #expect(unwrapper.position(of: 30_000) == 30_000)
    #expect(unwrapper.position(of: 40_000) == -25_536)
    #expect(unwrapper.unwrap(11) == 11)
  }

  @Test("a random walk in small steps is unwrapped through many wraps")
  func randomWalk() {
    var generator = SeededGenerator(seed: 1)
    var sequenceNumbers = SequenceNumberUnwrapper()
    var number: Int64 = 0
    for _ in 0..<20_000 {
      number += Int64.random(in: -1_000...3_000, using: &generator)
      #expect(sequenceNumbers.unwrap(UInt16(truncatingIfNeeded: number)) == number)
    }
  }
}
