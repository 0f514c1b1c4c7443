/// The container and the codecs of the output.
package struct OutputFormat: Sendable, Hashable {
  package var container: CompositionContainer
  /// The codec of the video, which is used if there is video.
  package var video: OutputVideoCodec
  package var audio: OutputAudioCodec
  /// Whether the video codec was named, so that there is video also where nobody sent any.
  package var isVideoWanted: Bool

  package init(
    container: CompositionContainer, video: OutputVideoCodec, audio: OutputAudioCodec, isVideoWanted: Bool = false
  ) {
    (self.container, self.video, self.audio) = (container, video, audio)
    self.isVideoWanted = isVideoWanted
  }
}

/// The containers of the output; each is the extension of its files.
package enum CompositionContainer: String, Sendable, Hashable, Codable, CaseIterable {
  case mp4
  case webm
  case mkv
  /// MP4 with audio alone.
  case m4a
  /// Ogg with audio alone.
  case ogg
}

/// The video codecs of the output, as written on the command line.
package enum OutputVideoCodec: String, Sendable, Hashable, Codable, CaseIterable {
  case h264
  case vp9
  case vp8
  case av1
}

/// The audio codecs of the output, as written on the command line.
package enum OutputAudioCodec: String, Sendable, Hashable, Codable, CaseIterable {
  case aac
  case opus
}
