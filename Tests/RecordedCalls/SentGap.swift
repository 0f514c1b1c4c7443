package import Media

/// An interval of a call in which a track sends nothing, and the reason that the recording gives for it.
package struct SentGap: Sendable, Hashable {
  package var reason: MediaGap.Reason
  /// When nothing is sent, in seconds of the call.
  package var span: Range<Double>

  package init(_ reason: MediaGap.Reason, _ span: Range<Double>) {
    self.reason = reason
    self.span = span
  }

  /// The gap before the first frame after it.
  ///
  /// - Parameter frames: how many frames or packets are missing.
  func reported(_ frames: Int) -> MediaGap {
    switch reason {
    case .lost: MediaGap(.lost, packetsLost: frames)
    case .waitingForKeyframe, .diskStalled, .overloaded, .memoryFull: MediaGap(reason, framesDropped: frames)
    default: MediaGap(reason)
    }
  }
}
