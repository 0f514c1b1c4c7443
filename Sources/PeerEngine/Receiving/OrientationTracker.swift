import Media

/// The orientation of a source's frames. The last packet of a frame states it; it holds until another frame states another, because
/// senders state it with keyframes and where it changes (3GPP TS 26.114, 7.4.5).
struct OrientationTracker: Sendable {
  private var current = VideoOrientation.upright
  /// That of a frame whose packets have not all been followed by its frame, with the RTP timestamp.
  private var stated: (timestamp: UInt32, orientation: VideoOrientation)?

  /// Notes what a packet states, in the order of the packets, before the frame that it completes.
  mutating func add(_ orientation: VideoOrientation, timestamp: UInt32) {
    if let stated, stated.timestamp != timestamp { current = stated.orientation }
    stated = (timestamp, orientation)
  }

  /// Returns the orientation of the next frame.
  mutating func orientation(ofFrame timestamp: UInt32) -> VideoOrientation {
    guard let stated, stated.timestamp == timestamp else { return current }
    current = stated.orientation
    self.stated = nil
    return current
  }

  /// Begins another source.
  mutating func restart() { self = OrientationTracker() }
}
