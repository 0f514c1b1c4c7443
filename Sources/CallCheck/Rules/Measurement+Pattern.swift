extension Measurement {
  static let ofLatency: [Measurement] =
    spread(
      "latency", title: "End-to-end delay", noise: 0.02,
      meaning:
        "From the pattern's time to its arrival, by the wall clocks of both sides: of frames or of audio, whichever is worse."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      let both = [pattern.videoDelay, pattern.audioDelay].compactMap { $0 }
      return both.max { $0.p95 < $1.p95 }.map { .success($0) } ?? .failure(noWallClock)
    }
    + spread(
      "video.latency", title: "Delay of the frames", noise: 0.02,
      meaning: "From the time that is painted on the pattern's frame to the arrival of the frame's last packet."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      return pattern.videoDelay.map { .success($0) } ?? .failure(noWallClock)
    }
    + spread(
      "audio.latency", title: "Delay of the audio", noise: 0.02,
      meaning:
        "From the second that a mark of the pattern's audio stands for to when the mark could be heard, once a second."
    ) { peer in
      guard let pattern = peer.pattern else { return .failure(noPatternFound) }
      if pattern.marksFound == 0 { return .failure(Absence("no mark of the pattern's audio was found")) }
      return pattern.audioDelay.map { .success($0) } ?? .failure(noWallClock)
    }
    + skew

  private static let noPatternFound = Absence("the test pattern was not found in what the peer sent")
  private static let noWallClock = Absence("our own wall clock is not known, as in a recording")

  private static let skew: [Measurement] = [
    skew("p50", "The middle one of all.") { $0.p50 },
    skew("p95", "95 of 100 are at most this.", aliases: ["av.skew"]) { $0.p95 },
    skew("worst", "The worst one.") { $0.worst },
  ]

  private static func skew(
    _ part: String, _ which: String, aliases: [String] = [],
    _ value: @escaping @Sendable (Spread) -> Double
  ) -> Measurement {
    peer(
      "av.skew.\(part)", .time, "Audio and video apart (\(part))", better: .lower, noise: 0.02, aliases: aliases,
      meaning:
        "How far audio and video are apart as they arrive, once a second, whichever is late: exact with the pattern, else "
        + "an estimate by the sender's clock reports (see below). \(which)"
    ) { peer in
      guard let skew = peer.skew else {
        return .missing("neither the pattern nor the sender's clock reports for both tracks tell it")
      }
      return .value(abs(value(skew.total)), detail: skew.explanation(of: value(skew.total)))
    }
  }

  static let ofPattern: [Measurement] =
    [
      pattern(
        "pattern.missing", .count, "Numbers never seen", better: .lower, noise: 2,
        meaning:
          "Numbers of the pattern's frames between the first and the last read one that were never seen: lost on their way, "
          + "or skipped for us alone, since what is not sent has no number."
      ) { .value(Double($0.missing), detail: " of \($0.numbersPainted)") },
      pattern(
        "pattern.doubled", .count, "Frames doubled", better: .lower, noise: 1,
        meaning: "Frames that came with a number that had been there."
      ) { .value($0.doubled) },
      pattern(
        "pattern.reordered", .count, "Frames out of order", better: .lower, noise: 1,
        meaning: "Frames that came after one with a higher number, and had not been there."
      ) { .value($0.reordered) },
      pattern(
        "pattern.unreadable", .count, "Frames that could not be read", better: .lower, noise: 2,
        meaning: "Frames on which the pattern could not be read although it was on others."
      ) { .value($0.picturesUnreadable) },
      pattern(
        "pattern.marksMissing", .count, "Marks of the audio missing", better: .lower, noise: 1,
        meaning:
          "Marks of the pattern's audio, one a second, that should have been there between the first and the last."
      ) { .value(Double($0.marksExpected) - Double($0.marksFound), detail: " of \($0.marksExpected)") },
      quality(
        "pattern.psnr", .decibels, "Likeness (PSNR)", noise: 1, "Peak signal-to-noise ratio of the luma, the mean."
      ) {
        $0.psnr
      },
      quality("pattern.psnr.worst", .decibels, "Worst likeness (PSNR)", noise: 2, "The same, the worst frame.") {
        $0.psnrWorst
      },
      quality("pattern.ssim", .score, "Likeness (SSIM)", noise: 0.02, "Structural similarity of the luma, the mean.") {
        $0.ssim
      },
      quality("pattern.ssim.worst", .score, "Worst likeness (SSIM)", noise: 0.05, "The same, the worst frame.") {
        $0.ssimWorst
      },
      returned(
        "returned.ratio", .share, "Share that came back", better: .higher, noise: 0.01,
        meaning: "Frames of the pattern that we sent and that came back, from the first that did on."
      ) { .value($0.ratio, detail: " (\($0.returned) of \($0.sent))") },
      returned(
        "returned.missing", .count, "Frames that did not come back", better: .lower, noise: 2,
        meaning: "Frames that we sent and that had the time to come back, but did not."
      ) { .value(Double($0.missing), detail: " of \($0.sent)") },
      returned(
        "returned.doubled", .count, "Frames that came back twice", better: .lower, noise: 1,
        meaning: "Frames that came back once more."
      ) { .value($0.doubled) },
      returned(
        "returned.reordered", .count, "Frames that came back out of order", better: .lower, noise: 1,
        meaning: "Frames that came back after one that was sent later."
      ) { .value($0.reordered) },
    ]
    + spread(
      "returned.roundTrip", title: "There and back", noise: 0.02, meaning: "From sending a frame to its return."
    ) { peer in
      peer.returned?.roundTrip.map { .success($0) } ?? .failure(Absence(nothingReturned))
    }

  private static let nothingReturned = "nothing of the pattern that we sent came back"

  private static func pattern(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better, noise: Double, meaning: String,
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
      meaning: "How like decoded frames are to those that were painted, twice a second. \(meaning)"
    ) { peer in
      guard let pattern = peer.pattern else { return noPattern }
      guard let quality = pattern.quality else { return .missing("no frame had the shape of the painted one") }
      return .value(value(quality), detail: " in \(quality.videoFrames) frames")
    }
  }

  private static func returned(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better, noise: Double, meaning: String,
    _ value: @escaping @Sendable (ReturnReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      guard let returned = peer.returned, returned.sent > 0 else { return .missing(nothingReturned) }
      return value(returned)
    }
  }
}

extension SkewReport {
  /// Which of both is late, and where that was born, for a sentence.
  func explanation(of value: Double) -> String {
    if value == 0 { return "" }
    let late = value > 0 ? " (the audio is late" : " (the frames are late"
    let parts = [("the sender", sender), ("the way", network), ("the wait here", receiver)].compactMap { name, part in
      part.map { (name, $0) }
    }
    guard parts.count > 1 else { return "\(late))" }
    let shares = parts.map { name, part in "\(name) \(part > 0 ? "+" : "")\(MeasurementUnit.time.text(part))" }
    return "\(late); \(shares.joined(separator: ", ")))"
  }
}
