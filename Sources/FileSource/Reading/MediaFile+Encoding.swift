import Media

extension MediaFile {
  /// Why the video should not be sent as stored, as a clause such as `its keyframes are up to 12.00 s apart`; nil if it can be.
  package var encodingReason: String? {
    guard let track = track(.video) else { return nil }
    return track.stored.encodingReason
  }
}

extension StoredTrack {
  /// Why video should not be sent as stored, as a clause; nil for audio and if it can be.
  package var encodingReason: String? {
    guard codec.kind == .video else { return nil }
    if let obstacle { return obstacle }
    // A receiver shows frames in the order in which they arrive.
    if isReordered { return FrameHeader.reordering }
    if MediaTimebase.duration(keyframeDistance) > MediaFile.Track.maximumKeyframeDistance {
      return "its keyframes are up to \(MediaTimebase.text(keyframeDistance)) s apart"
    }
    return nil
  }
}
