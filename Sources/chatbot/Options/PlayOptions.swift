import ArgumentParser
import LiveSource
import Media
import OptionValues

/// The options for the input to play.
struct PlayOptions: ParsableArguments {
  /// Whether the input starts again when it has ended.
  enum Repetition: String, EnumerableFlag {
    case loop, once

    static func help(for value: Repetition) -> ArgumentHelp? {
      switch value {
      case .loop: "Play the file in a loop."
      case .once: "Play the file once, then leave; a check continues to its end."
      }
    }
  }

  @Option(
    help: ArgumentHelp(
      "Play as a camera: a file (MP4, MOV, WebM, Matroska, IVF, Y4M, MP3, WAV, PNG and others), the test “pattern”, or “-” for "
        + "standard input (Y4M, or raw I420 frames of --size).",
      valueName: "file|pattern|-"),
    completion: .file())
  var play: String?

  @Option(
    help: ArgumentHelp("Play the audio of this file instead of the input's own.", valueName: "file"),
    completion: .file())
  var playAudio: String?

  @Option(help: ArgumentHelp("Scale the frames to this size.", valueName: "WxH"), transform: FrameSize.parse)
  var size: FrameSize?

  @Option(
    help: ArgumentHelp("The frame rate: 15, 29.97, 30000/1001.", valueName: "number"),
    transform: FrameRate.parse)
  var fps: FrameRate?

  @Flag(help: "Encode also a file that could be sent as it is: it answers keyframe requests and adapts its bitrate.")
  var live = false

  @Option(
    help: ArgumentHelp(
      "Encode video with this codec (default: \(Codec.preferred(for: .video))), also a file whose video is of another one. Without "
        + "it a file is sent in its own codec, unless few receivers decode that. \(Codec.onlyStored) are sent from files only.",
      valueName: Codec.all(of: .video).map(\.rawValue).joined(separator: "|")),
    transform: Codec.parseVideoCodec)
  var sendCodec: Codec?

  @Option(
    help: ArgumentHelp(
      "The maximum bitrate that a live encoder sends to each viewer. (default: 2.5M)", valueName: "bitrate"),
    transform: Bitrate.parse)
  var maxBitrate = Bitrate(bitsPerSecond: 2_500_000)

  @Flag(exclusivity: .exclusive)
  var repetition: Repetition = .loop

  var loops: Bool { repetition == .loop }

  /// The camera's options, or nil if nothing is played.
  var camera: LiveCamera.Options? { camera(allowing: nil) }

  /// - Parameter codecs: The codecs that the call may carry; nil for all.
  func camera(allowing codecs: [Codec]?) -> LiveCamera.Options? {
    guard let play else { return nil }
    let input: LiveCamera.Options.Input =
      switch play {
      case "pattern": .pattern
      case "-": .standardInput
      default: .file(play)
      }
    var options = LiveCamera.Options(
      input: input, audio: playAudio, size: size?.pixels, fps: fps?.framesPerSecond, loops: loops, live: live,
      maximumBitrate: maxBitrate.bitsPerSecond, owner: ParticipantID("camera"))
    options.chooseVideoCodecs(sendCodec, allowed: codecs)
    return options
  }

  func validate() throws {
    if play?.isEmpty == true { throw ValidationError("--play needs the name of a file.") }
    if playAudio?.isEmpty == true { throw ValidationError("--play-audio needs the name of a file.") }
    guard play == nil else { return }
    if repetition == .once { throw ValidationError("--once needs --play.") }
    if playAudio != nil { throw ValidationError("--play-audio needs --play.") }
    if size != nil { throw ValidationError("--size needs --play.") }
    if fps != nil { throw ValidationError("--fps needs --play.") }
    if live { throw ValidationError("--live needs --play.") }
    if sendCodec != nil { throw ValidationError("--send-codec needs --play.") }
  }
}

// For `transform:`, whose errors ArgumentParser prints as they are.

extension Codec {
  /// The names of the codecs of video that are not encoded, for the help.
  static var onlyStored: String {
    Codec.all(of: .video).filter { !encodedLive.contains($0) }.map(\.properties.name).joined(separator: " and ")
  }

  /// Parses the name of a video codec as in a manifest, in any case.
  @Sendable static func parseVideoCodec(_ text: String) throws -> Codec {
    guard let codec = Codec.all(of: .video).first(where: { $0.rawValue == text.lowercased() }) else {
      let known = Codec.all(of: .video).map(\.rawValue).joined(separator: " or ")
      throw ValidationError("The codec of video must be \(known).")
    }
    return codec
  }
}
