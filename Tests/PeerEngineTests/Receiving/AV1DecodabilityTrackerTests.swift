import PeerEngine
import Testing

@Suite("AV1 decodability tracker")
struct AV1DecodabilityTrackerTests {
  private typealias Frame = AV1DecodabilityTracker.Frame

  /// The temporal layer of a picture, and how many pictures before it its reference is: three layers in the pattern 0 2 1 2.
  private static let pattern: [(layer: UInt8, distance: UInt16)] = [(0, 4), (2, 1), (1, 2), (2, 1)]

  private func picture(_ number: Int, spatialLayers: Int = 1, hasDescriptor: Bool = true) -> Frame {
    let (temporal, distance) = Self.pattern[number % 4]
    var frame = Frame(isKeyframe: number == 0)
    guard hasDescriptor else { return frame }
    frame.layers = (0..<spatialLayers).map { spatial in
      .init(
        number: UInt16(truncatingIfNeeded: number * spatialLayers + spatial), temporalLayer: temporal,
        // Only in the keyframe a layer refers to the one below.
        differences: number == 0 ? (spatial == 0 ? [] : [1]) : [distance * UInt16(spatialLayers)])
    }
    return frame
  }

  /// Returns the numbers of the pictures that are admitted.
  private func admitted(
    _ count: Int, missing: Set<Int> = [], damaged: Set<Int> = [], spatialLayers: Int = 1, hasDescriptors: Bool = true
  ) -> [Int] {
    var tracker = AV1DecodabilityTracker()
    var passed: [Int] = []
    var gap = 0
    for number in 0..<count {
      if missing.contains(number) {
        gap += spatialLayers
        continue
      }
      var frame = picture(number, spatialLayers: spatialLayers, hasDescriptor: hasDescriptors)
      frame.isComplete = !damaged.contains(number)
      frame.packetsLostBefore = gap
      gap = 0
      if tracker.admit(frame) { passed.append(number) }
    }
    return passed
  }

  @Test(
    "nothing is admitted before a keyframe, and everything after it while nothing is missing", arguments: [true, false])
  func following(hasDescriptors: Bool) {
    var tracker = AV1DecodabilityTracker()
    #expect(tracker.needsKeyframe)
    let early = tracker.admit(picture(3, hasDescriptor: hasDescriptors))
    #expect(!early)
    #expect(admitted(200, hasDescriptors: hasDescriptors) == Array(0..<200))
  }

  @Test("a lost picture costs those that refer to it, of higher temporal layers", arguments: [1, 3])
  func higherLayers(spatialLayers: Int) {
    #expect(admitted(40, missing: [5], spatialLayers: spatialLayers) == Array(0..<40).filter { $0 != 5 })
    #expect(admitted(40, missing: [6], spatialLayers: spatialLayers) == Array(0..<40).filter { $0 != 6 && $0 != 7 })
    #expect(
      admitted(40, damaged: [5, 14], spatialLayers: spatialLayers)
        == Array(0..<40).filter { ![5, 14, 15].contains($0) })
  }

  @Test("a lost picture of temporal layer 0 costs everything up to the next keyframe", arguments: [1, 3])
  func baseLayer(spatialLayers: Int) {
    #expect(admitted(40, missing: [8], spatialLayers: spatialLayers) == Array(0..<8))
    #expect(admitted(40, damaged: [8], spatialLayers: spatialLayers) == Array(0..<8))
  }

  @Test("without descriptors, any loss costs everything up to the next keyframe")
  func noDescriptors() {
    #expect(admitted(40, missing: [5], hasDescriptors: false) == Array(0..<5))
    #expect(admitted(40, damaged: [5], hasDescriptors: false) == Array(0..<5))
  }

  @Test("a damaged keyframe, and numbers that go back after a loss, need another keyframe")
  func keyframes() {
    var tracker = AV1DecodabilityTracker()
    var results = [tracker.admit(picture(0)), tracker.admit(picture(1))]
    var broken = picture(0)
    broken.isComplete = false
    results.append(tracker.admit(broken))
    #expect(results == [true, true, false] && tracker.needsKeyframe)
    results = [tracker.admit(picture(0)), tracker.admit(picture(1)), tracker.admit(picture(2))]
    var back = picture(1)
    back.packetsLostBefore = 1
    results.append(tracker.admit(back))
    #expect(results == [true, true, true, false] && tracker.needsKeyframe)
  }

  @Test("layers that a server leaves out are no loss")
  func leftOutLayers() {
    var tracker = AV1DecodabilityTracker()
    var passed = 0
    for number in 0..<40 {
      var frame = picture(number, spatialLayers: 3)
      if number > 9 { frame.layers.removeLast(number < 20 ? 1 : 2) }
      if tracker.admit(frame) { passed += 1 }
    }
    #expect(passed == 40)
    // After a loss of a higher temporal layer, the lowest spatial layer goes on.
    var frame = picture(40, spatialLayers: 3)
    frame.layers.removeLast(2)
    frame.packetsLostBefore = 1
    let goesOn = tracker.admit(frame)
    #expect(goesOn)
  }
}
