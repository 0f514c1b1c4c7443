import Media
import Recorder

/// The intervals in which a recording was paused, so that none of its tracks has frames: in order, in units of
/// `MediaTimebase.rate`.
struct RecordedPauses {
  /// Manifests round to milliseconds.
  private static let tolerance: Int64 = (RecordedTime.units(0.002) ?? 0)

  private let all: [Range<Int64>]
  private var next = 0

  /// - Parameter manifest: nil for a file without a manifest, of which nothing is known.
  init(_ manifest: RecordingManifest?) {
    let tracks = (manifest?.tracks ?? []).map(Track.init)
    var pauses = Self.merged(tracks.flatMap(\.pauses))
    // In a pause of the recording, each track is paused, has not begun or has ended.
    for track in tracks { pauses = Self.intersection(pauses, track.absences) }
    all = pauses
  }

  /// Returns the starts of the pauses that ended before the next frame. Times must ascend.
  ///
  /// - Parameter time: that of the frame, from the recording's start.
  mutating func ended(before time: Int64) -> [Int64] {
    var starts: [Int64] = []
    while next < all.count, all[next].upperBound <= time + Self.tolerance {
      starts.append(all[next].lowerBound)
      next += 1
    }
    return starts
  }

  private struct Track {
    /// The pauses in the manifest, and when the track has no frames by its own.
    let pauses: [Range<Int64>]
    let absences: [Range<Int64>]

    init(_ entry: RecordingManifest.Track) {
      pauses = entry.gaps.compactMap { gap in
        guard gap.reason == MediaGap.Reason.paused.rawValue, gap.duration > 0,
          let start = RecordedTime.units(gap.start),
          let length = RecordedTime.units(gap.duration)
        else { return nil }
        return start..<(start + length)
      }
      guard let start = RecordedTime.units(entry.start), let end = RecordedTime.units(entry.end), end >= start else {
        absences = [.min..<(.max)]
        return
      }
      absences = RecordedPauses.merged(pauses + [.min..<start, end..<(.max)])
    }
  }

  /// Returns the intervals in order, those that touch each other as one.
  private static func merged(_ intervals: [Range<Int64>]) -> [Range<Int64>] {
    intervals.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, interval in
      if let last = merged.last, interval.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, interval.upperBound)
      } else {
        merged.append(interval)
      }
    }
  }

  /// Returns what is in both of two lists of intervals, each in order.
  private static func intersection(_ one: [Range<Int64>], _ other: [Range<Int64>]) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    var (first, second) = (0, 0)
    while first < one.count, second < other.count {
      let common = one[first].clamped(to: other[second])
      if !common.isEmpty { result.append(common) }
      if one[first].upperBound < other[second].upperBound { first += 1 } else { second += 1 }
    }
    return result
  }
}
