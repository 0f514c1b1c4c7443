import RTP
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("Decodability chain")
struct DecodabilityTrackerTests {
  /// A frame of the three-layer pattern 0 2 1 2 that browsers send, by its place.
  private func layered(_ position: Int, lost: Int = 0, isComplete: Bool = true) -> DecodabilityTracker.Frame {
    let layer: UInt8 = [0, 2, 1, 2][position % 4]
    return DecodabilityTracker.Frame(
      descriptor: VP8PayloadDescriptor(
        startsPartition: true, pictureID: .init(UInt16(position & 0x7FFF)),
        baseLayerIndex: UInt8(truncatingIfNeeded: position / 4),
        temporalLayer: .init(index: layer, dependsOnBaseOnly: position % 4 == 1 || position % 4 == 2)),
      isKeyframe: position == 0, isComplete: isComplete, packetsLostBefore: lost)
  }

  private func plain(_ position: Int, lost: Int = 0, isKeyframe: Bool = false, isComplete: Bool = true, id: Bool = true)
    -> DecodabilityTracker.Frame
  {
    DecodabilityTracker.Frame(
      descriptor: VP8PayloadDescriptor(
        startsPartition: true, pictureID: id ? .init(UInt16(position & 0x7FFF)) : nil),
      isKeyframe: isKeyframe, isComplete: isComplete, packetsLostBefore: lost)
  }

  @Test("nothing passes before the first keyframe")
  func beginning() {
    var chain = DecodabilityTracker()
    #expect(chain.needsKeyframe)
    let passed = [plain(1), plain(2), plain(3, isKeyframe: true), plain(4)].map { chain.admit($0) }
    #expect(passed == [false, false, true, true])
    #expect(!chain.needsKeyframe)
  }

  @Test("after a lost frame nothing passes before the next keyframe")
  func lostFrame() {
    var chain = DecodabilityTracker()
    let frames = [
      plain(0, isKeyframe: true), plain(1), plain(3, lost: 2), plain(4), plain(5, isKeyframe: true), plain(6),
    ]
    let passed = frames.map { chain.admit($0) }
    #expect(passed == [true, true, false, false, true, true])
  }

  @Test("a damaged frame breaks the chain, and a damaged keyframe begins none")
  func damaged() {
    var chain = DecodabilityTracker()
    let frames = [
      plain(0, isKeyframe: true), plain(1, isComplete: false), plain(2), plain(3, isKeyframe: true, isComplete: false),
      plain(4), plain(5, isKeyframe: true),
    ]
    let passed = frames.map { chain.admit($0) }
    #expect(passed == [true, false, false, false, false, true])
  }

  @Test("lost packets between two consecutive frames were no frame")
  func paddingLost() {
    var chain = DecodabilityTracker()
    let passed = [plain(0, isKeyframe: true), plain(1, lost: 3), plain(2)].map { chain.admit($0) }
    #expect(passed == [true, true, true])
    _ = chain.admit(plain(0x7FFF, isKeyframe: true))
    #expect(chain.admit(plain(0, lost: 1)) == true)
  }

  @Test("without frame ID every loss breaks the chain")
  func noIDs() {
    var chain = DecodabilityTracker()
    let passed = [plain(0, isKeyframe: true, id: false), plain(1, id: false), plain(2, lost: 1, id: false)].map {
      chain.admit($0)
    }
    #expect(passed == [true, true, false])
  }

  @Test("a lost frame of the highest temporal layer costs only itself")
  func highestLayer() {
    var chain = DecodabilityTracker()
    let passed = [0, 1, 2, 4, 5, 6, 7, 8].map { chain.admit(layered($0, lost: $0 == 4 ? 1 : 0)) }
    #expect(passed.allSatisfy { $0 })
    #expect(!chain.needsKeyframe)
  }

  @Test("a damaged frame of the highest layer costs only itself")
  func damagedHighestLayer() {
    var chain = DecodabilityTracker()
    let passed = (0...8).map { chain.admit(layered($0, isComplete: $0 != 3)) }
    #expect(passed == [true, true, true, false, true, true, true, true, true])
  }

  @Test("after a lost frame of the middle layer, those that may depend on it are skipped until a synchronizing one")
  func middleLayer() {
    var chain = DecodabilityTracker()
    // 2 is lost; 3 may depend on it. 5 and 6 depend on layer 0 only, so from then on all is well.
    let passed = [0, 1, 3, 4, 5, 6, 7].map { chain.admit(layered($0, lost: $0 == 3 ? 1 : 0)) }
    #expect(passed == [true, true, false, true, true, true, true])
    #expect(!chain.needsKeyframe)
  }

  @Test("a damaged frame of the middle layer is known to be one, so the highest layer waits for it alone")
  func damagedMiddleLayer() {
    var chain = DecodabilityTracker()
    // 6 of the second round is damaged, and 7 may depend on it; 9 depends on layer 0 only, but 11 on 10 too.
    let passed = (0...11).map { chain.admit(layered($0, isComplete: $0 != 6)) }
    #expect(passed == (0...11).map { $0 != 6 && $0 != 7 })
  }

  @Test("a lost frame of layer 0 breaks the chain, as the next frame's index shows", arguments: [4, 5, 8])
  func baseLayer(next: Int) {
    var chain = DecodabilityTracker()
    for position in 0..<4 { _ = chain.admit(layered(position)) }
    // Everything from 4 on up to `next` is lost.
    let passed = chain.admit(layered(next == 4 ? 8 : next, lost: 3))
    #expect(!passed)
    #expect(chain.needsKeyframe)
  }

  @Test("a damaged frame of layer 0 breaks the chain")
  func damagedBase() {
    var chain = DecodabilityTracker()
    let passed = (0...6).map { chain.admit(layered($0, isComplete: $0 != 4)) }
    #expect(passed == [true, true, true, true, false, false, false])
  }

  @Test("a loss so long that counters may have gone round proves nothing")
  func longLoss() {
    var chain = DecodabilityTracker()
    _ = chain.admit(layered(0))
    #expect(chain.admit(layered(1, lost: 150)) == false)
    #expect(chain.needsKeyframe)
  }
}
