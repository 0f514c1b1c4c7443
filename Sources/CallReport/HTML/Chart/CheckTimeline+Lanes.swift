import CallCheck

extension CheckTimeline {
  /// How long it is, in seconds.
  var length: Double { Double(max(fps.count, videoBitrate.count, audioBitrate.count, level.count)) * step }

  /// What is drawn of a peer's call, from top to bottom; what was never measured is skipped.
  ///
  /// - Parameter results: what was found of the peer, for the limits.
  func lanes(results: [RuleResult]) -> [TimelineLane] {
    func series(_ values: [Double?], _ name: String = "") -> LaneSeries {
      LaneSeries(name: name, step: step, values: values)
    }
    func highest(_ values: [Double?]...) -> Double { values.joined().compactMap { $0.map { abs($0) } }.max() ?? 0 }

    var level = TimelineLane(
      "Audio level", unit: .level, measurements: ["audio.level"], [series(self.level)], results: results)
    (level.low, level.high) = (-60, 0)
    let lanes = [
      TimelineLane(
        "Frames a second", unit: .fps, measurements: ["video.fps"], [series(fps)], results: results),
      TimelineLane(
        "Video bitrate", unit: .bitrate(upTo: highest(videoBitrate)), measurements: ["video.bitrate"],
        [series(videoBitrate)], results: results),
      TimelineLane(
        "Loss", unit: .percent, measurements: ["loss", "video.loss", "audio.loss"], [series(loss)], results: results,
        least: 0.05),
      TimelineLane(
        "Keyframes", .ticks, unit: .count, [series(keyframeRequests, "requested"), series(keyframes, "came")]),
      level,
      TimelineLane(
        "Audio bitrate", unit: .bitrate(upTo: highest(audioBitrate)), measurements: ["audio.bitrate"],
        [series(audioBitrate)], results: results),
      TimelineLane(
        "Audio against frames", .lines, unit: .seconds(upTo: highest(skew)), measurements: ["av.skew"],
        [series(skew)],
        results: results, least: 0.05, symmetric: true),
      TimelineLane(
        "Delay", .lines, unit: .seconds(upTo: highest(videoDelay, audioDelay)),
        measurements: ["latency", "video.latency", "audio.latency"],
        [series(videoDelay, "video"), series(audioDelay, "audio")], results: results, least: 0.1),
      TimelineLane(
        "Sent to this peer", .lines, unit: .bitrate(upTo: highest(sentBitrate, targetBitrate)),
        measurements: ["sent.bitrate"],
        [series(sentBitrate, "sent"), series(targetBitrate, "line takes")], results: results),
    ]
    // Zeros alone tell nothing of keyframes.
    return lanes.filter { lane in
      !lane.isEmpty && (lane.shape != .ticks || lane.series.contains { ($0.high ?? 0) > 0 })
    }
  }
}
