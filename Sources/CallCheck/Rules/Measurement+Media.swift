extension Measurement {
  static let ofVideo: [Measurement] =
    [
      video("video.frames", .count, "Pictures", better: nil, meaning: "Frames that were decoded.", none: 0) {
        .value($0.frames)
      },
      video(
        "video.fps", .videoRate, "Frames a second", better: .higher, noise: 1,
        meaning:
          "Decoded frames, divided by the time from the first one to the peer's end, by the sender's own time stamps: "
          + "those since the last keyframe that a newcomer is sent all at once make it no higher."
      ) { .value($0.fps) },
      video(
        "video.fps.min", .videoRate, "Fewest frames a second", better: .higher, noise: 2,
        meaning: "The fewest frames in any window of 1 s."
      ) { $0.fpsMinimum.map { .value($0) } ?? .missing("frames came for less than a second") },
      video(
        "video.bitrate", .bitrate, "Bitrate of the frames", better: nil, noise: 50_000,
        meaning: "Bits of VP8 a second, packet headers not counted, over the same time as `video.fps`."
      ) { .value($0.bitrate) },
    ]
    + intervals(
      "video.freeze", noun: "freeze", nouns: "freezes",
      meaning:
        "A freeze is a stretch without a new frame that lasts more than three times the usual distance between frames, "
        + "and 150 ms more than it. It begins with the last frame before it.",
      clause: { FreezeReason(rawValue: $0)?.clause }, missing: noVideo, of: { $0.video?.freezes })
    + intervals(
      "video.frozen", noun: "stretch of the same frame", nouns: "stretches of the same frame",
      meaning:
        "Frames come, but for half a second or more they all show the same: their luma differs by 0.5 of 255 at most in "
        + "the mean. Black ones are not counted.",
      missing: noVideo, of: { $0.video?.frozen })
    + intervals(
      "video.black", noun: "black stretch", nouns: "black stretches",
      meaning: "A frame is black when 99 of 100 of its points have a luma of 32 or less.",
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
        "video.sizeChanges", .count, "Changes of size", better: nil, noise: 1,
        meaning: "How often the video sizes changed."
      ) { .value($0.sizeChanges) },
      video(
        "video.brightness", .count, "Mean luma", better: nil, noise: 10,
        meaning: "The mean luma of all frames: 16 is black, 235 white."
      ) { .value($0.brightness) },
      video(
        "video.keyframes", .count, "Keyframes", better: nil, noise: 2, meaning: "Keyframes that came."
      ) { .value($0.keyframes) },
      video(
        "video.decodeErrors", .count, "Frames that could not be decoded", better: .lower,
        meaning: "Frames that libvpx refused, those before the first keyframe not counted."
      ) { .value($0.decodeErrors) },
    ]

  static let ofAudio: [Measurement] =
    [
      audio(
        "audio.packets", .count, "Audio packets", better: nil, meaning: "Audio packets that were decoded.",
        none: 0
      ) {
        .value($0.packets)
      },
      audio(
        "audio.bitrate", .bitrate, "Bitrate of the audio", better: nil, noise: 5_000,
        meaning: "Bits of Opus a second, packet headers not counted."
      ) { .value($0.bitrate) },
      audio(
        "audio.level", .level, "Audio level", better: nil, noise: 3,
        meaning: "The root mean square of all that was heard, in dB below full scale; -96 dB at least."
      ) { .value($0.level) },
      audio(
        "audio.peak", .level, "Loudest sample", better: nil, noise: 3,
        meaning: "The loudest sample, in dB below full scale."
      ) { .value($0.peak) },
    ]
    + intervals(
      "audio.silence", noun: "silence", nouns: "silences",
      meaning: "Audio is silent where it is below -60 dB, and where nothing comes. It counts from 100 ms on.",
      missing: noAudio, of: { $0.audio?.silence })
    + intervals(
      "audio.clipped", noun: "clipped stretch", nouns: "clipped stretches",
      meaning: "Audio is clipped in a block of 20 ms when one sample in a hundred is at full scale (0.99 or more).",
      missing: noAudio, of: { $0.audio?.clipped })
    + intervals(
      "audio.gap", noun: "hole in the audio", nouns: "holes in the audio",
      meaning:
        "Audio is missing that had been sent: its packets were lost, or came more than 200 ms after they were due. What the "
        + "decoder makes up in its place does not fill it.",
      clause: { AudioGapReason(rawValue: $0)?.clause }, missing: noAudio, of: { $0.audio?.gaps })
    + [
      audio(
        "audio.concealed", .time, "Audio made up by the decoder", better: .lower, noise: 0.1,
        meaning: "Audio that libopus made up, or rebuilt from copies, in place of lost packets."
      ) { .value($0.concealed) },
      audio(
        "audio.decodeErrors", .count, "Audio packets that could not be decoded", better: .lower,
        meaning: "Packets that libopus refused."
      ) { .value($0.decodeErrors) },
    ]

  private static func video(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better?, noise: Double = 0, meaning: String,
    none: Double? = nil, _ value: @escaping @Sendable (VideoReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.video.map(value) ?? none.map { .value($0) } ?? noVideo(peer)
    }
  }

  private static func audio(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better?, noise: Double = 0, meaning: String,
    none: Double? = nil, _ value: @escaping @Sendable (AudioReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.audio.map(value) ?? none.map { .value($0) } ?? noAudio(peer)
    }
  }
}
