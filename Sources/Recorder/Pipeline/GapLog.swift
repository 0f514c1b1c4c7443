package import Media

/// The gaps of one track, for the manifest: single gaps up to a limit, and totals of all gaps by reason.
package struct GapLog: Sendable {
  /// The maximum number of listed gaps, so that a bad network does not fill the memory.
  static let maximumList = 1_000
  /// Silences that are no further apart than this, separated by a packet of comfort noise, count as one.
  static let comfortNoise = Duration.milliseconds(150)

  private struct Entry: Sendable {
    var gap: MediaGap
    var start: Duration
    var duration: Duration
    var repaired: Duration
  }

  private struct Sum: Sendable {
    var count: UInt64 = 0
    var duration = Duration.zero
    var repaired = Duration.zero
    var packets: UInt64 = 0
    var frames: UInt64 = 0
  }

  private var entries: [Entry] = []
  private var sums: [MediaGap.Reason: Sum] = [:]
  /// The end of the last silence, and its index in the list.
  private var silence: (end: Duration, index: Int?)?

  package init() {}

  /// Adds a gap.
  ///
  /// - Parameters:
  ///   - start: its start on the recording's timeline.
  ///   - duration: its length before any repair.
  ///   - repaired: how much of it was filled.
  ///   - isListed: whether it is listed even beyond the limit.
  package mutating func add(
    _ gap: MediaGap, start: Duration, duration: Duration, repaired: Duration = .zero, isListed: Bool = false
  ) {
    var sum = sums[gap.reason] ?? Sum()
    sum.packets &+= UInt64(clamping: gap.packetsLost)
    sum.frames &+= UInt64(clamping: gap.framesDropped)
    sum.repaired += repaired
    if gap.reason == .dtx, let silence, start >= silence.end, start - silence.end <= Self.comfortNoise {
      sum.duration += start + duration - silence.end
      extend(silence.index, to: start + duration, by: gap)
      self.silence?.end = start + duration
    } else {
      sum.count += 1
      sum.duration += duration
      let isListed = isListed || entries.count < Self.maximumList
      if gap.reason == .dtx { silence = (start + duration, isListed ? entries.count : nil) }
      if isListed { entries.append(Entry(gap: gap, start: start, duration: duration, repaired: repaired)) }
    }
    sums[gap.reason] = sum
  }

  private mutating func extend(_ index: Int?, to end: Duration, by gap: MediaGap) {
    guard let index else { return }
    entries[index].duration = end - entries[index].start
    entries[index].gap.packetsLost += gap.packetsLost
    entries[index].gap.framesDropped += gap.framesDropped
  }

  /// Lost packets in all gaps.
  var packets: UInt64 { sums.values.reduce(0) { $0 &+ $1.packets } }

  /// The gaps in order, up to the limit.
  package var gaps: [RecordingManifest.Gap] {
    entries.map { entry in
      RecordingManifest.Gap(
        reason: entry.gap.reason.rawValue, start: entry.start.roundedSeconds, duration: entry.duration.roundedSeconds,
        packets: entry.gap.packetsLost, frames: entry.gap.framesDropped,
        repaired: entry.repaired == .zero ? nil : entry.repaired.roundedSeconds)
    }
  }

  /// The totals of all gaps by reason; a reason that did not occur is absent.
  package var totals: [String: RecordingManifest.GapTotal] {
    var totals: [String: RecordingManifest.GapTotal] = [:]
    for (reason, sum) in sums {
      totals[reason.rawValue] = RecordingManifest.GapTotal(
        count: sum.count, duration: sum.duration.roundedSeconds, packets: sum.packets, frames: sum.frames,
        repaired: sum.repaired == .zero ? nil : sum.repaired.roundedSeconds)
    }
    return totals
  }
}
