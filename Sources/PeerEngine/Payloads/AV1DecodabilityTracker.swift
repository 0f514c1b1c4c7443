/// Tracks which temporal units of AV1 can be decoded after a loss.
package typealias AV1DecodabilityTracker = RuleBasedDecodabilityTracker<AV1DecodabilityRules>

/// How temporal units of AV1 prove that they can be decoded.
///
/// As long as nothing is missing since a keyframe, everything is admitted: a server may leave out spatial layers, or whole temporal units,
/// at any time. After a loss, the dependency descriptors are the only proof: they name the frames to which each frame of a temporal unit
/// refers, for each spatial layer one. A temporal unit is admitted if all of them were. If one of temporal layer 0 is not, everything waits
/// for a keyframe. Without descriptors, nothing is admitted until a keyframe.
package struct AV1DecodabilityRules: DecodabilityRules {
  /// The properties of the next temporal unit.
  package struct Frame: FrameDependency, Hashable {
    package var isKeyframe: Bool
    /// Whether all of its packets arrived.
    package var isComplete: Bool
    /// How many packets between the previous temporal unit and this one were given up.
    package var packetsLostBefore: Int
    /// What the dependency descriptors say of its frames, in order; empty if they are unknown.
    package var layers: [FrameDependencies]

    package init(
      isKeyframe: Bool = false, isComplete: Bool = true, packetsLostBefore: Int = 0, layers: [FrameDependencies] = []
    ) {
      self.isKeyframe = isKeyframe
      self.isComplete = isComplete
      self.packetsLostBefore = packetsLostBefore
      self.layers = layers
    }
  }

  package static var damagedFrameScore: Int { 0 }

  /// Whether every temporal unit since the keyframe was admitted, and no packet was lost.
  private var isIntact = true
  /// The number of the last frame with a descriptor; nil if there was none.
  private var number: UInt16?
  /// Of the frames up to that one.
  private var admitted = AdmittedFrames()

  package init(keyframe: Frame) {
    number = keyframe.layers.first.map { $0.number &- 1 }
    _ = advance(over: keyframe.layers)
  }

  package mutating func admit(_ frame: Frame) -> Bool? {
    if frame.packetsLostBefore > 0 { isIntact = false }
    var before = admitted
    let (refersToAdmitted, distance) = advance(over: frame.layers)
    if frame.isComplete, isIntact || refersToAdmitted ?? false { return true }
    isIntact = false
    before.advance(by: distance)
    admitted = before
    return refersToAdmitted != nil && frame.layers.allSatisfy { $0.temporalLayer > 0 } ? false : nil
  }

  /// Notes the frames of the next temporal unit as admitted.
  ///
  /// - Returns: whether all frames that they refer to were admitted, nil if that is unknown; and how far the numbers advanced.
  private mutating func advance(over layers: [FrameDependencies]) -> (Bool?, distance: Int) {
    var (refersToAdmitted, distance): (Bool?, Int) = (layers.isEmpty ? nil : true, 0)
    for layer in layers {
      let step = number.map { layer.number &- $0 } ?? 0
      number = layer.number
      // Without a number before this one, or after one that goes back, nothing is known of earlier frames.
      let isKnown = (1..<0x8000).contains(step)
      let advanced = isKnown ? Int(step) : 128
      distance += advanced
      admitted.advance(by: advanced)
      if !isKnown { refersToAdmitted = nil }
      if refersToAdmitted != nil, !admitted.contains(layer.differences) { refersToAdmitted = false }
      admitted.setLast(true)
    }
    return (refersToAdmitted, distance)
  }
}
