import JobProcess
import Media
import Testing

@Suite("users whose media stands still") struct StallDetectorTests {
  private let start = MonotonicInstant.now

  private func stalled(_ detector: inout StallDetector, _ sample: StallDetector.Sample, at seconds: Int)
    -> [ParticipantID]
  {
    detector.update([sample], now: start + .seconds(seconds)).map(\.user)
  }

  @Test("a user whose frames end is stalled after 30 s, which is said once, until frames come again")
  func stalls() {
    var detector = StallDetector()
    #expect(stalled(&detector, .init("a", frames: 10), at: 0) == [])
    #expect(stalled(&detector, .init("a", frames: 20), at: 1) == [])
    #expect(stalled(&detector, .init("a", frames: 20), at: 30) == [])
    #expect(detector.stalled.isEmpty)
    let found = detector.update([.init("a", frames: 20)], now: start + .seconds(31))
    #expect(found.map(\.user) == ["a"])
    #expect(found.first?.since == start + .seconds(1))
    #expect(stalled(&detector, .init("a", frames: 20), at: 32) == [])
    #expect(detector.stalled == ["a"])
    #expect(stalled(&detector, .init("a", frames: 21), at: 33) == [])
    #expect(detector.stalled.isEmpty)
    #expect(stalled(&detector, .init("a", frames: 21), at: 63) == ["a"])
  }

  @Test("a user with a reason is not stalled, and has 30 s when the reason is over")
  func reasons() {
    let reasons: [StallDetector.Sample] = [
      .init("a", frames: 0), .init("a", frames: 5, isConnected: false), .init("a", frames: 5, isPaused: true),
      .init("a", frames: 5, hasStopped: true),
    ]
    for reason in reasons {
      var detector = StallDetector()
      for second in 0..<100 { #expect(stalled(&detector, reason, at: second) == []) }
      #expect(stalled(&detector, .init("a", frames: reason.frames == 0 ? 1 : 5), at: 100) == [])
      #expect(stalled(&detector, .init("a", frames: reason.frames == 0 ? 1 : 5), at: 128) == [])
      #expect(stalled(&detector, .init("a", frames: reason.frames == 0 ? 1 : 5), at: 130) == ["a"])
    }
  }

  @Test("a user who left is forgotten")
  func leaving() {
    var detector = StallDetector()
    _ = stalled(&detector, .init("a", frames: 1), at: 0)
    #expect(stalled(&detector, .init("a", frames: 1), at: 30) == ["a"])
    #expect(stalled(&detector, .init("b", frames: 1), at: 31) == [])
    #expect(detector.stalled.isEmpty)
  }
}
