package import RTP

/// Tracks which pictures of VP9 can be decoded after a loss, so that no picture is emitted that depends on a missing one.
///
/// All pictures are passed to it in order, including damaged ones. A picture is complete if all of its layer frames are. As
/// long as nothing is missing since a keyframe, everything is admitted. After a loss it depends on the mode (RFC 9628, 4.2):
///
/// - In the flexible mode, a picture states its references by their distance (P_DIFF). It is admitted if all of them were.
///   If one of temporal layer 0 is not, everything waits for a keyframe.
/// - In the non-flexible mode, TL0PICIDX counts the pictures of temporal layer 0, which depend only on each other. If only
///   pictures of higher temporal layers are missing, a picture may depend on the newest one of each layer up to its own. After
///   a picture with the U bit, later pictures of higher layers depend on no picture of a higher layer before it.
///
/// ```
///            keyframe                    layer-0 picture missing, or missing layer unknown
///  waiting ───────────► following ─────────────────────────────────────────────────► waiting
///                        │     ▲
///    pictures of higher  ▼     │ non-flexible mode: all layers above a picture with the U bit; all by a keyframe
///    layers missing   following, those layers broken
/// ```
package struct VP9DecodabilityTracker: DecodabilityTracker {
  /// The properties of the next picture.
  package struct Frame: FrameDependency, Hashable {
    /// Bit N is set if a layer frame depends on the picture N before this one (P_DIFF, 0...127).
    package typealias References = UInt128

    package var pictureID: VP9PayloadDescriptor.PictureID?
    /// TID, 0...7.
    package var temporalLayer: UInt8
    /// U.
    package var isSwitchingUpPoint: Bool
    /// TL0PICIDX, in the non-flexible mode.
    package var baseLayerIndex: UInt8?
    /// The references of all of its layer frames; nil in the non-flexible mode.
    package var references: References?
    package var isKeyframe: Bool
    /// Whether all packets of all of its layer frames arrived.
    package var isComplete: Bool
    /// How many packets between the previous picture and this one were given up.
    package var packetsLostBefore: Int

    package init(
      pictureID: VP9PayloadDescriptor.PictureID? = nil, temporalLayer: UInt8 = 0, isSwitchingUpPoint: Bool = false,
      baseLayerIndex: UInt8? = nil, references: References? = nil, isKeyframe: Bool, isComplete: Bool = true,
      packetsLostBefore: Int = 0
    ) {
      self.pictureID = pictureID
      self.temporalLayer = temporalLayer & 0x07
      self.isSwitchingUpPoint = isSwitchingUpPoint
      self.baseLayerIndex = baseLayerIndex
      self.references = references
      self.isKeyframe = isKeyframe
      self.isComplete = isComplete
      self.packetsLostBefore = packetsLostBefore
    }

    /// - Parameters:
    ///   - descriptor: that of any packet of the picture.
    ///   - isKeyframe: whether the picture begins with a keyframe.
    package init(
      descriptor: VP9PayloadDescriptor, isKeyframe: Bool, isComplete: Bool = true, packetsLostBefore: Int = 0
    ) {
      self.init(
        pictureID: descriptor.pictureID, temporalLayer: descriptor.layers?.temporal ?? 0,
        isSwitchingUpPoint: descriptor.layers?.isSwitchingUpPoint ?? false, isKeyframe: isKeyframe,
        isComplete: isComplete, packetsLostBefore: packetsLostBefore)
      if case .nonFlexible(let index) = descriptor.mode { baseLayerIndex = index }
      addReferences(of: descriptor)
    }

    /// Adds the references of another layer frame.
    package mutating func addReferences(of descriptor: VP9PayloadDescriptor) {
      guard case .flexible(let differences) = descriptor.mode else { return }
      references = differences.reduce(references ?? 0) { $0 | 1 << References($1 & 0x7F) }
    }
  }

  private enum State: Sendable {
    case waiting
    case following(Following)
  }

  fileprivate struct Following: Sendable {
    var isFlexible: Bool
    var lastPictureID: VP9PayloadDescriptor.PictureID?
    /// TL0PICIDX of the last picture of layer 0.
    var baseLayerIndex: UInt8?
    var broken = BrokenLayers()
    /// Bit N is set if the picture N before the last one was admitted; only in the flexible mode.
    var admitted: UInt128 = 1
    /// Whether every picture since the keyframe was admitted; only in the flexible mode.
    var isIntact = true
    /// Grows with each picture that is not admitted, and shrinks with each that is.
    var dropScore = 0
  }

  /// After a loss at least this long nothing can be proved: a picture id of 7 bits and TL0PICIDX could have wrapped.
  private static let maximumProvableLoss = 100
  /// A picture that is not admitted counts as much as four that are. At the maximum a keyframe is required: the sender does
  /// not repair its higher layers, so that a fifth of its pictures or more would be missing for good.
  private static let maximumDropScore = 128

  private var state = State.waiting

  package init() {}

  /// Whether no picture is admitted before the next keyframe.
  package var needsKeyframe: Bool {
    if case .waiting = state { true } else { false }
  }

  /// Requires a keyframe next: the pictures that follow belong to another source.
  package mutating func restart() { state = .waiting }

  /// Evaluates the next picture and returns whether it may be emitted.
  package mutating func admit(_ frame: Frame) -> Bool {
    if frame.isKeyframe {
      guard frame.isComplete else {
        state = .waiting
        return false
      }
      state = .following(
        Following(
          isFlexible: frame.references != nil, lastPictureID: frame.pictureID, baseLayerIndex: frame.baseLayerIndex))
      return true
    }
    guard case .following(var following) = state else { return false }
    let isMissing = frame.packetsLostBefore > 0 && Self.isPictureMissing(before: frame, last: following.lastPictureID)
    let isProvable = !isMissing || frame.packetsLostBefore < Self.maximumProvableLoss
    // The mode changes only with a keyframe.
    guard isProvable, following.isFlexible == (frame.references != nil),
      let passes = following.isFlexible
        ? following.admitByReferences(frame, isMissing: isMissing)
        : following.admitByLayers(frame, isMissing: isMissing)
    else {
      state = .waiting
      return false
    }
    following.lastPictureID = frame.pictureID
    following.dropScore = max(0, following.dropScore + (passes ? -1 : 4))
    state = following.dropScore > Self.maximumDropScore ? .waiting : .following(following)
    return passes
  }

  /// Returns whether whole pictures are, or may be, missing between the last picture and this one.
  private static func isPictureMissing(before frame: Frame, last: VP9PayloadDescriptor.PictureID?) -> Bool {
    guard frame.packetsLostBefore < maximumProvableLoss, let distance = distance(from: last, to: frame.pictureID) else {
      return true
    }
    return distance != 1
  }

  /// Returns how many pictures after another one a picture is, modulo the range of the ids; nil without ids.
  fileprivate static func distance(
    from last: VP9PayloadDescriptor.PictureID?, to pictureID: VP9PayloadDescriptor.PictureID?
  ) -> Int? {
    guard let last, let pictureID else { return nil }
    let mask: UInt16 = pictureID.isLong && last.isLong ? 0x7FFF : 0x7F
    return Int((pictureID.value &- last.value) & mask)
  }
}

