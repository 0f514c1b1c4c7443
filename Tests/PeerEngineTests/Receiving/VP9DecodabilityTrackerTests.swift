import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("VP9 decodability tracker")
struct VP9DecodabilityTrackerTests {
  /// How a synthetic encoder predicts its pictures from each other, and what its packets state about that.
  enum Pattern: String, CaseIterable, CustomTestStringConvertible {
    /// Each picture depends on the one before it.
    case plain
    /// Like `plain`, with picture ids of 7 bits that wrap.
    case shortIDs
    /// Like `plain` without picture ids, so that nothing is known after a loss.
    case noIDs
    /// Two temporal layers, the upper one in chains of four pictures.
    case twoLayers
    /// Three temporal layers in the pattern 0 2 1 2, as libwebrtc sends them.
    case threeLayers
    /// Like `threeLayers` in the flexible mode.
    case flexible
    /// Like `flexible` with picture ids of 7 bits.
    case flexibleShortIDs
    /// Each picture has a reference up to 127 pictures before it, in the flexible mode, and is of temporal layer 1.
    case distant

    var testDescription: String { rawValue }

    static let keyframeEvery = 200

    func isKeyframe(_ number: Int) -> Bool { number % Self.keyframeEvery == 0 }

    func layer(of number: Int) -> Int {
      switch self {
      case .plain, .shortIDs, .noIDs: 0
      case .twoLayers: number % 2
      case .threeLayers, .flexible, .flexibleShortIDs: [0, 2, 1, 2][number % 4]
      case .distant: isKeyframe(number) ? 0 : 1
      }
    }

    /// Returns the pictures from which this one is predicted.
    func references(of number: Int) -> [Int] {
      if isKeyframe(number) { return [] }
      switch self {
      case .plain, .shortIDs, .noIDs: return [number - 1]
      case .twoLayers:
        if number % 2 == 0 { return [number - 2] }
        return number % 8 == 1 ? [number - 1] : [number - 1, number - 2]
      case .threeLayers, .flexible, .flexibleShortIDs:
        return [[number - 4], [number - 1], [number - 2], [number - 3, number - 1]][number % 4]
      case .distant:
        let distance = number % Self.keyframeEvery
        return [number - min(distance, 1 + number * 31 % 127)]
      }
    }

    func frame(_ number: Int, lost: Int, isComplete: Bool = true) -> VP9DecodabilityTracker.Frame {
      let isShort = self == .shortIDs || self == .flexibleShortIDs
      var descriptor = VP9PayloadDescriptor(
        pictureID: self == .noIDs ? nil : .init(UInt16(number & 0x7FFF), isLong: !isShort),
        isInterPicturePredicted: !isKeyframe(number), startsFrame: true, endsFrame: true)
      let layer = layer(of: number)
      switch self {
      case .plain, .shortIDs, .noIDs: break
      case .twoLayers:
        // The first picture of a chain depends only on layer 0.
        descriptor.layers = .init(temporal: UInt8(layer), isSwitchingUpPoint: number % 8 == 0)
        descriptor.mode = .nonFlexible(baseLayerIndex: UInt8(number / 2 & 0xFF))
      case .threeLayers:
        descriptor.layers = .init(temporal: UInt8(layer), isSwitchingUpPoint: true)
        descriptor.mode = .nonFlexible(baseLayerIndex: UInt8(number / 4 & 0xFF))
      case .flexible, .flexibleShortIDs, .distant:
        descriptor.layers = .init(temporal: UInt8(layer))
        descriptor.mode = .flexible(referenceDifferences: references(of: number).map { UInt8(number - $0) })
      }
      return .init(
        descriptor: descriptor, isKeyframe: isKeyframe(number) && isComplete, isComplete: isComplete,
        packetsLostBefore: lost)
    }
  }

  @Test("without a loss every picture from the first keyframe on is admitted", arguments: Pattern.allCases)
  func noLoss(_ pattern: Pattern) {
    var tracker = VP9DecodabilityTracker()
    #expect(tracker.needsKeyframe)
    let passed = (150..<1_000).map { tracker.admit(pattern.frame($0, lost: 0)) }
    #expect(passed == (150..<1_000).map { $0 >= 200 })
    #expect(!tracker.needsKeyframe)
  }

  @Test(
    "no picture is admitted that depends on a missing one", arguments: Pattern.allCases, 1...20 as ClosedRange<UInt64>)
  func soundness(_ pattern: Pattern, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var tracker = VP9DecodabilityTracker()
    var decoded: Set<Int> = []
    var lost = 0
    for number in 0..<2_000 {
      let fate = Int.random(in: 0..<(seed < 10 ? 100 : 25), using: &generator)
      if fate == 0 {
        lost += Int.random(in: 1...3, using: &generator)
        continue
      }
      let passes = tracker.admit(pattern.frame(number, lost: lost, isComplete: fate != 1))
      lost = 0
      let isDecodable = fate != 1 && pattern.references(of: number).allSatisfy(decoded.contains)
      // `#expect` costs more than a picture.
      if passes, !isDecodable { Issue.record("picture \(number) depends on a missing one") }
      if passes { decoded.insert(number) }
    }
  }

