import CallCheck
import Media
import Recorder

/// Estimates the counters of a recording's connection at a given time.
///
/// A manifest has the totals of the whole call and the times of the gaps. So lost and recovered packets and keyframe
/// requests are counted at the gaps, and received packets are spread evenly over the track. The last sample has the exact
/// totals.
struct RecordedCounts {
  private struct TrackCounts {
    let kind: MediaKind
    let entry: RecordingManifest.Track
    /// When packets were lost, when they were recovered late, and when keyframes were requested.
    let lost: Share
    let recovered: Share
    let requests: Share
  }

  /// The fraction of a total that had been counted by a time, from 0 to 1.
  private struct Share {
    private let steps: [(time: Double, sum: Double)]
    private let track: ClosedRange<Double>

    /// - Parameter steps: When and how much was counted; if empty, the total is spread evenly over the track.
    init(_ steps: [(time: Double, amount: Double)], over track: ClosedRange<Double>) {
      var sum = 0.0
      self.steps = steps.filter { $0.time.isFinite && $0.amount > 0 }.sorted { $0.time < $1.time }.map { step in
        sum += step.amount
        return (step.time, sum)
      }
      self.track = track
    }

    func by(_ time: Double) -> Double {
      guard let whole = steps.last?.sum else {
        let length = track.upperBound - track.lowerBound
        return length > 0 ? min(1, max(0, (time - track.lowerBound) / length)) : (time >= track.upperBound ? 1 : 0)
      }
      // Binary search: the steps are sorted, there can be many, and every second of the recording needs a lookup.
      var (below, above) = (0, steps.count)
      while below < above {
        let middle = (below + above) / 2
        if steps[middle].time <= time { below = middle + 1 } else { above = middle }
      }
      return below == 0 ? 0 : steps[below - 1].sum / whole
    }
  }

  /// The maximum count, to avoid overflow; no call reaches it.
  private static let maximumCount: UInt64 = 1 << 50

  private let tracks: [TrackCounts]
  private let stream: MediaStream

  /// - Parameters:
  ///   - manifest: Nil for a file without a manifest, for which there are no counts.
  ///   - stream: The stream that was recorded.
  init(_ manifest: RecordingManifest?, of stream: MediaStream) {
    self.stream = stream
    tracks = (manifest?.tracks ?? []).compactMap { entry in
      guard let kind = MediaKind(rawValue: entry.kind), entry.sent > 0 || entry.packets > 0 || entry.lost > 0
      else { return nil }
      func share(_ amount: (RecordingManifest.Gap) -> Double) -> Share {
        Share(entry.gaps.map { ($0.start + $0.duration, amount($0)) }, over: entry.range)
      }
      return TrackCounts(
        kind: kind, entry: entry, lost: share { Double($0.packets) },
        recovered: share { $0.reason == MediaGap.Reason.recoveredLate.rawValue ? 1 : 0 },
        requests: share { [MediaGap.Reason.waitingForKeyframe.rawValue, "lost"].contains($0.reason) ? 1 : 0 })
    }
  }

  /// Whether there are no counts.
  var isEmpty: Bool { tracks.isEmpty }

  /// - Parameter time: In seconds from the recording's start; nil for its end.
  func sample(at time: Double?) -> ConnectionSample {
    var sample = ConnectionSample()
    for track in tracks {
      let id = TrackID(of: stream.owner, stream: stream.number, kind: track.kind)
      sample.received[id] = statistics(of: track, at: time)
    }
    return sample
  }

  private func statistics(of track: TrackCounts, at time: Double?) -> TrackStatistics {
    let entry = track.entry
    func part(_ whole: UInt64, _ share: Share) -> UInt64 {
      let whole = min(whole, Self.maximumCount)
      return time.map { UInt64((Double(whole) * share.by($0)).rounded(.down)) } ?? whole
    }
    let even = Share([], over: entry.range)
    var statistics = TrackStatistics()
    statistics.packetsLost = part(entry.lost, track.lost)
    statistics.packetsRecovered = part(entry.recovered, track.recovered)
    statistics.packetsReceived = part(entry.received, even) + statistics.packetsRecovered
    statistics.packetsExpected = statistics.packetsReceived + statistics.packetsLost
    if time == nil { statistics.packetsExpected = max(statistics.packetsExpected, min(entry.sent, Self.maximumCount)) }
    statistics.packetsDuplicated = part(entry.duplicated, even)
    statistics.bytesReceived = part(entry.bytes, even)
    statistics.framesDropped = part(entry.dropped, even)
    statistics.keyframeRequests = part(entry.keyframeRequests, track.requests)
    // Manifests have no jitter, and 0 would be wrong.
    statistics.jitter = .nan
    return statistics
  }
}

extension RecordingManifest.Track {
  /// The start and end of the track, in seconds.
  fileprivate var range: ClosedRange<Double> {
    let begin = start.isFinite ? start : 0
    return begin...(begin + max(0, duration.isFinite ? duration : 0))
  }
}
