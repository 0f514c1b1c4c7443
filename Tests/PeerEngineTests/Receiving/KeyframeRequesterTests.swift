import Media
import PeerEngine
import RTP
import Testing

@Suite("Keyframe requester")
struct KeyframeRequesterTests {
  @Test("a request is sent at once and then every 500 ms while a keyframe is needed, and never more often")
  func interval() {
    var requester = KeyframeRequester()
    let start = MonotonicInstant.now
    var times: [Int] = []
    for millisecond in 0..<2_000
    where requester.poll(wanted: millisecond < 1_200 || millisecond > 1_300, now: start + .milliseconds(millisecond)) {
      times.append(millisecond)
    }
    #expect(times == [0, 500, 1_000, 1_500])
    #expect(requester.requests == 4)
  }

  @Test("the deadline is the time at which the next request may be sent, and nil when no keyframe is needed")
  func deadline() {
    var requester = KeyframeRequester()
    let start = MonotonicInstant.now
    #expect(requester.deadline(wanted: false, now: start) == nil)
    #expect(requester.deadline(wanted: true, now: start) == start)
    _ = requester.poll(wanted: true, now: start)
    #expect(requester.deadline(wanted: true, now: start) == start + .milliseconds(500))
  }
}
