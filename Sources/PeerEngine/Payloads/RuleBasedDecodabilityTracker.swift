/// The rules of a codec by which frames prove, after a loss, that they can be decoded; and what the frames since the last keyframe said.
package protocol DecodabilityRules: Sendable {
  associatedtype Frame: FrameDependency

  /// How much the drop score grows with a damaged frame. With a whole one that is not admitted it grows by 4.
  static var damagedFrameScore: Int { get }

  /// - Parameter keyframe: it is complete, and admitted.
  init(keyframe: Frame)

  /// Evaluates the next frame, which is no keyframe.
  ///
  /// - Returns: whether it may be emitted; nil if a keyframe is needed.
  mutating func admit(_ frame: Frame) -> Bool?
}

/// Tracks by a codec's rules which frames can be decoded after a loss.
///
/// ```
///            keyframe                 as the rules say
///  waiting ───────────► following ─────────────────────► waiting
/// ```
///
/// A keyframe is also required if too many frames are not admitted: the sender does not repair its higher layers then, so that a fifth of
/// its frames or more would be missing for good.
package struct RuleBasedDecodabilityTracker<Rules: DecodabilityRules>: DecodabilityTracker {
  package typealias Frame = Rules.Frame

  private static var maximumDropScore: Int { 128 }

  /// Nil while waiting for a keyframe.
  private var rules: Rules?
  /// Grows with each frame that is not admitted, and shrinks by 1 with each that is.
  private var dropScore = 0

  package init() {}

  package var needsKeyframe: Bool { rules == nil }

  package mutating func restart() { rules = nil }

  package mutating func admit(_ frame: Frame) -> Bool {
    if frame.isKeyframe {
      rules = frame.isComplete ? Rules(keyframe: frame) : nil
      dropScore = 0
      return frame.isComplete
    }
    guard let passes = rules?.admit(frame) ?? nil else {
      rules = nil
      return false
    }
    dropScore = max(0, dropScore + (passes ? -1 : frame.isComplete ? 4 : Rules.damagedFrameScore))
    if dropScore > Self.maximumDropScore { rules = nil }
    return passes
  }
}

/// Which of the last 128 frames of a stream were admitted.
struct AdmittedFrames: Sendable {
  /// Bit N is set if the frame N before the last one was admitted.
  private var bits: UInt128

  init(last: Bool = false) { bits = last ? 1 : 0 }

  /// Makes the frame that many after the last one the last one, which is not admitted yet.
  mutating func advance(by distance: Int) { bits <<= distance }

  /// Notes whether the last frame was admitted.
  mutating func setLast(_ isAdmitted: Bool) {
    if isAdmitted { bits |= 1 } else { bits &= ~1 }
  }

  /// Returns whether the frames at these distances before the last one were admitted.
  func contains(_ distances: [UInt16]) -> Bool { distances.allSatisfy { bits >> $0 & 1 == 1 } }

  /// Returns whether the frames were admitted that a set has: bit N is set for the frame N before the last one.
  func contains(_ set: UInt128) -> Bool { bits & set == set }
}
