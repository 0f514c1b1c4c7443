import FileSource
import Media
import MediaMessages

/// What becomes of the tracks of a file: pure.
struct RemuxPlan: Hashable {
  /// A track that is copied, by its index in the file.
  struct Copied: Hashable {
    var index: Int
    var codec: TrackCodec
  }

  /// What becomes of the sound.
  enum Sound: Hashable {
    case copied(Copied)
    /// Decoded, and encoded or written as samples.
    case encoded(index: Int, from: String, TrackCodec)
  }

  var video: Copied?
  var sound: Sound?
  /// What is left out, as sentences.
  var notes: [String] = []

  /// - Throws: a sentence that says what the container cannot hold, and which command makes a file of it.
  init(_ file: FileDescription, _ options: RemuxOptions) throws(ComposerFailure) {
    let (input, format) = (options.input, options.format)
    let holdsVideo = format.codecs.contains { $0.kind == .video }
    for (index, track) in file.tracks.enumerated() where track.kind != .other {
      guard !track.isEncrypted else { throw .input("\(input): its \(Self.title(track)) track is encrypted.") }
      switch track.kind {
      case .video where !holdsVideo:
        notes.append("A .\(format.ending) file has no video: that of the recording is left out.")
      case .video where video != nil, .audio where sound != nil:
        notes.append("Track \(index + 1), \(Self.title(track)), is left out: a recording has one of its kind.")
      case .video:
        guard let codec = TrackCodec(name: track.codec), format.codecs.contains(codec) else {
          throw .input(
            "\(input): a .\(format.ending) file does not hold \(Self.title(track)) as players read it. "
              + "“\(Self.composing(options))” encodes it.")
        }
        if track.orientation != .upright, !format.statesOrientation {
          throw .input(
            "\(input): its video is shown \(track.orientation), which is not written into a .\(format.ending) file. "
              + "“\(Self.composing(options))” encodes it upright, and .mp4 and .mov files state it.")
        }
        video = Copied(index: index, codec: codec)
      case .audio:
        if let codec = options.sound {
          guard track.isDecodable else { throw .input("\(input): \(Self.title(track)) is not decoded.") }
          sound = .encoded(index: index, from: Self.title(track), codec)
          continue
        }
        guard let codec = TrackCodec(name: track.codec), format.codecs.contains(codec) else {
          let wanted = SoundEncoderSettings.codecs.first { format.codecs.contains($0) }
          throw .input(
            "\(input): a .\(format.ending) file does not hold \(Self.title(track)) as players read it. "
              + "“--audio \(wanted?.name ?? "")” encodes the sound.")
        }
        sound = .copied(Copied(index: index, codec: codec))
      case .other: break
      }
    }
    guard video != nil || sound != nil else {
      throw .input(
        holdsVideo
          ? "\(input) has neither video nor audio." : "\(input) has no audio, and a .\(format.ending) file no video.")
    }
  }

  /// The command that encodes what cannot be copied.
  static func composing(_ options: RemuxOptions) -> String {
    "chatbot compose \(options.recording) -o \(options.output)"
  }

  static func title(_ track: FileDescription.Track) -> String {
    TrackCodec(name: track.codec)?.title ?? track.codec.printable(utf8Bytes: 40)
  }
}

extension ContainerFormat {
  /// Whether what a worker writes can state that frames are turned before they are shown: FFmpeg 5.1 writes no projections of Matroska.
  fileprivate var statesOrientation: Bool {
    switch self {
    case .mp4, .mov, .m4a: true
    case .mkv, .webm, .ogg, .wav: false
    }
  }
}
