package import RTP

/// Tracks which pictures of VP9 can be decoded after a loss. A picture is complete if all of its layer frames are.
package typealias VP9DecodabilityTracker = RuleBasedDecodabilityTracker<VP9DecodabilityRules>

/// How pictures of VP9 prove that they can be decoded.
///
/// As long as nothing is missing since a keyframe, everything is admitted. After a loss it depends on the mode (RFC 9628, 4.2):
///
/// - In the flexible mode, a picture states its references by their distance (P_DIFF). It is admitted if all of them were.
///   If one of temporal layer 0 is not, everything waits for a keyframe.
/// - In the non-flexible mode, TL0PICIDX counts the pictures of temporal layer 0, which depend only on each other. If only
///   pictures of higher temporal layers are missing, a picture may depend on the newest one of each layer up to its own. After
///   a picture with the U bit, later pictures of higher layers depend on no picture of a higher layer before it. If a picture of
///   layer 0 is missing, or the layer of a missing one is unknown, everything waits for a keyframe.
package struct VP9DecodabilityRules: DecodabilityRules {
  /// The properties of the next picture.
  package struct Frame: FrameDependency, Hashable {
    /// Bit N is set if a layer frame depends on the picture N before this one (P_DIFF, 0...127).
    package typealias References = UInt128

    package var pictureID: PictureID?
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
      pictureID: PictureID? = nil, temporalLayer: UInt8 = 0, isSwitchingUpPoint: Bool = false,
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

  package static var damagedFrameScore: Int { 4 }
  /// After a loss at least this long nothing can be proved: a picture id of 7 bits and TL0PICIDX could have wrapped.
  private static let maximumProvableLoss = 100

  private let isFlexible: Bool
  private var lastPictureID: PictureID?
  /// TL0PICIDX of the last picture of layer 0.
  private var baseLayerIndex: UInt8?
  private var broken = BrokenLayers()
  /// Of the pictures up to the last one; only in the flexible mode.
  private var admitted = AdmittedFrames(last: true)
  /// Whether every picture since the keyframe was admitted; only in the flexible mode.
  private var isIntact = true

  package init(keyframe: Frame) {
    isFlexible = keyframe.references != nil
    lastPictureID = keyframe.pictureID
    baseLayerIndex = keyframe.baseLayerIndex
  }

  package mutating func admit(_ frame: Frame) -> Bool? {
    let isMissing = frame.packetsLostBefore > 0 && isPictureMissing(before: frame)
    let isProvable = !isMissing || frame.packetsLostBefore < Self.maximumProvableLoss
    // The mode changes only with a keyframe.
    guard isProvable, isFlexible == (frame.references != nil) else { return nil }
    defer { lastPictureID = frame.pictureID }
    return isFlexible
      ? admitByReferences(frame, isMissing: isMissing) : admitByLayers(frame, isMissing: isMissing)
  }

  /// Returns whether whole pictures are, or may be, missing between the last picture and this one.
  private func isPictureMissing(before frame: Frame) -> Bool {
    guard frame.packetsLostBefore < Self.maximumProvableLoss, let distance = distance(to: frame.pictureID) else {
      return true
    }
    return distance != 1
  }

  /// Returns how many pictures after the last one a picture is; nil without picture ids.
  private func distance(to pictureID: PictureID?) -> Int? {
    guard let lastPictureID else { return nil }
    return pictureID?.distance(from: lastPictureID)
  }

  /// Evaluates a picture of the flexible mode.
  ///
  /// - Returns: whether it may be emitted; nil if a keyframe is needed.
  private mutating func admitByReferences(_ frame: Frame, isMissing: Bool) -> Bool? {
    let distance = distance(to: frame.pictureID)
    if isMissing { isIntact = false }
    // Without picture ids, references cannot be found.
    guard isIntact || distance != nil else { return nil }
    admitted.advance(by: distance ?? 1)
    let passes = frame.isComplete && (isIntact || frame.references.map { admitted.contains($0) } ?? false)
    guard passes || frame.temporalLayer > 0 else { return nil }
    admitted.setLast(passes)
    isIntact = isIntact && passes
    return passes
  }

  /// Evaluates a picture of the non-flexible mode.
  ///
  /// - Returns: whether it may be emitted; nil if a keyframe is needed.
  private mutating func admitByLayers(_ frame: Frame, isMissing: Bool) -> Bool? {
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
