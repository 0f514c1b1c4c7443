extension Measurement {
  static let ofLatency: [Measurement] =
    spread(
      "latency", title: "End-to-end delay", noise: 0.02,
      meaning:
        "Time from the timestamp in the pattern to its arrival, by the wall clocks of both sides; the worse of video and audio."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      let both = [pattern.videoDelay, pattern.audioDelay].compactMap { $0 }
      return both.max { $0.p95 < $1.p95 }.map { .success($0) } ?? .failure(noWallClock)
    }
    + spread(
      "video.latency", title: "Video delay", noise: 0.02,
      meaning: "Time from the timestamp painted on the pattern's frame to the arrival of the frame's last packet."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      return pattern.videoDelay.map { .success($0) } ?? .failure(noWallClock)
    }
    + spread(
      "audio.latency", title: "Audio delay", noise: 0.02,
      meaning:
        "Time from the second that an audio mark of the pattern encodes until the mark can be heard, once a second."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      if pattern.marksFound == 0 { return .failure(Absence("no audio mark of the pattern was found")) }
      return pattern.audioDelay.map { .success($0) } ?? .failure(noWallClock)
    }
    + skew

  private static let noPatternFound = Absence("the test pattern was not found in the peer's media")
  private static let noWallClock = Absence("our wall clock is not known, as in a recording")

  private static let skew: [Measurement] = [
    skew("p50", "Median.") { $0.p50 },
    skew("p95", "95th percentile.", aliases: ["av.skew"]) { $0.p95 },
    skew("worst", "Worst value.") { $0.worst },
  ]

  private static func skew(
    _ part: String, _ which: String, aliases: [String] = [],
    _ value: @escaping @Sendable (Spread) -> Double
  ) -> Measurement {
    peer(
      "av.skew.\(part)", .time, "Audio/video skew (\(part))", better: .lower, noise: 0.02, aliases: aliases,
      meaning:
        "Absolute time difference between audio and video on arrival, once a second: exact with the pattern, otherwise "
        + "an estimate from the sender reports. \(which)"
    ) { peer in
      guard let skew = peer.skew else {
        return .missing("there were neither the pattern nor sender reports that apply to both tracks")
      }
      return .value(abs(value(skew.total)), detail: skew.explanation(of: value(skew.total)))
    }
  }

  static let ofPattern: [Measurement] =
    [
      pattern(
        "pattern.missing", .count, "Missing frame numbers", better: .lower, noise: 2,
        meaning:
          "Frame numbers of the pattern that were never seen, between the first and the last number read: lost by the network "
          + "or dropped for us alone, since frames that are sent to nobody have no number."
      ) { .value(Double($0.missing), detail: " of \($0.numbersPainted)") },
      pattern(
        "pattern.doubled", .count, "Duplicate frames", better: .lower, noise: 1,
        meaning: "Frames with a number that was seen before."
      ) { .value($0.doubled) },
      pattern(
        "pattern.reordered", .count, "Frames out of order", better: .lower, noise: 1,
        meaning: "Frames that arrived after a frame with a higher number and were not seen before."
      ) { .value($0.reordered) },
      pattern(
        "pattern.unreadable", .count, "Unreadable frames", better: .lower, noise: 2,
        meaning: "Frames on which the pattern could not be read, although other frames show it."
      ) { .value($0.framesUnreadable) },
      pattern(
        "pattern.marksMissing", .count, "Missing audio marks", better: .lower, noise: 1,
        meaning:
          "Audio marks of the pattern, one a second, that are missing between the first and the last mark."
      ) { .value(Double($0.marksExpected) - Double($0.marksFound), detail: " of \($0.marksExpected)") },
      quality(
        "pattern.psnr", .decibels, "Similarity (PSNR)", noise: 1, "Mean peak signal-to-noise ratio of the luma."
      ) {
        $0.psnr
      },
      quality("pattern.psnr.worst", .decibels, "Worst similarity (PSNR)", noise: 2, "The PSNR of the worst frame.") {
        $0.psnrWorst
      },
      quality("pattern.ssim", .score, "Similarity (SSIM)", noise: 0.02, "Mean structural similarity of the luma.") {
        $0.ssim
      },
      quality("pattern.ssim.worst", .score, "Worst similarity (SSIM)", noise: 0.05, "The SSIM of the worst frame.") {
        $0.ssimWorst
      },
      returned(
        "returned.ratio", .ratio, "Share of returned frames", better: .higher, noise: 0.01,
        meaning: "Share of our pattern frames that the peer returned, counted from the first returned frame."
      ) { .value($0.ratio, detail: " (\($0.returned) of \($0.sent))") },
      returned(
        "returned.missing", .count, "Frames not returned", better: .lower, noise: 2,
        meaning: "Frames that we sent and the peer did not return, although they had enough time."
      ) { .value(Double($0.missing), detail: " of \($0.sent)") },
      returned(
        "returned.doubled", .count, "Frames returned twice", better: .lower, noise: 1,
        meaning: "Frames that the peer returned more than once."
      ) { .value($0.doubled) },
      returned(
        "returned.reordered", .count, "Frames returned out of order", better: .lower, noise: 1,
        meaning: "Frames that returned after a frame that we sent later."
      ) { .value($0.reordered) },
    ]
    + spread(
      "returned.roundTrip", title: "Return time", noise: 0.02, meaning: "Time from sending a frame to its return."
    ) { peer in
      peer.returned?.roundTrip.map { .success($0) } ?? .failure(Absence(nothingReturned))
    }

  private static let nothingReturned = "the peer returned no frame of our pattern"

  private static func pattern(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection, noise: Double,
    meaning: String,
    _ value: @escaping @Sendable (PatternReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.pattern.map(value) ?? noPattern
    }
  }

  private static func quality(
    _ name: String, _ unit: MeasurementUnit, _ title: String, noise: Double, _ meaning: String,
    _ value: @escaping @Sendable (PatternReport.FrameQuality) -> Double
  ) -> Measurement {
    peer(
      name, unit, title, better: .higher, noise: noise,
      meaning: "Similarity of decoded frames to the painted ones, measured twice a second. \(meaning)"
    ) { peer in
      guard let pattern = peer.pattern else { return noPattern }
      guard let quality = pattern.quality else { return .missing("no frame had the aspect ratio of the painted one") }
      return .value(value(quality), detail: " in \(quality.videoFrames) frames")
    }
  }

  private static func returned(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection, noise: Double,
    meaning: String,
    _ value: @escaping @Sendable (ReturnReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      guard let returned = peer.returned, returned.sent > 0 else { return .missing(nothingReturned) }
      return value(returned)
    }
  }
}

extension SkewReport {
  /// Returns which of the two is late and where the skew arose, for a sentence.
  func explanation(of value: Double) -> String {
    if value == 0 { return "" }
    let late = value > 0 ? " (the audio is late" : " (the video is late"
    let parts = [("sender", sender), ("network", network), ("receiver", receiver)].compactMap { name, part in
      part.map { (name, $0) }
    }
    guard parts.count > 1 else { return "\(late))" }
    let shares = parts.map { name, part in "\(name) \(part > 0 ? "+" : "")\(MeasurementUnit.time.text(part))" }
    return "\(late); \(shares.joined(separator: ", ")))"
  }
}
