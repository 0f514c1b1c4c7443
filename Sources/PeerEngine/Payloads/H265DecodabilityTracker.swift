package import Bitstream

/// Tracks which H.265 frames can be decoded after a loss.
///
/// As long as nothing is missing since a keyframe, everything is admitted. After a loss nothing is admitted before the next keyframe, since a slice does not prove which packets are missing.
///
/// A keyframe (types 16 to 21) may have leading pictures, which follow it in decoding and precede it in output. Those that may refer to
/// frames before it (RASL) cannot be decoded if decoding begins with the keyframe (ITU-T H.265, 8.1.3): at the start, after a loss, after
/// the end of a sequence, and always after a BLA picture. They are left out; no other frame refers to them.
///
/// ```
///            keyframe                                        something is missing
///  waiting ───────────► following, without RASL pictures ──────────────────────────► waiting
///                          │                      ▲              ▲
///                keyframe  ▼       a BLA picture  │              │ something is missing
///                       following, with RASL pictures ───────────┘
/// ```
package struct H265DecodabilityTracker: DecodabilityTracker {
  /// The properties of the next frame.
  package struct Frame: FrameDependency, Hashable {
    /// nal_unit_type of its slices; that of a frame to which others refer if the frame is damaged.
    package var type: H265NALUnit.Kind
    package var isKeyframe: Bool
    /// Whether all of its packets arrived.
    package var isComplete: Bool
    /// How many packets between the previous frame and this one were given up.
    package var packetsLostBefore: Int
    /// Whether the frames after it do not depend on those before it.
    package var endsSequence: Bool

    /// - Parameter type: one from 16 to 21 makes a keyframe.
    package init(
      type: H265NALUnit.Kind = .init(rawValue: 1), isComplete: Bool = true, packetsLostBefore: Int = 0,
      endsSequence: Bool = false
    ) {
      self.type = type
      isKeyframe = type.isKeyframe
      self.isComplete = isComplete
      self.packetsLostBefore = packetsLostBefore
      self.endsSequence = endsSequence
    }
  }

  private enum State: Sendable {
    case waiting
    /// `skipsLeading`: whether RASL pictures refer to frames that are missing.
    case following(skipsLeading: Bool)
  }

  private var state = State.waiting

  package init() {}

  package var needsKeyframe: Bool {
    if case .waiting = state { true } else { false }
  }

  package mutating func restart() { state = .waiting }

  package mutating func admit(_ frame: Frame) -> Bool {
    guard frame.isComplete else {
      state = .waiting
      return false
    }
    defer { if frame.endsSequence { state = .waiting } }
    if frame.isKeyframe {
      let isCut = needsKeyframe || frame.packetsLostBefore > 0
      state = .following(skipsLeading: isCut || H265NALUnit.Kind.brokenLink.contains(frame.type.rawValue))
      return true
    }
    guard case .following(let skipsLeading) = state else { return false }
    guard frame.packetsLostBefore == 0 else {
      state = .waiting
      return false
    }
    return !(skipsLeading && frame.type.isSkippedLeading)
  }
}
