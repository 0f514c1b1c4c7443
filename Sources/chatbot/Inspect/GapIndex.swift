import FileSource
import Media
import Recorder

/// The gaps of a track, as its manifest has them, to be found while its frames go by in order.
struct GapIndex {
  private struct Gap {
    var start: Int64
    /// Where the first frame behind it begins.
    var end: Int64
    var reason: MediaGap.Reason
    var entry: RecordingManifest.Gap
  }

  /// Manifests round to milliseconds, and so does WebM.
  private static let tolerance = Int64(FileTime.rate) / 500

  /// By their ends, and by their starts.
  private let byEnd: [Gap]
  private let holes: [Gap]
  private var passed = 0
  private var hole = 0

  init(_ entries: [RecordingManifest.Gap]) {
    let gaps = entries.compactMap { entry -> Gap? in
      guard let reason = MediaGap.Reason(rawValue: entry.reason), entry.duration >= 0,
        let start = RecordedTime.units(entry.start), let length = RecordedTime.units(entry.duration)
      else { return nil }
      // What came late lies where it belongs: for how long it was waited for is not in the file.
      return Gap(start: start, end: reason == .recoveredLate ? start : start + length, reason: reason, entry: entry)
    }
    byEnd = gaps.sorted { ($0.end, $0.start) < ($1.end, $1.start) }
    holes = gaps.filter { $0.end > $0.start }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
  }

  /// What was there before a frame: of several gaps the longest, with what all of them cost. Times only grow.
  mutating func before(_ time: Int64) -> MediaGap? {
    var worst: Gap?
    var packets = 0
    var frames = 0
    while passed < byEnd.count, byEnd[passed].end <= time + Self.tolerance {
      let gap = byEnd[passed]
      passed += 1
      packets = max(0, packets.addingReportingOverflow(gap.entry.packets).partialValue)
      frames = max(0, frames.addingReportingOverflow(gap.entry.frames).partialValue)
      if worst.map({ gap.entry.duration > $0.entry.duration }) ?? true { worst = gap }
    }
    return worst.map { gap in
      let delay = gap.reason == .recoveredLate ? Duration.milliseconds(Int64(gap.entry.duration * 1_000)) : .zero
      return MediaGap(gap.reason, packetsLost: packets, framesDropped: frames, delay: delay)
    }
  }

  /// The gap that a time lies in; nil between gaps. Times only grow.
  mutating func around(_ time: Int64) -> MediaGap.Reason? {
    while hole < holes.count, holes[hole].end <= time + Self.tolerance { hole += 1 }
    guard hole < holes.count, holes[hole].start <= time + Self.tolerance else { return nil }
    return holes[hole].reason
  }
}
