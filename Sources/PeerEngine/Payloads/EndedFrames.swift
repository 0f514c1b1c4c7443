/// The frames that have ended, of a codec whose payload format does not tell the last packet of a frame but by the marker.
///
/// A sender that never sets the marker ends a frame by beginning the next one. If a sender that does set it begins the next frame without
/// a marker, it has dropped the rest of the previous one without a gap in the sequence numbers, as libwebrtc does with packets in its pacer
/// when a keyframe arrives. Which kind of sender it is stays undecided after a first frame without a marker, until the next frame ends.
struct EndedFrames<Dependency: FrameDependency>: Sendable {
  /// Whether the sender ends frames with the marker; nil while unknown.
  private var setsMarkers: Bool?
  /// A frame that is complete if the sender sets no markers.
  private var undecided: AssembledFrame<Dependency>?
  /// Whether that frame is a keyframe. Stored, because Swift would copy the whole frame for each packet to read it.
  private(set) var holdsKeyframe = false
  /// At most three: one packet can end a frame, decide about the frame before it, and be a complete frame itself.
  private var finished: [AssembledFrame<Dependency>] = []

  /// Adds the next frame.
  ///
  /// - Parameters:
  ///   - byMarker: whether its last packet has the marker.
  ///   - isWholeSoFar: whether none of its packets that were sent is missing.
  mutating func add(_ frame: AssembledFrame<Dependency>, byMarker: Bool, isWholeSoFar: Bool) {
    var frame = frame
    if byMarker {
      setsMarkers = true
      releaseUndecided(isWhole: false)
    } else if setsMarkers == true {
      frame.isCutOff = isWholeSoFar
      frame.markDamaged()
    } else if !frame.dependency.isComplete {
      // A damaged frame does not show whether the sender sets markers, and a frame must not be emitted whose end may be missing.
      releaseUndecided(isWhole: false)
    } else if setsMarkers == nil, undecided == nil {
      undecided = frame
      holdsKeyframe = frame.dependency.isKeyframe
      return
    } else {
      setsMarkers = false
      releaseUndecided(isWhole: true)
    }
    finished.append(frame)
  }

  /// Removes and returns the next frame, in order.
  mutating func popFrame() -> AssembledFrame<Dependency>? {
    finished.isEmpty ? nil : finished.removeFirst()
  }

  /// Discards the frame of which it is not known whether it has ended.
  mutating func discardUndecided() {
    undecided = nil
    holdsKeyframe = false
  }

  /// Takes that frame for damaged: no more packets of this source follow.
  mutating func finish() {
    releaseUndecided(isWhole: false)
    setsMarkers = nil
  }

  private mutating func releaseUndecided(isWhole: Bool) {
    guard var frame = undecided else { return }
    discardUndecided()
    if !isWhole {
      frame.isCutOff = true
      frame.markDamaged()
    }
    finished.append(frame)
  }
}
