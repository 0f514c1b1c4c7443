import LiveSource
import Testing

@Suite("Opus and packet loss")
struct OpusLossTuningTests {
  private let origin = ContinuousClock.now

  @Test("Opus is prepared for loss at once, and for some time after it has ended")
  func tuning() {
    var tuning = OpusLossTuning()
    tuning.update(fractionLost: 0, now: origin)
    #expect(!tuning.correctsErrors)
    tuning.update(fractionLost: 0.1, now: origin + .seconds(1))
    #expect(tuning.correctsErrors)
    #expect(tuning.expectedLoss == 10)
    tuning.update(fractionLost: 0, now: origin + .seconds(6))
    #expect(tuning.expectedLoss == 5)
    var seconds = 6
    while tuning.correctsErrors, seconds < 100 {
      seconds += 1
      tuning.update(fractionLost: 0, now: origin + .seconds(seconds))
    }
    #expect((15...40).contains(seconds))
    #expect(tuning.expectedLoss == 0)
  }

  @Test("implausible values are clamped", arguments: [-1.0, 7, .nan, .infinity, -.infinity])
  func nonsense(fraction: Double) {
    var tuning = OpusLossTuning()
    tuning.update(fractionLost: fraction, now: origin)
    #expect((0...40).contains(tuning.expectedLoss))
  }
}
