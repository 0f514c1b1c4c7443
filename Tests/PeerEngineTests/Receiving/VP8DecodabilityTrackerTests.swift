import PeerEngine
import RTP
import Testing

@Suite("VP8 decodability tracker")
struct VP8DecodabilityTrackerTests {
  /// Returns a frame of the three-layer pattern 0 2 1 2 that browsers send, by its position in the stream.
  private func layered(_ position: Int, lost: Int = 0, isComplete: Bool = true) -> VP8DecodabilityTracker.Frame {
    let layer: UInt8 = [0, 2, 1, 2][position % 4]
    return VP8DecodabilityTracker.Frame(
      descriptor: VP8PayloadDescriptor(
        startsPartition: true, pictureID: .init(UInt16(position & 0x7FFF)),
        baseLayerIndex: UInt8(truncatingIfNeeded: position / 4),
        temporalLayer: .init(index: layer, isLayerSync: position % 4 == 1 || position % 4 == 2)),
      isKeyframe: position == 0, isComplete: isComplete, packetsLostBefore: lost)
  }

  private func plain(_ position: Int, lost: Int = 0, isKeyframe: Bool = false, isComplete: Bool = true, id: Bool = true)
    -> VP8DecodabilityTracker.Frame
  {
    VP8DecodabilityTracker.Frame(
      descriptor: VP8PayloadDescriptor(
        startsPartition: true, pictureID: id ? .init(UInt16(position & 0x7FFF)) : nil),
      isKeyframe: isKeyframe, isComplete: isComplete, packetsLostBefore: lost)
  }

  @Test("no frame passes before the first keyframe")
  func beginning() {
    var chain = VP8DecodabilityTracker()
    #expect(chain.needsKeyframe)
    let passed = [plain(1), plain(2), plain(3, isKeyframe: true), plain(4)].map { chain.admit($0) }
    #expect(passed == [false, false, true, true])
    #expect(!chain.needsKeyframe)
  }

  @Test("after a lost frame no frame passes before the next keyframe")
  func lostFrame() {
    var chain = VP8DecodabilityTracker()
    let frames = [
      plain(0, isKeyframe: true), plain(1), plain(3, lost: 2), plain(4), plain(5, isKeyframe: true), plain(6),
    ]
    let passed = frames.map { chain.admit($0) }
    #expect(passed == [true, true, false, false, true, true])
  }

  @Test("a damaged frame stops decoding until a keyframe, and a damaged keyframe does not pass")
  func damaged() {
    var chain = VP8DecodabilityTracker()
    let frames = [
      plain(0, isKeyframe: true), plain(1, isComplete: false), plain(2), plain(3, isKeyframe: true, isComplete: false),
      plain(4), plain(5, isKeyframe: true),
    ]
    let passed = frames.map { chain.admit($0) }
    #expect(passed == [true, false, false, false, false, true])
  }

  @Test("packets lost between frames with consecutive picture ids contained no frame")
  func paddingLost() {
    var chain = VP8DecodabilityTracker()
    let passed = [plain(0, isKeyframe: true), plain(1, lost: 3), plain(2)].map { chain.admit($0) }
    #expect(passed == [true, true, true])
    _ = chain.admit(plain(0x7FFF, isKeyframe: true))
    #expect(chain.admit(plain(0, lost: 1)) == true)
  }

  @Test("without picture ids every loss stops decoding until a keyframe")
  func noIDs() {
    var chain = VP8DecodabilityTracker()
    let passed = [plain(0, isKeyframe: true, id: false), plain(1, id: false), plain(2, lost: 1, id: false)].map {
      chain.admit($0)
    }
    #expect(passed == [true, true, false])
  }

  @Test("a lost frame of the highest temporal layer affects only itself")
  func highestLayer() {
    var chain = VP8DecodabilityTracker()
    let passed = [0, 1, 2, 4, 5, 6, 7, 8].map { chain.admit(layered($0, lost: $0 == 4 ? 1 : 0)) }
    #expect(passed.allSatisfy { $0 })
    #expect(!chain.needsKeyframe)
  }

  @Test("a damaged frame of the highest layer affects only itself")
  func damagedHighestLayer() {
    var chain = VP8DecodabilityTracker()
    let passed = (0...8).map { chain.admit(layered($0, isComplete: $0 != 3)) }
    #expect(passed == [true, true, true, false, true, true, true, true, true])
  }

  @Test("after a lost frame of the middle layer, frames that may depend on it are skipped until a layer sync frame")
  func middleLayer() {
    var chain = VP8DecodabilityTracker()
    // Frame 2 is lost, and frame 3 may depend on it. Frames 5 and 6 depend only on layer 0, so everything passes from
    // then on.
    let passed = [0, 1, 3, 4, 5, 6, 7].map { chain.admit(layered($0, lost: $0 == 3 ? 1 : 0)) }
    #expect(passed == [true, true, false, true, true, true, true])
    #expect(!chain.needsKeyframe)
  }

  @Test("a damaged frame of the middle layer only skips frames of the highest layer that may depend on it")
  func damagedMiddleLayer() {
    var chain = VP8DecodabilityTracker()
    // Frame 6 of the second round is damaged, and frame 7 may depend on it; frame 9 depends only on layer 0, but frame 11
    // on frame 10 too.
    let passed = (0...11).map { chain.admit(layered($0, isComplete: $0 != 6)) }
    #expect(passed == (0...11).map { $0 != 6 && $0 != 7 })
  }

  @Test("a lost frame of layer 0 is detected by TL0PICIDX and stops decoding until a keyframe", arguments: [4, 5, 8])
  func baseLayer(next: Int) {
    var chain = VP8DecodabilityTracker()
    for position in 0..<4 { _ = chain.admit(layered(position)) }
    // All frames from 4 up to `next` are lost.
    let passed = chain.admit(layered(next == 4 ? 8 : next, lost: 3))
    #expect(!passed)
    #expect(chain.needsKeyframe)
  }

  @Test("a damaged frame of layer 0 stops decoding until a keyframe")
  func damagedBase() {
    var chain = VP8DecodabilityTracker()
    let passed = (0...6).map { chain.admit(layered($0, isComplete: $0 != 4)) }
    #expect(passed == [true, true, true, true, false, false, false])
  }

  @Test("after a loss so long that picture ids and TL0PICIDX may have wrapped, decoding stops until a keyframe")
  func longLoss() {
    var chain = VP8DecodabilityTracker()
    _ = chain.admit(layered(0))
    #expect(chain.admit(layered(1, lost: 150)) == false)
    #expect(chain.needsKeyframe)
  }
}
