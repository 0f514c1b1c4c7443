import Foundation

/// What a page read of the test pattern in one of its calls. Times are in milliseconds since 1970.
struct PatternReport: Sendable {
  /// One frame that the page read.
  struct VideoFrame: Sendable {
    let number: Int
    /// By the sender's clock, which is also this machine's.
    let madeAt: Double
    let seenAt: Double
    /// The number of frames presented up to this one; a busy page does not read all of them.
    let count: Int
    let width: Int

    var delay: Double { seenAt - madeAt }
  }

  /// A mark in the audio.
  struct Mark: Sendable {
    /// The full second that the mark encodes.
    let madeAt: Double
    let heardAt: Double

    var delay: Double { heardAt - madeAt }
  }

  let videoFrames: [VideoFrame]
  let marks: [Mark]
  /// The number of unreadable frames by reason.
  let unreadable: [String: Int]
  /// The number of keyframes that the page requested.
  let requests: Int
  let problem: String?
  /// The number of frames that the browser had decoded at the time of the report.
  let framesDecoded: Int
  let keyframesDecoded: Int

  init(json: JSON) {
    videoFrames = json["pictures"].list.map { entry in
      VideoFrame(
        number: entry[0].int ?? -1, madeAt: entry[1].double ?? .nan, seenAt: entry[2].double ?? .nan,
        count: entry[3].int ?? 0, width: entry[4].int ?? 0)
    }
    marks = json["marks"].list.compactMap { entry in
      guard let second = entry["second"].double, let at = entry["at"].double else { return nil }
      // The mark encodes its second modulo 256.
      let rounds = ((at / 1000 - second) / 256).rounded()
      return Mark(madeAt: (rounds * 256 + second) * 1000, heardAt: at)
    }
    unreadable = json["unreadable"].members.compactMapValues(\.int)
    requests = json["requests"].int ?? 0
    problem = json["problem"].string
    framesDecoded = json["framesDecoded"].int ?? 0
    keyframesDecoded = json["keyFramesDecoded"].int ?? 0
  }

  private init(_ whole: PatternReport, videoFrames: [VideoFrame], marks: [Mark]) {
    self.videoFrames = videoFrames
    self.marks = marks
    unreadable = whole.unreadable
    requests = whole.requests
    problem = whole.problem
    framesDecoded = whole.framesDecoded
    keyframesDecoded = whole.keyframesDecoded
  }

  /// Returns the part of the report from that time on.
  func since(_ moment: Double) -> PatternReport {
    PatternReport(
      self, videoFrames: videoFrames.filter { $0.seenAt >= moment }, marks: marks.filter { $0.heardAt >= moment })
  }

  /// Returns the report without the first two seconds, in which a browser's frame rate settles.
  func settled() -> PatternReport { since((videoFrames.first?.seenAt ?? 0) + 2000) }

  /// Whether no frame was seen twice or after a later one.
  var isInOrder: Bool { zip(videoFrames, videoFrames.dropFirst()).allSatisfy { $0.number < $1.number } }

  /// The number of frames between the first and the last that were not presented; frames that the busy page did not
  /// read are not counted.
  var missing: Int {
    zip(videoFrames, videoFrames.dropFirst()).reduce(0) { sum, pair in
      sum + max(0, pair.1.number - pair.0.number - (pair.1.count - pair.0.count))
    }
  }

  /// The number of frames that the browser did not decode. Frames that were decoded but too late to be shown are not counted.
  ///
  /// Only valid for a report from the beginning.
  var undecoded: Int { max(0, expected - framesDecoded) }

  /// The number of frames from the first to the last.
  var expected: Int { videoFrames.isEmpty ? 0 : (videoFrames.last?.number ?? 0) - (videoFrames.first?.number ?? 0) + 1 }

  /// The longest time between two frames.
  var maximumPause: Double {
    zip(videoFrames, videoFrames.dropFirst()).map { $1.seenAt - $0.seenAt }.max() ?? .infinity
  }

  /// For each mark with frames around it, the delay of the audio minus that of the video.
  var skews: [Double] {
    marks.compactMap { mark in
      let around = videoFrames.filter { abs($0.madeAt - mark.madeAt) < 500 }.map(\.delay).sorted()
      return around.count < 5 ? nil : mark.delay - around[around.count / 2]
    }
  }

  /// Returns the delay that this share of the frames does not exceed.
  func delay(_ share: Double) -> Double {
    let sorted = videoFrames.map(\.delay).sorted()
    return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  var description: String {
    let skews = skews.map { String(format: "%+.0f", $0) }.joined(separator: " ")
    return String(
      format:
        "%d of %d numbers seen, %d missing, %d decoded, %d unreadable; median delay %.0f ms, 99th percentile %.0f, "
        + "longest pause %.0f ms; audio after video by %@ ms", videoFrames.count, expected, missing,
      framesDecoded, unreadable.values.reduce(0, +), delay(0.5), delay(0.99), maximumPause, skews)
  }
}
