/// Tracks which H.264 frames can be decoded after a loss.
package typealias H264DecodabilityTracker = RuleBasedDecodabilityTracker<H264DecodabilityRules>

/// How H.264 frames prove that they can be decoded.
///
/// As long as nothing is missing since a keyframe, everything is admitted. After a loss there are two proofs:
///
/// - The dependency descriptor names the frames that a frame refers to. It is admitted if all of them were. If one of temporal layer 0
///   is not, everything waits for a keyframe.
/// - Else `frame_num` counts the frames that others may refer to (those whose nal_ref_idc is not 0), from 0 in a keyframe, modulo a
///   power of two. If it is one more than that of the last of them, none is missing, and no frame depends on what is missing. That is
///   no proof if so many packets are missing that a keyframe and as many frames after it, or a whole period, could be among them.
///   Without a proof, everything waits for a keyframe.
///
/// No frame depends on one whose nal_ref_idc is 0, so a damaged one costs only itself.
package struct H264DecodabilityRules: DecodabilityRules {
  /// The properties of the next frame.
  package struct Frame: FrameDependency, Hashable {
    package var isKeyframe: Bool
    /// Whether other frames may refer to it; nil if nothing of it arrived that tells.
    package var isReference: Bool?
    /// Whether all of its packets arrived.
    package var isComplete: Bool
    /// frame_num of its first slice; nil if the frame is damaged.
    package var frameNumber: UInt16?
    /// The number of bits of frame_num, 4 to 16.
    package var frameNumberBits: UInt8
    /// How many packets between the previous frame and this one were given up.
    package var packetsLostBefore: Int
    /// How many packets of the frame there were, with those that were given up.
    package var packets: Int
    /// What its dependency descriptor says; nil without one.
    package var dependencies: FrameDependencies?

    package init(
      isKeyframe: Bool = false, isReference: Bool? = true, isComplete: Bool = true, frameNumber: UInt16? = nil,
      frameNumberBits: UInt8 = 4, packetsLostBefore: Int = 0, packets: Int = 1, dependencies: FrameDependencies? = nil
    ) {
      self.isKeyframe = isKeyframe
      self.isReference = isReference
      self.isComplete = isComplete
      self.frameNumber = frameNumber
      self.frameNumberBits = frameNumberBits
      self.packetsLostBefore = packetsLostBefore
      self.packets = packets
      self.dependencies = dependencies
    }
  }

  /// One that no other needs costs only itself.
  package static var damagedFrameScore: Int { 0 }

  /// Whether every frame since the keyframe was admitted, and no packet was lost.
  private var isIntact = true
  /// frame_num of the last frame that others may refer to; nil once one of them is missing.
  private var reference: UInt16?
  /// The number of packets that were lost since a frame proved that no reference frame was among them.
  private var unproven = 0
  /// The number of the last frame with a descriptor; nil if the last one had none that can be used.
  private var number: UInt16?
  /// Of the frames up to that one.
  private var admitted = AdmittedFrames(last: true)

  package init(keyframe: Frame) {
    reference = keyframe.frameNumber
    number = keyframe.dependencies?.number
  }

  package mutating func admit(_ frame: Frame) -> Bool? {
    let (lost, overflow) = unproven.addingReportingOverflow(frame.packetsLostBefore)
    unproven = overflow ? .max : lost
    let refersToAdmitted = advance(to: frame.dependencies)
    let isProvenByNumber = isProvenByNumber(frame)
    if unproven > 0 { isIntact = false }
    let passes = frame.isComplete && (isIntact || refersToAdmitted ?? isProvenByNumber)
    if passes, refersToAdmitted != nil { admitted.setLast(true) }
    if !passes { isIntact = false }
    noteReference(frame, passes: passes, isProven: isProvenByNumber)
    if passes { return true }
    // No other frame needs a damaged one of this kind.
    if !frame.isComplete, frame.isReference == false { return false }
    // Without a descriptor, frames that refer to this one or to a missing one cannot be told from others.
    let isOfHigherLayer = refersToAdmitted != nil && frame.dependencies?.temporalLayer ?? 0 > 0
    return isOfHigherLayer || reference != nil ? false : nil
  }

  /// Notes what a frame says of the frames that others may refer to.
  private mutating func noteReference(_ frame: Frame, passes: Bool, isProven: Bool) {
    if frame.isComplete {
      if isProven { unproven = 0 } else { reference = nil }
      if frame.isReference ?? true, reference != nil { reference = passes ? frame.frameNumber : nil }
      return
    }
    switch frame.isReference {
    case false?: break
    case true?: reference = nil
    // Nothing of a slice arrived: the frame is proved harmless, or not, with the packets lost around it.
    case nil: unproven += min(max(1, frame.packets), .max - unproven)
    }
  }

  /// Notes the number of the next frame, and returns whether all frames that it refers to were admitted; nil if that is unknown.
  private mutating func advance(to dependencies: FrameDependencies?) -> Bool? {
    guard let dependencies, let last = number else { return nil }
    let distance = dependencies.number &- last
    guard (1..<0x8000).contains(distance) else {
      number = nil
      return nil
    }
    number = dependencies.number
    admitted.advance(by: Int(distance))
    return admitted.contains(dependencies.differences)
  }

  /// Returns whether no frame is missing that others may refer to.
  private func isProvenByNumber(_ frame: Frame) -> Bool {
    guard let reference else { return false }
    guard unproven > 0 else { return true }
    guard let number = frame.frameNumber else { return false }
    let period = 1 << Int(min(16, frame.frameNumberBits))
    let expected = (Int(reference) + 1) % period
    // Lost packets could have been a keyframe and all frames up to this number after it, or a whole period.
    return Int(number) == expected && unproven < (expected == 0 ? period : expected)
  }
}
