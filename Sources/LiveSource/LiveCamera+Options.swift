public import Media

extension LiveCamera {
  /// The input of a camera and how to play it.
  public struct Options: Sendable, Hashable {
    public enum Input: Sendable, Hashable {
      /// WebM (VP8, VP9, AV1, Opus), IVF (VP8, VP9, AV1), Y4M or Ogg (Opus); with the program `chatbot-media` also MP4, MOV, Matroska, M4A, MP3,
      /// AAC, WAV, FLAC, Vorbis in WebM and Ogg, and PNG.
      case file(String)
      /// A Y4M file, or raw I420 frames, one after the other, for which `size` must be given.
      case standardInput
      /// The test pattern with its audio.
      case pattern
    }

    public var input: Input
    /// A file whose audio is played instead of the input's own.
    public var audio: String?
    /// The size that frames are scaled to; nil for their own size.
    public var size: VideoSize?
    /// A constant frame rate, for which frames are repeated or skipped; nil for their own times.
    public var fps: Double?
    /// Whether the input restarts when it has ended. A pipe never does.
    public var loops: Bool
    /// Whether to re-encode even a file that could be played as stored.
    public var live: Bool
    /// The codec that video is encoded with.
    public var videoCodec = Codec.preferred(for: .video)
    /// The codecs in which the video of a file is sent as stored; nil for `videoCodec` only. A file with video of another codec is
    /// decoded and encoded again.
    public var storedVideoCodecs: [Codec]?
    /// The maximum bitrate of video and audio together, in bits a second.
    public var maximumBitrate: Int
    /// The interval between changes of the frame size, from its own to half of it and back, each with a keyframe; nil
    /// for none.
    public var sizeChange: Duration?
    /// The participant that the frames belong to.
    public var owner: ParticipantID
    /// Why a file must be encoded although no option requires it, as a clause.
    var encodingReason: String?

    public init(
      input: Input, audio: String? = nil, size: VideoSize? = nil, fps: Double? = nil, loops: Bool = true,
      live: Bool = false, maximumBitrate: Int = 2_500_000, owner: ParticipantID
    ) {
      self.input = input
      self.audio = audio
      self.size = size
      self.fps = fps
      self.loops = loops
      self.live = live
      self.maximumBitrate = maximumBitrate
      self.owner = owner
    }
  }

}

extension LiveCamera.Options {
  /// Chooses the codecs of video.
  ///
  /// - Parameters:
  ///   - wanted: the codec that is asked for, also for files; nil to send a file in the codec in which it is stored.
  ///   - allowed: the codecs that the call may carry, the best first; nil for all, of which those that few receivers decode are not sent.
  package mutating func chooseVideoCodecs(_ wanted: Codec?, allowed: [Codec]?) {
    let allowed = (allowed ?? Codec.allCases.filter { !$0.properties.isRarelyDecoded }).filter { $0.kind == .video }
    if let wanted {
      videoCodec = wanted
    } else if !allowed.contains(videoCodec),
      let first = allowed.first(where: Codec.encodedLive.contains) ?? allowed.first
    {
      videoCodec = first
    }
    storedVideoCodecs = wanted.map { [$0] } ?? allowed
  }

  /// The codecs in which the video of a file is sent as stored.
  var codecsSentAsStored: [Codec] { storedVideoCodecs ?? [videoCodec] }

  /// Whether no option requires that video is encoded.
  var permitsStoredVideo: Bool { !live && size == nil && fps == nil && audio == nil && sizeChange == nil }
}

extension LiveCamera {
  /// Why an input cannot be played, as a sentence.
  public struct OpeningError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
      self.description = description
    }

    init(_ name: String, _ rejection: InputError) {
      description = "\(name) cannot be played: \(rejection)."
    }
  }
}
