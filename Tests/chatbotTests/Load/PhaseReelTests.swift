import Media
import NIOCore
import Testing

@testable import chatbot

@Suite("the frames of one source, in phases")
struct PhaseReelTests {
  private let start = ContinuousClock.now
  private let stagger = Stagger(publishers: 4, isLive: false)

  /// Frames of 25 a second with a keyframe each second, by their numbers.
  private func frame(_ number: Int) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("camera"), codec: .vp8, time: MediaTime(ticks: Int64(number) * 3600, rate: 90_000),
      payload: ByteBuffer(), isKeyframe: number.isMultiple(of: 25), arrival: moment(number))
  }

  private func moment(_ number: Int) -> ContinuousClock.Instant { start + .milliseconds(40 * number) }

  private func numbers(_ frames: [EncodedFrame]) -> [Int] { frames.map { Int($0.time.ticks / 3600) } }

  @Test("every phase is given every frame once, each at its own time")
  func phases() {
    var reel = PhaseReel(stagger)
    for phase in 0..<4 { _ = reel.join(phase, now: start) }
    var given: [[Int]] = Array(repeating: [], count: 4)
    for number in 0..<200 {
      reel.add(frame(number), now: moment(number))
      for phase in 0..<4 { given[phase] += numbers(reel.take(phase, now: moment(number))) }
    }
    #expect(given[0] == Array(0..<200))
    // 250 ms are six frames and a quarter.
    #expect(given[1] == Array(0..<193))
    #expect(given[3] == Array(0..<181))
  }

  @Test("one who comes in the middle begins with the last keyframe of its phase, and goes on without a hole")
  func newcomer() {
    var reel = PhaseReel(stagger)
    for number in 0..<60 { reel.add(frame(number), now: moment(number)) }
    var seen = numbers(reel.join(2, now: moment(59)))
    // The phase is half a second late: 12 frames and a half behind the 60th.
    #expect(seen == Array(25...46))
    for number in 60..<80 {
      reel.add(frame(number), now: moment(number))
      seen += numbers(reel.take(2, now: moment(number)))
    }
    #expect(seen == Array(25...66))
    #expect(reel.deadline(of: 2) == moment(67) + .milliseconds(500))
  }

  @Test("one who comes into a phase that is late itself is given nothing twice")
  func lateTimer() {
    var reel = PhaseReel(stagger)
    _ = reel.join(0, now: start)
    for number in 0..<20 { reel.add(frame(number), now: moment(number)) }
    let first = numbers(reel.take(0, now: moment(9)))
    let newcomers = numbers(reel.join(0, now: moment(19)))
    #expect(newcomers == first)
    #expect(numbers(reel.take(0, now: moment(19))) == Array(10..<20))
  }

  @Test("nobody in a phase means nothing is due there")
  func empty() {
    var reel = PhaseReel(stagger)
    reel.add(frame(0), now: start)
    #expect(reel.deadline(of: 1) == nil)
    #expect(reel.take(1, now: start + .seconds(9)).isEmpty)
  }

  @Test("a source without keyframes is not kept for ever")
  func bounded() {
    var reel = PhaseReel(stagger)
    _ = reel.join(0, now: start)
    for number in 1..<10_000 where !number.isMultiple(of: 25) {
      reel.add(frame(number), now: moment(number))
      _ = reel.take(0, now: moment(number))
    }
    #expect(reel.count <= PhaseReel.mostKept + 1)
    #expect(reel.join(0, now: moment(10_000)).isEmpty)
  }
}
