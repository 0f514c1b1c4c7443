import Foundation

/// What a page read of the test pattern in one of its calls. Times are milliseconds since 1970.
struct PatternReport: Sendable {
  /// One frame that was seen.
  struct VideoFrame: Sendable {
    let number: Int
    /// By the sender's clock, which is this machine's too.
    let madeAt: Double
    let seenAt: Double
    /// How many frames had come to be seen with this one; a page that is too busy does not get to read each.
    let count: Int
    let width: Int

    var delay: Double { seenAt - madeAt }
  }

  /// A mark in the audio.
  struct Mark: Sendable {
    /// The full second it stands for.
    let madeAt: Double
    let heardAt: Double

    var delay: Double { heardAt - madeAt }
  }

  let videoFrames: [VideoFrame]
  let marks: [Mark]
  /// Why frames could not be read, and how often.
  let unreadable: [String: Int]
  /// Keyframes that the page has requested.
  let requests: Int
  let problem: String?
  /// What the browser says that it decoded, by the moment of the report.
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
      // The mark knows its second only modulo 256.
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

  /// What was seen and heard from that moment on.
  func since(_ moment: Double) -> PatternReport {
    PatternReport(
      self, videoFrames: videoFrames.filter { $0.seenAt >= moment }, marks: marks.filter { $0.heardAt >= moment })
  }

  /// Without the first two seconds, in which a browser finds its pace.
  func settled() -> PatternReport { since((videoFrames.first?.seenAt ?? 0) + 2000) }

  /// Whether no frame was seen twice or after a later one.
  var isInOrder: Bool { zip(videoFrames, videoFrames.dropFirst()).allSatisfy { $0.number < $1.number } }

  /// Numbers between the first and the last that the page did not see, though it was not too busy to look.
  var missing: Int {
    zip(videoFrames, videoFrames.dropFirst()).reduce(0) { sum, pair in
      sum + max(0, pair.1.number - pair.0.number - (pair.1.count - pair.0.count))
    }
  }

  /// Numbers that the browser did not even decode; what it decoded and then did not show, it was too late for.
  ///
  /// Only of a report from the beginning on.
  var undecoded: Int { max(0, expected - framesDecoded) }

  /// Numbers between the first and the last.
  var expected: Int { videoFrames.isEmpty ? 0 : (videoFrames.last?.number ?? 0) - (videoFrames.first?.number ?? 0) + 1 }

  /// The longest time between two frames.
  var maximumPause: Double {
    zip(videoFrames, videoFrames.dropFirst()).map { $1.seenAt - $0.seenAt }.max() ?? .infinity
  }

  /// How much later the audio was heard than the frame was seen, for each mark that has frames around it.
  var skews: [Double] {
    marks.compactMap { mark in
      let around = videoFrames.filter { abs($0.madeAt - mark.madeAt) < 500 }.map(\.delay).sorted()
      return around.count < 5 ? nil : mark.delay - around[around.count / 2]
    }
  }

  /// The delay that such a share of frames does not exceed.
  func delay(_ share: Double) -> Double {
    let sorted = videoFrames.map(\.delay).sorted()
    return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  var description: String {
    let skews = skews.map { String(format: "%+.0f", $0) }.joined(separator: " ")
    return String(
      format:
        "%d of %d numbers seen, %d missing, %d decoded, %d unreadable; delay %.0f ms in the middle, %.0f at the 99th, "
        + "longest pause %.0f ms; audio after frame by %@ ms", videoFrames.count, expected, missing,
      framesDecoded, unreadable.values.reduce(0, +), delay(0.5), delay(0.99), maximumPause, skews)
  }
}
