/// The times at which the frames of a track are decoded, made from those at which they are shown: Matroska has only these. Pure.
struct DecodingOrder: Sendable {
  /// The times at which frames are shown, sorted.
  private let sorted: [Int64]
  /// By how many frames the first one that is shown must be decoded before.
  let delay: Int

  /// - Parameter shown: the times of all frames, in the order of decoding.
  init(_ shown: [Int64]) {
    sorted = shown.sorted()
    var delay = 0
    // The frame at an index is decoded when the one so many places before is shown, at the latest when it is shown itself.
    for (index, time) in shown.enumerated() {
      while index - delay >= 0, delay < shown.count, sorted[index - delay] > time { delay += 1 }
    }
    self.delay = delay
  }

  /// The time at which the frame of an index is decoded, in the order of decoding: greater than that of the one before.
  func time(of index: Int) -> Int64 {
    guard index < delay else { return index - delay < sorted.count ? sorted[index - delay] : sorted.last ?? 0 }
    let step = sorted.count > 1 ? max(1, (sorted[sorted.count - 1] - sorted[0]) / Int64(sorted.count - 1)) : 1
    return (sorted.first ?? 0) - Int64(delay - index) * step
  }
}
