import Media

extension Measurement {
  static let ofVideo: [Measurement] =
    [
      codec("video.codec", of: .video, "Video codec"),
      video("video.frames", .count, "Decoded frames", better: nil, meaning: "Frames that were decoded.", none: 0) {
        .value($0.frames)
      },
      video(
        "video.fps", .frameRate, "Frame rate", better: .higher, noise: 1,
        meaning:
          "Decoded frames, divided by the time from the first frame to the peer's end. The time follows the sender's timestamps: "
          + "a burst of older frames, sent to a peer that has just joined, does not raise the rate."
      ) { .value($0.fps) },
      video(
        "video.fps.min", .frameRate, "Lowest frame rate", better: .higher, noise: 2,
        meaning: "The fewest frames in any window of 1 s."
      ) { $0.fpsMinimum.map { .value($0) } ?? .missing("video arrived for less than a second") },
      video(
        "video.bitrate", .bitrate, "Video bitrate", better: nil, noise: 50_000,
        meaning: "Bits of video per second without packet headers, over the same time as `video.fps`."
      ) { .value($0.bitrate) },
    ]
    + intervals(
      "video.freeze", noun: "freeze", nouns: "freezes",
      meaning:
        "A freeze is an interval without a new frame that is more than three times as long as the usual frame interval "
        + "and more than 150 ms longer. It begins with the last frame before it.",
      clause: { FreezeReason(rawValue: $0)?.clause }, missing: noVideo, of: { $0.video?.freezes })
    + intervals(
      "video.frozen", noun: "static interval", nouns: "static intervals",
      meaning:
        "Frames arrive, but for half a second or more they all look the same: their luma differs by at most 0.5 of 255 on "
        + "average. Black frames are not counted.",
      missing: noVideo, of: { $0.video?.frozen })
    + intervals(
      "video.black", noun: "black interval", nouns: "black intervals",
      meaning: "A frame is black if 99 % of its pixels have a luma of 32 or less.",
      missing: noVideo, of: { $0.video?.black })
    + [
      video(
        "video.width", .pixels, "Width of the last frame", better: .higher, meaning: "The width of the last frame."
      ) { .value($0.sizes.last?.width ?? 0) },
      video(
        "video.height", .pixels, "Height of the last frame", better: .higher,
        meaning: "The height of the last frame."
      ) { .value($0.sizes.last?.height ?? 0) },
      video(
        "video.sizeChanges", .count, "Size changes", better: nil, noise: 1,
        meaning: "How often the video size changed."
      ) { .value($0.sizeChanges) },
      video(
        "video.brightness", .count, "Mean luma", better: nil, noise: 10,
        meaning: "The mean luma of all frames: 16 is black, 235 white."
      ) { .value($0.brightness) },
      video(
        "video.keyframes", .count, "Keyframes", better: nil, noise: 2, meaning: "Keyframes received."
      ) { .value($0.keyframes) },
      video(
        "video.decodeErrors", .count, "Undecodable frames", better: .lower,
        meaning: "Frames that could not be decoded, not counting those before the first keyframe."
      ) { .value($0.decodeErrors) },
    ]

  static let ofAudio: [Measurement] =
    [
      codec("audio.codec", of: .audio, "Audio codec"),
      audio(
        "audio.packets", .count, "Audio packets", better: nil, meaning: "Audio packets that were decoded.",
        none: 0
      ) {
        .value($0.packets)
      },
      audio(
        "audio.bitrate", .bitrate, "Audio bitrate", better: nil, noise: 5_000,
        meaning: "Bits of audio per second without packet headers."
      ) { .value($0.bitrate) },
      audio(
        "audio.level", .level, "Audio level", better: nil, noise: 3,
        meaning: "The root mean square of all decoded audio, in dB relative to full scale; at least -96 dB."
      ) { .value($0.level) },
      audio(
        "audio.peak", .level, "Loudest sample", better: nil, noise: 3,
        meaning: "The loudest sample, in dB relative to full scale."
      ) { .value($0.peak) },
    ]
    + intervals(
      "audio.silence", noun: "silence", nouns: "silences",
      meaning: "Audio is silent below -60 dB and while none arrives. Silences shorter than 100 ms are not counted.",
      missing: noAudio, of: { $0.audio?.silence })
    + intervals(
      "audio.clipped", noun: "clipped interval", nouns: "clipped intervals",
      meaning: "A block of 20 ms counts as clipped if at least 1 % of its samples are at full scale (0.99 or more).",
      missing: noAudio, of: { $0.audio?.clipped })
    + intervals(
      "audio.gap", noun: "audio gap", nouns: "audio gaps",
      meaning:
        "In an audio gap, audio that was sent is missing: its packets were lost or arrived more than 200 ms late. "
        + "Audio that the decoder conceals still counts as missing.",
      clause: { AudioGapReason(rawValue: $0)?.clause }, missing: noAudio, of: { $0.audio?.gaps })
    + [
      audio(
        "audio.concealed", .time, "Concealed audio", better: .lower, noise: 0.1,
        meaning: "Audio that the decoder concealed, or rebuilt from in-band FEC, in place of lost packets."
      ) { .value($0.concealed) },
      audio(
        "audio.decodeErrors", .count, "Undecodable audio packets", better: .lower,
        meaning: "Packets that could not be decoded."
      ) { .value($0.decodeErrors) },
    ]

  private static func codec(_ name: String, of kind: MediaKind, _ title: String) -> Measurement {
    peer(
      name, .text, title, texts: Codec.all(of: kind).map(\.rawValue),
      meaning:
        "The codec in which the \(kind.rawValue) arrived, whether or not it was decoded: the last one, if it changed."
    ) { peer in
      guard let codecs = peer.codecs?[kind], let last = codecs.last else {
        return kind == .video ? noVideo(peer) : noAudio(peer)
      }
      let before = codecs.dropLast().last.map { ", after \($0.codec)" } ?? ""
      return .text(last.codec, detail: (last.profile.map { " (\(ReportText.line($0, limit: 20)))" } ?? "") + before)
    }
  }

  private static func video(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection?, noise: Double = 0,
    meaning: String,
    none: Double? = nil, _ value: @escaping @Sendable (VideoReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.video.map(value) ?? none.map { .value($0) } ?? noVideo(peer)
    }
  }

  private static func audio(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection?, noise: Double = 0,
    meaning: String,
    none: Double? = nil, _ value: @escaping @Sendable (AudioReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.audio.map(value) ?? none.map { .value($0) } ?? noAudio(peer)
    }
  }
}
