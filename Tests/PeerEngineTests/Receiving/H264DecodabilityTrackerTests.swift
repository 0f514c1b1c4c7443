import PeerEngine
import Testing

@Suite("H.264 decodability tracker")
struct H264DecodabilityTrackerTests {
  private typealias Frame = H264DecodabilityTracker.Frame

  private static func keyframe(number: UInt16? = nil) -> Frame {
    Frame(
      isKeyframe: true, frameNumber: 0,
      dependencies: number.map { .init(number: $0, temporalLayer: 0, differences: []) })
  }

  /// Returns the results for frames of two temporal layers: the upper one has nal_ref_idc 0. Some are missing entirely.
  private func admitted(_ count: Int, missing: Set<Int>, lost: Int = 1, bits: UInt8 = 4) -> [Int] {
    var tracker = H264DecodabilityTracker()
    var passed: [Int] = []
    var gap = 0
    for number in 0..<count {
      if missing.contains(number) {
        gap += lost
        continue
      }
      // frame_num counts the frames of the lower layer: 0, 1, 1, 2, 2, …
      let isUpper = number % 2 == 1
      var frame = number == 0 ? Self.keyframe() : Frame(isReference: !isUpper)
      frame.frameNumber = UInt16(((number + 1) / 2) % (1 << Int(bits)))
      frame.frameNumberBits = bits
      frame.packetsLostBefore = gap
      gap = 0
      if tracker.admit(frame) { passed.append(number) }
    }
    return passed
  }

  @Test("nothing is admitted before a keyframe, and everything after it while nothing is missing")
  func following() {
    var tracker = H264DecodabilityTracker()
    #expect(tracker.needsKeyframe)
    let early = tracker.admit(Frame(frameNumber: 3))
    #expect(!early)
    #expect(admitted(60, missing: []) == Array(0..<60))
  }

  @Test("a lost frame of the upper layer costs only itself")
  func upperLayer() {
    #expect(admitted(40, missing: [5]) == Array(0..<40).filter { $0 != 5 })
    #expect(admitted(40, missing: [7, 21]) == Array(0..<40).filter { $0 != 7 && $0 != 21 })
    // frame_num has wrapped.
    #expect(admitted(60, missing: [45]) == Array(0..<60).filter { $0 != 45 })
  }

  @Test("a lost frame of the lower layer costs everything up to the next keyframe")
  func lowerLayer() {
    #expect(admitted(40, missing: [6]) == Array(0..<6))
    #expect(admitted(40, missing: [6, 7]) == Array(0..<6))
  }

  @Test("if a keyframe and the frames after it may be among the lost packets, or a whole period, nothing is proved")
  func unprovable() {
    // Frame 1 is missing; frame_num 1 follows, as it would after a lost keyframe.
    #expect(admitted(10, missing: [1]) == [0])
    // Five packets: a keyframe and the frames with frame_num 1 to 2 could have been among them before frame 6 with frame_num 3.
    #expect(admitted(20, missing: [5], lost: 5) == Array(0..<5))
    #expect(admitted(20, missing: [11], lost: 5) == Array(0..<20).filter { $0 != 11 })
    // All 16 reference frames of a period, and the 16 others.
    #expect(admitted(80, missing: Set(3..<35)) == Array(0..<3))
  }

  @Test(
    "a damaged frame that no other refers to costs only itself, and one that others need costs all up to a keyframe")
  func damaged() {
    for (isReference, wanted) in [(false, true), (true, false)] {
      var tracker = H264DecodabilityTracker()
      let results = [
        tracker.admit(Self.keyframe()), tracker.admit(Frame(frameNumber: 1)),
        tracker.admit(Frame(isReference: isReference, isComplete: false)), tracker.admit(Frame(frameNumber: 2)),
      ]
      #expect(results == [true, true, false, wanted])
      #expect(tracker.needsKeyframe == !wanted)
      let last = tracker.admit(Self.keyframe())
      #expect(last && !tracker.needsKeyframe)
    }
  }

