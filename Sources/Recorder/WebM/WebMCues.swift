/// The table by which a player finds the keyframes (RFC 9559, 5.1.5).
enum WebMCues {
  struct Point: Sendable, Hashable {
    /// In milliseconds.
    let time: Int64
    /// Where the keyframe's cluster begins, in bytes from the segment's start.
    let cluster: Int64
  }

  /// The element; empty without points.
  static func element(_ points: [Point]) -> EBMLBuilder {
    var element = EBMLBuilder()
    if points.isEmpty { return element }
    element.master(.cues) { all in
      for point in points {
        all.master(.cuePoint) { entry in
          entry.unsigned(.cueTime, UInt64(max(0, point.time)))
          entry.master(.cueTrackPositions) { position in
            position.unsigned(.cueTrack, UInt64(WebMHeader.videoNumber))
            position.unsigned(.cueClusterPosition, UInt64(max(0, point.cluster)))
          }
        }
      }
    }
    return element
  }
}
