/// Tracks which temporal units of AV1 can be decoded after a loss, so that none is emitted that depends on a missing one.
///
/// All temporal units are passed to it in order, including damaged ones. As long as nothing is missing since a keyframe, everything is
/// admitted: a server may leave out spatial layers, or whole temporal units, at any time. After a loss, the dependency descriptors are
/// the only proof: they name the frames to which each frame of a temporal unit refers, for each spatial layer one. A temporal unit is
/// admitted if all of them were. If one of temporal layer 0 is not, everything waits for a keyframe. Without descriptors, nothing is
/// admitted until a keyframe.
///
/// ```
///            keyframe                 a frame of temporal layer 0 refers to a missing one;
///                                     without descriptors: anything is missing
///  waiting ───────────► following ──────────────────────────────────────────────► waiting
/// ```
package struct AV1DecodabilityTracker: DecodabilityTracker {
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

  private enum State: Sendable {
    case waiting
    case following(Following)
  }

  fileprivate struct Following: Sendable {
    /// Whether every temporal unit since the keyframe was admitted, and no packet was lost.
    var isIntact = true
    /// The number of the last frame with a descriptor; nil if the last one had none that can be used.
    var number: UInt16?
    /// Bit N is set if the frame N before that one was admitted.
    var admitted: UInt128 = 0
    /// Grows with each whole temporal unit that is not admitted, and shrinks with each that is.
    var dropScore = 0
  }

  /// A whole temporal unit that is not admitted counts as much as four that are. At the maximum a keyframe is required, as with VP9.
  private static let maximumDropScore = 128

  private var state = State.waiting

  package init() {}

  /// Whether no temporal unit is admitted before the next keyframe.
  package var needsKeyframe: Bool {
    if case .waiting = state { true } else { false }
  }

  /// Requires a keyframe next: the temporal units that follow belong to another source.
  package mutating func restart() { state = .waiting }

  /// Evaluates the next temporal unit and returns whether it may be emitted.
  package mutating func admit(_ frame: Frame) -> Bool {
    if frame.isKeyframe {
      guard frame.isComplete else {
        state = .waiting
        return false
      }
      var following = Following(number: frame.layers.first.map { $0.number &- 1 })
      _ = following.advance(over: frame.layers)
      state = .following(following)
      return true
    }
    guard case .following(var following) = state else { return false }
    guard let passes = following.admit(frame) else {
      state = .waiting
      return false
    }
    following.dropScore = max(0, following.dropScore + (passes ? -1 : frame.isComplete ? 4 : 0))
    state = following.dropScore > Self.maximumDropScore ? .waiting : .following(following)
    return passes
  }
}

extension AV1DecodabilityTracker.Following {
  /// - Returns: whether the temporal unit may be emitted; nil if a keyframe is needed.
  fileprivate mutating func admit(_ frame: AV1DecodabilityTracker.Frame) -> Bool? {
    if frame.packetsLostBefore > 0 { isIntact = false }
    let before = admitted
    let (refersToAdmitted, distance) = advance(over: frame.layers)
    if frame.isComplete, isIntact || refersToAdmitted ?? false { return true }
    isIntact = false
    admitted = distance < 128 ? before << UInt128(distance) : 0
    return refersToAdmitted != nil && frame.layers.allSatisfy { $0.temporalLayer > 0 } ? false : nil
  }

  /// Notes the frames of the next temporal unit as admitted.
  ///
  /// - Returns: whether all frames that they refer to were admitted, nil if that is unknown; and how far the numbers advanced.
  fileprivate mutating func advance(over layers: [FrameDependencies]) -> (Bool?, distance: Int) {
    var (refersToAdmitted, distance): (Bool?, Int) = (layers.isEmpty ? nil : true, 0)
    for layer in layers {
      let step = number.map { layer.number &- $0 } ?? 0
      number = layer.number
      // Without a number before this one, or after one that goes back, nothing is known of earlier frames.
      let isKnown = (1..<0x8000).contains(step)
      admitted = isKnown && step < 128 ? admitted << UInt128(step) : 0
      distance += isKnown ? Int(step) : 128
      let refers = layer.differences.allSatisfy { $0 < 128 && admitted >> UInt128($0) & 1 == 1 }
      if !isKnown { refersToAdmitted = nil }
      if !refers, refersToAdmitted != nil { refersToAdmitted = false }
      admitted |= 1
    }
    return (refersToAdmitted, distance)
  }
}
