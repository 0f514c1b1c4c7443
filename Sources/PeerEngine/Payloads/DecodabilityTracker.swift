/// Tracks which frames of one codec can be decoded after a loss, so that no frame is emitted that depends on a missing one.
///
/// All frames are passed to it in order, including damaged ones.
package protocol DecodabilityTracker: Sendable {
  /// The properties of the next frame.
  associatedtype Frame: FrameDependency

  init()

  /// Whether no frame is admitted before the next keyframe.
  var needsKeyframe: Bool { get }

  /// Evaluates the next frame and returns whether it may be emitted.
  mutating func admit(_ frame: Frame) -> Bool
  /// Requires a keyframe next: the frames that follow belong to another source.
  mutating func restart()
}
