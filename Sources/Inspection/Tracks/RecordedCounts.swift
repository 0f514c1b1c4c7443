import CallCheck
import Media
import Recorder

/// The counters of a recording's connection at a given time, as far as its manifest tells them.
///
/// A manifest has the totals of the whole call, and the times of the gaps. Lost packets are counted at the gaps, and received
/// ones are spread evenly over the track. What is in no gap, such as packets that a retransmission replaced in time, has no
/// place in time: it is only in the totals, and between the gaps the share of lost packets is then not known. Keyframe
/// requests have no times.
struct RecordedCounts {
  private struct TrackCounts {
    let kind: MediaKind
    let entry: RecordingManifest.Track
    /// How many packets were lost until each time.
    let lost: Steps

    /// Whether all packets that did not arrive at the first attempt are in gaps.
    var arePlaced: Bool { lost.sum >= entry.lost && entry.recovered == 0 }
  }

  /// The running sum of what was counted at the ends of gaps.
  private struct Steps {
    private let steps: [(time: Double, sum: UInt64)]

    /// - Parameters:
    ///   - steps: When and how much was counted.
    ///   - total: What the sum cannot exceed.
    init(_ steps: [(time: Double, amount: Int)], total: UInt64) {
      var sum: UInt64 = 0
      self.steps = steps.filter { $0.time.isFinite && $0.amount > 0 }.sorted { $0.time < $1.time }.map { step in
        sum = min(total, sum + min(total, UInt64(step.amount)))
        return (step.time, sum)
      }
    }

    var sum: UInt64 { steps.last?.sum ?? 0 }

    func by(_ time: Double) -> UInt64 {
      // Binary search: there can be many steps, and every second of the recording needs a lookup.
      var (below, above) = (0, steps.count)
      while below < above {
        let middle = (below + above) / 2
        if steps[middle].time <= time { below = middle + 1 } else { above = middle }
      }
      return below == 0 ? 0 : steps[below - 1].sum
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
      var entry = entry
      entry.lost = min(entry.lost, Self.maximumCount)
      entry.recovered = min(entry.recovered, Self.maximumCount)
      return TrackCounts(
        kind: kind, entry: entry,
        lost: Steps(entry.gaps.map { ($0.start + $0.duration, $0.packets) }, total: entry.lost))
    }
  }

  /// Whether there are no counts.
  var isEmpty: Bool { tracks.isEmpty }

  /// - Parameters:
  ///   - time: In seconds from the recording's start; nil for its end.
  ///   - before: The time of the previous sample.
  func sample(at time: Double?, since before: Double? = nil) -> ConnectionSample {
    var sample = ConnectionSample()
    let areInTime = time.map { isPlaced(until: $0, since: before ?? 0) } ?? tracks.allSatisfy(\.arePlaced)
    sample.timing = areInTime ? .packets : .none
    for track in tracks {
      let id = TrackID(of: stream.owner, stream: stream.number, kind: track.kind)
      sample.received[id] = statistics(of: track, at: time)
    }
    return sample
  }

  /// Whether it is known how many packets of an interval did not arrive: all that did not are in gaps, or the interval has
  /// one.
  private func isPlaced(until time: Double, since before: Double) -> Bool {
    tracks.allSatisfy(\.arePlaced) || tracks.contains { $0.lost.by(time) > $0.lost.by(before) }
  }

  private func statistics(of track: TrackCounts, at time: Double?) -> TrackStatistics {
    let entry = track.entry
    /// The part of a total that an even spread over the track gives.
    func even(_ total: UInt64) -> UInt64 {
      let total = min(total, Self.maximumCount)
      guard let time else { return total }
      let length = entry.range.upperBound - entry.range.lowerBound
      let share = length > 0 ? (time - entry.range.lowerBound) / length : time >= entry.range.upperBound ? 1 : 0
      return UInt64((Double(total) * min(1, max(0, share))).rounded(.down))
    }
    var statistics = TrackStatistics()
    statistics.packetsLost = time.map(track.lost.by) ?? entry.lost
    statistics.packetsRecovered = time == nil ? entry.recovered : 0
    statistics.packetsReceived = even(entry.received) + statistics.packetsRecovered
    statistics.packetsExpected = statistics.packetsReceived + statistics.packetsLost
    if time == nil { statistics.packetsExpected = max(statistics.packetsExpected, min(entry.sent, Self.maximumCount)) }
    statistics.packetsDuplicated = even(entry.duplicated)
    statistics.bytesReceived = even(entry.bytes)
    statistics.framesDropped = even(entry.dropped)
    if time == nil { statistics.keyframeRequests = min(entry.keyframeRequests, Self.maximumCount) }
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
