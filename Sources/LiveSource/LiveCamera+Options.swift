public import Media

extension LiveCamera {
  /// What is to be played, and how.
  public struct Options: Sendable, Hashable {
    public enum Input: Sendable, Hashable {
      /// WebM (VP8, VP9, Opus, Vorbis), IVF (VP8, VP9), Y4M, Ogg (Opus, Vorbis), WAV, FLAC or PNG.
      case file(String)
      /// A Y4M file, or raw frames in I420, one behind the other, for which `size` must be given.
      case standardInput
      /// The test pattern with its audio.
      case pattern
    }

    public var input: Input
    /// A file whose audio is played instead of the input's own.
    public var audio: String?
    /// What frames are scaled to; nil for their own size.
    public var size: VideoSize?
    /// Frames a second, by giving frames again or leaving some out; nil for their own times.
    public var fps: Double?
    /// Whether it starts again when it has ended. What comes from a pipe does not.
    public var loops: Bool
    /// Whether a file that could be played as stored is re-encoded all the same.
    public var live: Bool
    /// What video and audio may have together, in bits a second.
    public var maximumBitrate: Int
    /// How often the frame's size changes, between its own and half of it, each time with a keyframe; nil for never.
    public var sizeChange: Duration?
    /// Whose frames these are.
    public var owner: ParticipantID

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

  /// Why something cannot be played, as a sentence.
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
