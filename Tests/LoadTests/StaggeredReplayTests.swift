import Load
import Media
import NIOCore
import Testing

@Suite("the staggered replay of one source")
struct StaggeredReplayTests {
  private let start = ContinuousClock.now
  private let stagger = StaggerSchedule(publishers: 4, isLive: false)

  /// A frame by its number, at 25 frames a second with a keyframe each second.
  private func frame(_ number: Int) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("camera"), codec: .vp8, time: MediaTime(ticks: Int64(number) * 3600, rate: 90_000),
      payload: ByteBuffer(), isKeyframe: number.isMultiple(of: 25), arrival: moment(number))
  }

  private func moment(_ number: Int) -> ContinuousClock.Instant { start + .milliseconds(40 * number) }

  private func numbers(_ frames: [EncodedFrame]) -> [Int] { frames.map { Int($0.time.ticks / 3600) } }

  @Test("every phase sends every frame once, with its own delay")
  func phases() {
    var replay = StaggeredReplay(stagger)
    for phase in 0..<4 { _ = replay.join(phase, now: start) }
    var given: [[Int]] = Array(repeating: [], count: 4)
    for number in 0..<200 {
      replay.add(frame(number), now: moment(number))
      for phase in 0..<4 { given[phase] += numbers(replay.dequeue(phase, now: moment(number))) }
    }
    #expect(given[0] == Array(0..<200))
    // 250 ms are 6.25 frames.
    #expect(given[1] == Array(0..<193))
    #expect(given[3] == Array(0..<181))
  }

  @Test("a late publisher begins with the last keyframe of its phase and continues without a gap")
  func newcomer() {
    var replay = StaggeredReplay(stagger)
    for number in 0..<60 { replay.add(frame(number), now: moment(number)) }
    var seen = numbers(replay.join(2, now: moment(59)))
    // The phase is half a second late, 12.5 frames behind the 60th.
    #expect(seen == Array(25...46))
    for number in 60..<80 {
      replay.add(frame(number), now: moment(number))
      seen += numbers(replay.dequeue(2, now: moment(number)))
    }
    #expect(seen == Array(25...66))
    #expect(replay.deadline(of: 2) == moment(67) + .milliseconds(500))
  }

  @Test("a publisher that joins a phase with a late timer receives no frame twice")
  func lateTimer() {
    var replay = StaggeredReplay(stagger)
    _ = replay.join(0, now: start)
    for number in 0..<20 { replay.add(frame(number), now: moment(number)) }
    let first = numbers(replay.dequeue(0, now: moment(9)))
    let newcomers = numbers(replay.join(0, now: moment(19)))
    #expect(newcomers == first)
    #expect(numbers(replay.dequeue(0, now: moment(19))) == Array(10..<20))
  }

  @Test("a phase without publishers has no due frames")
  func empty() {
    var replay = StaggeredReplay(stagger)
    replay.add(frame(0), now: start)
    #expect(replay.deadline(of: 1) == nil)
    #expect(replay.dequeue(1, now: start + .seconds(9)).isEmpty)
  }

  @Test("a source without keyframes is not kept indefinitely")
  func bounded() {
    var replay = StaggeredReplay(stagger)
    _ = replay.join(0, now: start)
    for number in 1..<10_000 where !number.isMultiple(of: 25) {
      replay.add(frame(number), now: moment(number))
      _ = replay.dequeue(0, now: moment(number))
    }
    #expect(replay.count <= StaggeredReplay.maximumKept + 1)
    #expect(replay.join(0, now: moment(10_000)).isEmpty)
  }
}
