import FileSource
import Media
import Recorder

/// The gaps of a track in its manifest, looked up while its frames are read in order.
struct GapIndex {
  private struct Gap {
    var start: Int64
    /// The start of the first frame after the gap.
    var end: Int64
    var reason: MediaGap.Reason
    var entry: RecordingManifest.Gap
  }

  /// Manifests and WebM round to milliseconds.
  private static let tolerance = Int64(MediaTimebase.rate) / 500

  /// Sorted by end.
  private let byEnd: [Gap]
  private let byStart: [Gap]
  private var nextByEnd = 0
  private var nextByStart = 0

  init(_ entries: [RecordingManifest.Gap]) {
    let gaps = entries.compactMap { entry -> Gap? in
      guard let reason = MediaGap.Reason(rawValue: entry.reason), entry.duration >= 0,
        let start = RecordedTime.units(entry.start), let length = RecordedTime.units(entry.duration)
      else { return nil }
      // A packet that was recovered late is at its proper time: the file does not contain the wait.
      return Gap(start: start, end: reason == .recoveredLate ? start : start + length, reason: reason, entry: entry)
    }
    byEnd = gaps.sorted { ($0.end, $0.start) < ($1.end, $1.start) }
    byStart = gaps.filter { $0.end > $0.start }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
  }

  /// Returns the gap before a frame: the longest of several, with the packets and frames of all of them. Times must
  /// ascend.
  mutating func before(_ time: Int64) -> MediaGap? {
    var worst: Gap?
    var packets = 0
    var frames = 0
    while nextByEnd < byEnd.count, byEnd[nextByEnd].end <= time + Self.tolerance {
      let gap = byEnd[nextByEnd]
      nextByEnd += 1
      packets = max(0, packets.addingReportingOverflow(gap.entry.packets).partialValue)
      frames = max(0, frames.addingReportingOverflow(gap.entry.frames).partialValue)
      if worst.map({ gap.entry.duration > $0.entry.duration }) ?? true { worst = gap }
    }
    return worst.map { gap in
      let delay = gap.reason == .recoveredLate ? Duration.milliseconds(Int64(gap.entry.duration * 1_000)) : .zero
      return MediaGap(gap.reason, packetsLost: packets, framesDropped: frames, delay: delay)
    }
  }

  /// Returns the reason of the gap that contains a time, or nil between gaps. Times must ascend.
  mutating func around(_ time: Int64) -> MediaGap.Reason? {
    while nextByStart < byStart.count, byStart[nextByStart].end <= time + Self.tolerance { nextByStart += 1 }
    guard nextByStart < byStart.count, byStart[nextByStart].start <= time + Self.tolerance else { return nil }
    return byStart[nextByStart].reason
  }
}