extension VP9DecodabilityTracker.Following {
  /// Evaluates a picture of the flexible mode.
  ///
  /// - Returns: whether it may be emitted; nil if a keyframe is needed.
  fileprivate mutating func admitByReferences(_ frame: VP9DecodabilityTracker.Frame, isMissing: Bool) -> Bool? {
    let distance = VP9DecodabilityTracker.distance(from: lastPictureID, to: frame.pictureID)
    if isMissing { isIntact = false }
    // Without picture ids, references cannot be found.
    guard isIntact || distance != nil else { return nil }
    admitted <<= UInt128(distance ?? 1)
    let passes = frame.isComplete && (isIntact || frame.references.map { admitted & $0 == $0 } ?? false)
    guard passes || frame.temporalLayer > 0 else { return nil }
    if passes { admitted |= 1 } else { admitted &= ~1 }
    isIntact = isIntact && passes
    return passes
  }

  /// Evaluates a picture of the non-flexible mode.
  ///
  /// - Returns: whether it may be emitted; nil if a keyframe is needed.
  fileprivate mutating func admitByLayers(_ frame: VP9DecodabilityTracker.Frame, isMissing: Bool) -> Bool? {
    let layer = frame.temporalLayer
    if isMissing {
      guard let before = baseLayerIndex, let index = frame.baseLayerIndex,
        index == (layer == 0 ? before &+ 1 : before)
      else { return nil }
      broken.insertAll()
    }
    guard frame.isComplete || layer > 0 else { return nil }
    if frame.isSwitchingUpPoint { broken.removeAll(above: layer) }
    if layer == 0 {
      baseLayerIndex = frame.baseLayerIndex
      return true
    }
    let passes = frame.isComplete && !broken.reaches(layer)
    if passes { broken.remove(layer) } else { broken.insert(layer) }
    return passes
  }
}
