import Media

/// Which codecs and profiles a track used.
struct CodecLog {
  /// The maximum number of entries; when there are more, the last one is that of the last codec.
  private static let maximumCount = 20

  private(set) var entries: [TrackCodec] = []
  private var last: Codec?

  /// Records a frame.
  mutating func receive(_ frame: EncodedFrame, at time: Double) {
    // Only a keyframe says what the frames up to the next one are.
    let profile = frame.codec.kind == .video && frame.isKeyframe ? frame.profile : nil
    if last == frame.codec, let entry = entries.last {
      guard let profile, profile != entry.profile else { return }
      if entry.profile == nil { return entries[entries.count - 1].profile = profile }
    }
    last = frame.codec
    if entries.count == Self.maximumCount { entries.removeLast() }
    entries.append(TrackCodec(time: roundedForReport(time), codec: frame.codec.rawValue, profile: profile))
  }
}
