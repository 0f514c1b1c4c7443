package import RTP

/// Tracks which VP8 frames can be decoded after a loss.
///
/// After a loss, a frame is still admitted if its descriptor
/// proves that only frames of higher temporal layers are missing (RFC 7741, 4.2): TL0PICIDX counts the frames of layer 0,
/// which depend only on each other; a frame with the Y bit depends only on layer 0; any other may depend on the newest
/// frame of each layer up to its own. Otherwise no frame is admitted until a keyframe.
///
/// No frame depends on one with the N bit, so a damaged one costs only itself. The layer of a frame that is missing
/// entirely is unknown; but if all frames of a layer had the N bit, as those of the highest layer have in browsers, its
/// loss is no reason to drop others of that layer.
///
/// ```
///            keyframe                    layer-0 frame missing, or missing layer unknown
///  waiting ───────────► following ───────────────────────────────────────────────► waiting
///                        │     ▲
///    frames of higher    ▼     │ each layer by its next frame with the Y bit; all by a keyframe
///    layers missing   following, those layers broken
/// ```
package struct VP8DecodabilityTracker: DecodabilityTracker {
  /// The properties of the next frame.
  package struct Frame: FrameDependency, Hashable {
    /// The descriptor of any of its packets.
    package var descriptor: VP8PayloadDescriptor
    package var isKeyframe: Bool
    /// Whether all of its packets arrived.
    package var isComplete: Bool
    /// How many packets between the previous frame and this one were given up.
    package var packetsLostBefore: Int

    package init(
      descriptor: VP8PayloadDescriptor, isKeyframe: Bool, isComplete: Bool = true, packetsLostBefore: Int = 0
    ) {
      self.descriptor = descriptor
      self.isKeyframe = isKeyframe
      self.isComplete = isComplete
      self.packetsLostBefore = packetsLostBefore
    }

    fileprivate var layer: UInt8 { descriptor.temporalLayer?.index ?? 0 }
  }

  private enum State: Sendable {
    case waiting
    case following(lastPictureID: PictureID?, baseLayerIndex: UInt8?, broken: BrokenLayers)
  }

  /// The temporal layers of which every frame so far had the N bit, once there were enough to rule out chance.
  private struct LayerStatistics: Sendable {
    private static let minimumFrames = 4
    private var unreferenced = [0, 0, 0, 0]

    mutating func note(_ frame: Frame) {
      let layer = Int(frame.layer & 0x03)
      // A single frame without the N bit decides this permanently.
      guard unreferenced[layer] >= 0 else { return }
      unreferenced[layer] = frame.descriptor.isNonReference ? unreferenced[layer] + 1 : -1
    }

    var layers: BrokenLayers {
      var layers = BrokenLayers()
      for layer in 1...3 where unreferenced[layer] >= Self.minimumFrames { layers.insert(UInt8(layer)) }
      return layers
    }
  }

  /// After a loss at least this long nothing can be proved: a picture id of 7 bits and TL0PICIDX could have wrapped.
  private static let maximumProvableLoss = 100

  private var state = State.waiting
  private var layerStatistics = LayerStatistics()

  package init() {}

  package var needsKeyframe: Bool {
    if case .waiting = state { true } else { false }
  }

  package mutating func restart() {
    state = .waiting
    layerStatistics = LayerStatistics()
  }

  package mutating func admit(_ frame: Frame) -> Bool {
    let descriptor = frame.descriptor
    if frame.isKeyframe {
      guard frame.isComplete else {
        state = .waiting
        return false
      }
      state = .following(
        lastPictureID: descriptor.pictureID, baseLayerIndex: descriptor.baseLayerIndex, broken: BrokenLayers())
      return true
    }
    guard case .following(let lastPictureID, var baseLayerIndex, var broken) = state else { return false }
    if frame.packetsLostBefore > 0, isPictureMissing(before: frame, last: lastPictureID) {
      guard isBaseIntact(before: frame, baseLayerIndex: baseLayerIndex) else {
        state = .waiting
        return false
      }
      broken.insertAll()
    }
    layerStatistics.note(frame)
    let layer = frame.layer
    guard frame.isComplete || layer > 0 || descriptor.isNonReference else {
      state = .waiting
      return false
    }
    var passes = frame.isComplete
    if layer == 0 {
      baseLayerIndex = descriptor.baseLayerIndex
    } else {
      let isSynchronizing = descriptor.temporalLayer?.isLayerSync ?? false
      passes = passes && (isSynchronizing || !broken.subtracting(layerStatistics.layers).reaches(layer))
      // A frame on which no other depends neither breaks a layer nor repairs it.
      if !descriptor.isNonReference {
        if passes { broken.remove(layer) } else { broken.insert(layer) }
      }
    }
    state = .following(lastPictureID: descriptor.pictureID, baseLayerIndex: baseLayerIndex, broken: broken)
    return passes
  }

  /// Returns whether whole frames are, or may be, missing between the last frame and this one.
  private func isPictureMissing(before frame: Frame, last: PictureID?) -> Bool {
    guard frame.packetsLostBefore < Self.maximumProvableLoss, let pictureID = frame.descriptor.pictureID, let last
    else {
      return true
    }
    return pictureID.distance(from: last) != 1
  }

  /// Returns whether all missing frames must have been of higher temporal layers.
  private func isBaseIntact(before frame: Frame, baseLayerIndex: UInt8?) -> Bool {
    guard frame.packetsLostBefore < Self.maximumProvableLoss, let before = baseLayerIndex,
      let index = frame.descriptor.baseLayerIndex, frame.descriptor.temporalLayer != nil
    else { return false }
    return index == (frame.layer == 0 ? before &+ 1 : before)
  }
}