  @Test(
    "a lost picture of the highest layer costs few others, and no keyframe",
    arguments: [Pattern.threeLayers, .flexible])
  func highestLayer(_ pattern: Pattern) {
    for lost in [5, 7] {
      var tracker = VP9DecodabilityTracker()
      let missing = (0..<16).filter { $0 != lost && !tracker.admit(pattern.frame($0, lost: $0 == lost + 1 ? 1 : 0)) }
      // In the non-flexible mode, the layer of the missing picture is unknown until the next switching up point.
      #expect(missing == (pattern == .threeLayers && lost == 5 ? [6, 7] : []))
      #expect(!tracker.needsKeyframe)
    }
  }

  @Test(
    "a damaged picture of the middle layer costs what depends on it",
    arguments: [Pattern.threeLayers, .flexible, .flexibleShortIDs])
  func middleLayer(_ pattern: Pattern) {
    var tracker = VP9DecodabilityTracker()
    let missing = (0..<16).filter { !tracker.admit(pattern.frame($0, lost: 0, isComplete: $0 != 6)) }
    #expect(missing == [6, 7])
    #expect(!tracker.needsKeyframe)
  }

  @Test(
    "a lost picture of layer 0 stops everything until a keyframe", arguments: [Pattern.threeLayers, .flexible, .plain])
  func baseLayer(_ pattern: Pattern) {
    var tracker = VP9DecodabilityTracker()
    for number in 0..<8 { _ = tracker.admit(pattern.frame(number, lost: 0)) }
    let passed = (9..<13).map { tracker.admit(pattern.frame($0, lost: $0 == 9 ? 1 : 0)) }
    #expect(!passed.contains(true))
    #expect(tracker.needsKeyframe)
    #expect(tracker.admit(pattern.frame(200, lost: 0)) == true)
    #expect(tracker.admit(pattern.frame(201, lost: 0)) == true)
  }

  @Test(
    "packets lost between pictures with consecutive ids contained no picture", arguments: [Pattern.plain, .flexible])
  func paddingLost(_ pattern: Pattern) {
    var tracker = VP9DecodabilityTracker()
    let passed = (0..<8).map { tracker.admit(pattern.frame($0, lost: $0 == 4 ? 3 : 0)) }
    #expect(!passed.contains(false))
  }

  @Test("after a loss so long that ids may have wrapped, decoding stops until a keyframe", arguments: Pattern.allCases)
  func longLoss(_ pattern: Pattern) {
    var tracker = VP9DecodabilityTracker()
    _ = tracker.admit(pattern.frame(0, lost: 0))
    #expect(tracker.admit(pattern.frame(1, lost: 150)) == false)
    #expect(tracker.needsKeyframe)
  }

  @Test("a sender that never repairs its upper layer is asked for a keyframe")
  func neverRepaired() {
    var tracker = VP9DecodabilityTracker()
    func frame(_ number: Int, lost: Int = 0) -> VP9DecodabilityTracker.Frame {
      .init(
        pictureID: .init(UInt16(number)), temporalLayer: UInt8(number % 2), baseLayerIndex: UInt8(number / 2 & 0xFF),
        isKeyframe: number == 0, packetsLostBefore: lost)
    }
    for number in 0..<3 { _ = tracker.admit(frame(number)) }
    let passed = (4..<200).map { tracker.admit(frame($0, lost: $0 == 4 ? 1 : 0)) }
    #expect(passed.prefix(40) == ArraySlice((0..<40).map { $0 % 2 == 0 }))
    #expect(tracker.needsKeyframe)
  }

  @Test("the mode must not change without a keyframe, and the layers of a picture share their references")
  func modes() {
    var tracker = VP9DecodabilityTracker()
    _ = tracker.admit(Pattern.flexible.frame(0, lost: 0))
    #expect(tracker.admit(Pattern.threeLayers.frame(1, lost: 0)) == false)
    #expect(tracker.needsKeyframe)
    var frame = Pattern.flexible.frame(5, lost: 0)
    #expect(frame.references == 1 << 1)
    frame.addReferences(
      of: .init(
        isInterPicturePredicted: true, mode: .flexible(referenceDifferences: [127, 4]), startsFrame: true,
        endsFrame: false))
    let all: UInt128 = 1 << 1 | 1 << 4 | 1 << 127
    #expect(frame.references == all)
  }

  @Test("restarting requires a keyframe")
  func restart() {
    var tracker = VP9DecodabilityTracker()
    _ = tracker.admit(Pattern.plain.frame(0, lost: 0))
    tracker.restart()
    #expect(tracker.needsKeyframe)
    #expect(tracker.admit(Pattern.plain.frame(1, lost: 0)) == false)
    #expect(tracker.admit(Pattern.plain.frame(200, lost: 0, isComplete: false)) == false)
  }
}
