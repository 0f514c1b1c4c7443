import LiveSource
import Testing

@Suite("Keyframe requests")
struct KeyframeRequestsTests {
  private let origin = ContinuousClock.now

  private func at(_ milliseconds: Int) -> ContinuousClock.Instant { origin + .milliseconds(milliseconds) }

  @Test("the first frame is a keyframe without being requested")
  func first() {
    var requests = KeyframeRequests()
    #expect(requests.isDue(now: at(0)))
    #expect(requests.deadline == nil)
    requests.keyframeMade(now: at(0))
    #expect(!requests.isDue(now: at(10_000)))
  }

  @Test("a request is answered at once if the previous keyframe is old enough")
  func atOnce() {
    var requests = KeyframeRequests()
    requests.keyframeMade(now: at(0))
    requests.request(now: at(500))
    #expect(requests.isDue(now: at(500)))
    #expect(requests.earliest == at(500))
    #expect(requests.deadline == at(580))
  }

  @Test("requests within 500 ms of a keyframe are combined and answered after the 500 ms")
  func joined() {
    var requests = KeyframeRequests()
    requests.keyframeMade(now: at(0))
    for time in stride(from: 1, to: 499, by: 7) { requests.request(now: at(time)) }
    #expect(!requests.isDue(now: at(499)))
    #expect(requests.isDue(now: at(500)))
    #expect(requests.earliest == at(500))
    requests.keyframeMade(now: at(500))
    #expect(!requests.isDue(now: at(1_000)))
    #expect(requests.deadline == nil)
  }

  @Test("a keyframe that was made for another reason also answers requests")
  func otherReason() {
    var requests = KeyframeRequests()
    requests.keyframeMade(now: at(0))
    requests.request(now: at(400))
    requests.keyframeMade(now: at(450))
    #expect(!requests.isDue(now: at(2_000)))
    #expect(!requests.allows(now: at(949)))
    #expect(requests.allows(now: at(950)))
  }
}
