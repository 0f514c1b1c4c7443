import Bitstream
import PeerEngine
import Testing

@Suite("Decodability of H.265 frames")
struct H265DecodabilityTrackerTests {
  private func frame(_ type: UInt8, lost: Int = 0, isComplete: Bool = true, endsSequence: Bool = false)
    -> H265DecodabilityTracker.Frame
  {
    .init(
      type: .init(rawValue: type), isComplete: isComplete, packetsLostBefore: lost, endsSequence: endsSequence)
  }

  /// Returns which of the frames are admitted.
  private func admitted(_ frames: [H265DecodabilityTracker.Frame]) -> [Bool] {
    var tracker = H265DecodabilityTracker()
    return frames.map { tracker.admit($0) }
  }

  @Test("decoding begins with a keyframe of any of its types", arguments: 16...21)
  func begins(type: Int) {
    #expect(admitted([frame(1), frame(UInt8(type)), frame(1), frame(0)]) == [false, true, true, true])
  }

  @Test(
    "pictures that refer to frames before the keyframe are left out where decoding begins, and those that do not stay")
  func start() {
    #expect(
      admitted([frame(21), frame(9), frame(7), frame(8), frame(6), frame(1)]) == [true, false, true, false, true, true])
  }

  @Test("within a stream they stay, except behind a picture that says that the stream was cut")
  func within() {
    let frames = [frame(19), frame(1), frame(21), frame(9), frame(8), frame(1)]
    #expect(admitted(frames) == [true, true, true, true, true, true])
    #expect(
      admitted([frame(19), frame(1), frame(16), frame(9), frame(7), frame(1)]) == [true, true, true, false, true, true])
  }

  @Test("after a loss nothing is admitted before the next keyframe, and then no picture that refers to what was lost")
  func loss() {
    let expected = [true, false, false, true, false, true]
    #expect(admitted([frame(20), frame(1, lost: 1), frame(1), frame(21), frame(8), frame(1)]) == expected)
    #expect(admitted([frame(20), frame(1, isComplete: false), frame(1), frame(21), frame(8), frame(1)]) == expected)
    // Right before the keyframe, and within it.
    #expect(
      admitted([frame(20), frame(1), frame(21, lost: 1), frame(9), frame(1)]) == [true, true, true, false, true])
    #expect(admitted([frame(20), frame(21, isComplete: false), frame(1)]) == [true, false, false])
  }

  @Test("after the end of a sequence decoding begins again")
  func end() {
    let frames = [frame(19), frame(1, endsSequence: true), frame(1), frame(21), frame(9), frame(1)]
    #expect(admitted(frames) == [true, true, false, true, false, true])
  }

  @Test("another source begins with a keyframe")
  func restart() {
    var tracker = H265DecodabilityTracker()
    #expect(tracker.needsKeyframe)
    let first = tracker.admit(frame(19))
    #expect(first && !tracker.needsKeyframe)
    tracker.restart()
    #expect(tracker.needsKeyframe)
    let next = tracker.admit(frame(1))
    #expect(!next)
  }
}