  @Test("frames of which nothing tells whether others need them are harmless if frame_num continues")
  func unknown() {
    for (number, wanted) in [(UInt16(4), true), (5, false)] {
      var tracker = H264DecodabilityTracker()
      var results = [tracker.admit(Self.keyframe())]
      for number in 1...3 as ClosedRange<UInt16> { results.append(tracker.admit(Frame(frameNumber: number))) }
      results.append(tracker.admit(Frame(isReference: nil, isComplete: false)))
      results.append(tracker.admit(Frame(frameNumber: number)))
      #expect(results == [true, true, true, true, false, wanted])
    }
  }

  /// A stream of three temporal layers, as libwebrtc structures it: of four frames, the first is of layer 0, the third of layer 1, the
  /// others of layer 2. Only layer 2 has nal_ref_idc 0.
  private func layered(_ number: Int, lost: Int = 0, isComplete: Bool = true) -> Frame {
    if number == 0 { return Self.keyframe(number: 100) }
    let (layer, differences): (UInt8, [UInt16]) =
      switch number % 4 {
      case 0: (0, [4])
      case 2: (1, [2])
      case 1: (2, [1])
      default: (2, [1])
      }
    return Frame(
      isReference: layer < 2, isComplete: isComplete, frameNumber: isComplete ? UInt16((number + 1) / 2 % 16) : nil,
      packetsLostBefore: lost,
      dependencies: .init(number: UInt16(100 + number), temporalLayer: layer, differences: differences))
  }

  private func admittedLayers(_ count: Int, missing: Set<Int>, damaged: Set<Int> = []) -> (passed: [Int], waits: Bool) {
    var tracker = H264DecodabilityTracker()
    var passed: [Int] = []
    var lost = 0
    for number in 0..<count {
      if missing.contains(number) {
        lost += 1
        continue
      }
      if tracker.admit(layered(number, lost: lost, isComplete: !damaged.contains(number))) { passed.append(number) }
      lost = 0
    }
    return (passed, tracker.needsKeyframe)
  }

  @Test("by dependency descriptors, a lost frame costs those that refer to it and no others")
  func descriptors() {
    for damage in [true, false] {
      func lose(_ frame: Int) -> (passed: [Int], waits: Bool) {
        damage ? admittedLayers(32, missing: [], damaged: [frame]) : admittedLayers(32, missing: [frame])
      }
      // Layer 2, also right after the keyframe, where frame_num proves nothing.
      for frame in [1, 9, 11] {
        let result = lose(frame)
        #expect(result.passed == Array(0..<32).filter { $0 != frame } && !result.waits)
      }
      // Layer 1, and the frame of layer 2 after it.
      let middle = lose(10)
      #expect(middle.passed == Array(0..<32).filter { $0 != 10 && $0 != 11 } && !middle.waits)
      // Layer 0, and everything after.
      let base = lose(8)
      #expect(base.passed == Array(0..<8) && base.waits)
    }
  }

  @Test("a frame without references is admitted after a loss, and a descriptor whose number goes back proves nothing")
  func independent() {
    var tracker = H264DecodabilityTracker()
    func frame(_ number: UInt16, _ differences: [UInt16], lost: Int = 0) -> Frame {
      Frame(
        frameNumber: 9, packetsLostBefore: lost,
        dependencies: .init(number: number, temporalLayer: 1, differences: differences))
    }
    var results = [tracker.admit(Self.keyframe(number: 65_534))]
    results.append(tracker.admit(frame(65_535, [1])))
    results.append(tracker.admit(frame(1, [1], lost: 1)))
    results.append(tracker.admit(frame(2, [])))
    results.append(tracker.admit(frame(3, [1, 4])))
    results.append(tracker.admit(frame(4, [200])))
    #expect(results == [true, true, false, true, true, false])
    let back = tracker.admit(frame(2, []))
    #expect(!back && tracker.needsKeyframe)
  }

  @Test("if a layer is never repaired, a keyframe is required in the end")
  func unrepaired() {
    var tracker = H264DecodabilityTracker()
    _ = tracker.admit(Self.keyframe(number: 0))
    var number: UInt16 = 2
    while !tracker.needsKeyframe, number < 1_000 {
      // Each frame of layer 1 refers to the one before, the first of which is missing.
      _ = tracker.admit(
        Frame(
          frameNumber: 5, packetsLostBefore: number == 2 ? 1 : 0,
          dependencies: .init(number: number, temporalLayer: 1, differences: [1])))
      number += 1
    }
    #expect(number < 100)
  }
}
