import NIOCore

/// Assembles the frames of a source, and tracks which of them can be decoded.
package struct DecodableFrameAssembler<Assembler: FrameAssembler, Tracker: DecodabilityTracker>: Sendable
where Assembler.Dependency == Tracker.Frame {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  private(set) var isGatheringKeyframe = false

  private var assembler: Assembler
  private var decodability = Tracker()

  init(_ assembler: Assembler) { self.assembler = assembler }

  mutating func add(_ packet: ReceivedPacket) {
    assembler.add(packet)
    isGatheringKeyframe = assembler.isGatheringKeyframe
  }

  mutating func addLost(_ count: Int) {
    assembler.addLost(count)
    isGatheringKeyframe = false
  }

  /// Removes and returns the next frame that has ended, and whether it may be emitted.
  mutating func popFrame() -> (frame: Assembler.Frame, isDecodable: Bool)? {
    guard let frame = assembler.popFrame() else { return nil }
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    return (frame, isDecodable)
  }

  mutating func setDescribed(_ parameterSets: [ByteBuffer]) { assembler.setDescribed(parameterSets) }

  mutating func discardUnfinished() { assembler.discardUnfinished() }

  mutating func finish() {
    assembler.finish()
    isGatheringKeyframe = false
  }

  mutating func restart() {
    assembler.restart()
    decodability.restart()
    needsKeyframe = true
  }
}
