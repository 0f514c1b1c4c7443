import Media
import PeerEngine
import RTP
import Testing

@Suite("Receiver bitrate estimator")
struct ReceiverBitrateEstimatorTests {
  @Test("the estimate starts at its ceiling, falls to the received bitrate under heavy loss, and rises again")
  func course() throws {
    var estimate = ReceiverBitrateEstimator()
    let start = MonotonicInstant.now
    #expect(estimate.poll(received: 0, fractionLost: 0, now: start) == nil)
    estimate.start(now: start)
    #expect(estimate.poll(received: 1e6, fractionLost: 0, now: start) == 5_000_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0, now: start + .milliseconds(999)) == nil)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.2, now: start + .seconds(1)) == 900_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.05, now: start + .seconds(2)) == 900_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.01, now: start + .seconds(3)) == 1_175_000)
    for second in 4..<20 { _ = estimate.poll(received: 1e6, fractionLost: 0, now: start + .seconds(second)) }
    #expect(estimate.limit == ReceiverBitrateEstimator.ceiling)
    #expect(estimate.poll(received: 1_000, fractionLost: 0.9, now: start + .seconds(30)) == 150_000)
  }
}
