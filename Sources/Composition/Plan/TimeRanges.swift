extension [Range<Int64>] {
  /// The ranges in order, those that overlap or touch each other as one, without empty ones.
  var merged: [Range<Int64>] {
    filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
  }

  /// Keeps what is in a range, and moves it so that the range begins at zero.
  func clipped(to range: Range<Int64>) -> [Range<Int64>] {
    map { $0.clamped(to: range) }.filter { !$0.isEmpty }
      .map { $0.lowerBound - range.lowerBound..<$0.upperBound - range.lowerBound }
  }
}
