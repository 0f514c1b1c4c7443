/// Why a frame that arrived cannot be decoded.
package enum DroppedFrame: Sendable, Hashable {
  /// It is complete, and depends on one that is missing.
  case whole
  /// The sender did not send its end: no packet is missing.
  ///
  /// libwebrtc discards what its pacer has not sent of a frame when a keyframe follows.
  case cutOff
  /// Packets of it are missing, or it is invalid.
  case damaged

  init(isWhole: Bool, isCutOff: Bool) {
    self = isWhole ? .whole : isCutOff ? .cutOff : .damaged
  }
}
