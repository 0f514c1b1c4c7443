internal import Media

extension OutputFormat {
  /// Chooses the container by the ending of a path, and the codecs that were named or that it has by default.
  ///
  /// - Throws: what does not fit, as a sentence with exit code 64.
  package init(path: String, video: String?, audio: String?) throws(CompositionError) {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let ending = parts.count > 1 ? String(parts.last ?? "").lowercased() : ""
    guard !name.isEmpty, let container = CompositionContainer(rawValue: ending) else {
      let endings = CompositionContainer.allCases.map { ".\($0.rawValue)" }.joined(separator: ", ")
      throw .usage("\"\(path.printable())\" must end with one of \(endings), which says what is written.")
    }
    let videoCodec = try Self.codec(video, of: container.videoCodecs, "--video-codec", container) ?? OutputVideoCodec.h264
    let audioCodec = try Self.codec(audio, of: container.audioCodecs, "--audio-codec", container) ?? OutputAudioCodec.aac
    self.init(container: container, video: videoCodec, audio: audioCodec, isVideoWanted: video != nil)
  }

  /// Nil where the container has no codec of this kind.
  private static func codec<Codec: RawRepresentable<String>>(
    _ name: String?, of codecs: [Codec], _ option: String, _ container: CompositionContainer
  ) throws(CompositionError) -> Codec? {
    guard let name else { return codecs.first }
    if let codec = codecs.first(where: { $0.rawValue == name }) { return codec }
    let words = codecs.map(\.rawValue).joined(separator: ", ")
    if codecs.isEmpty { throw .usage("\(option): A .\(container.rawValue) file has no video.") }
    throw .usage("\(option) of a .\(container.rawValue) file is \(words).")
  }
}

extension CompositionContainer {
  /// The video codecs that it can hold, its default first.
  package var videoCodecs: [OutputVideoCodec] {
    switch self {
    case .mp4: [.h264, .vp9, .av1]
    case .webm: [.vp9, .vp8, .av1]
    case .mkv: [.h264, .vp9, .vp8, .av1]
    case .m4a, .ogg: []
    }
  }

  /// The audio codecs that it can hold, its default first.
  package var audioCodecs: [OutputAudioCodec] {
    switch self {
    case .mp4: [.aac, .opus]
    case .webm, .ogg: [.opus]
    case .mkv: [.opus, .aac]
    case .m4a: [.aac]
    }
  }
}
