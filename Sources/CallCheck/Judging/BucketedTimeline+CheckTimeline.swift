extension BucketedTimeline {
  /// Returns the rows of a report.
  ///
  /// - Parameters:
  ///   - end: the check's end.
  ///   - video: the intervals in which there was video, in order.
  ///   - audio: the same for audio.
  ///   - fastest: the sender's highest frame rate. A higher rate is a burst of arrivals and is not shown.
  ///   - countsKeyframeRequests: whether keyframe requests were counted at their times.
  func timeline(
    end: Double, video: [ClosedRange<Double>], audio: [ClosedRange<Double>], fastest: Double?,
    countsKeyframeRequests: Bool
  ) -> CheckTimeline {
    let count = min(Self.maximumSteps, Int((end / step).rounded(.up)))
    func row(_ value: (Bucket, Double) -> Double?) -> [Double?] {
      (0..<max(0, count)).map { index in
        let start = Double(index) * step
        return value(buckets.indices.contains(index) ? buckets[index] : Bucket(), start).map(roundedForReport)
      }
    }
    /// Returns counts per second for steps in which the track was present for at least half of the time.
    func rate(_ intervals: [ClosedRange<Double>], _ count: @escaping (Bucket) -> Double) -> [Double?] {
      row { bucket, start in
        let there = intervals.reduce(0.0) { sum, interval in
          sum + max(0, min(interval.upperBound, start + step) - max(interval.lowerBound, start))
        }
        return there >= step / 2 ? count(bucket) / there : nil
      }
    }
    func isPresent(_ start: Double, _ intervals: [ClosedRange<Double>]) -> Bool {
      intervals.contains { start + step > $0.lowerBound && start < $0.upperBound }
    }
    return CheckTimeline(
      step: roundedForReport(step),
      videoBitrate: rate(video) { Double($0.videoBytes * 8) },
      audioBitrate: rate(audio) { Double($0.audioBytes * 8) },
      loss: row { bucket, _ in bucket.packets > 0 ? min(1, bucket.missing / bucket.packets) : nil },
      fps: rate(video) { Double($0.frames) }.map { fps in fps.map { min($0, fastest ?? $0) } },
      freeze: row { bucket, start in isPresent(start, video) ? min(1, bucket.frozen / step) : nil },
      level: row { bucket, _ in bucket.energy.value.map { decibels(amplitude: $0.squareRoot()) } },
      skew: row { bucket, _ in bucket.skew.value },
      videoDelay: row { bucket, _ in bucket.videoDelay.value },
      audioDelay: row { bucket, _ in bucket.audioDelay.value },
      sentBitrate: row { bucket, _ in bucket.sentBitrate.value },
      targetBitrate: row { bucket, _ in bucket.targetBitrate.value },
      keyframeRequests: row { bucket, start in
        countsKeyframeRequests && isPresent(start, video) ? Double(bucket.keyframeRequests) : nil
      },
      keyframes: row { bucket, start in isPresent(start, video) ? Double(bucket.keyframes) : nil })
  }

  /// Returns the lowest frame rate in any second in which a track was there, at most the sender's highest rate; nil if it
  /// was never there for a second.
  func fewestFrames(in intervals: [ClosedRange<Double>], most: Double?) -> Double? {
    let window = max(1, Int((1 / step).rounded()))
    var fewest: Int?
    for interval in intervals {
      let first = Int((interval.lowerBound / step).rounded(.up))
      let last = Int(interval.upperBound / step) - window
      guard first <= last else { continue }
      for start in first...last {
        let frames = (start..<start + window).reduce(0) { sum, index in
          sum + (buckets.indices.contains(index) ? buckets[index].frames : 0)
        }
        fewest = min(fewest ?? frames, frames)
      }
    }
    guard let fewest else { return nil }
    let rate = Double(fewest) / (Double(window) * step)
    return roundedForReport(min(rate, most ?? rate))
  }
}
