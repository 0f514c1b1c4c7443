/// A set of moments, as intervals that do not touch each other. Pure.
struct IntervalSet: Sendable, Hashable {
  /// In order; none is empty.
  private(set) var ranges: [Range<Int64>] = []

  init() {}

  init(_ ranges: some Sequence<Range<Int64>>) {
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = self.ranges.last, last.upperBound >= range.lowerBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// Returns what is in one of both.
  func union(_ other: IntervalSet) -> IntervalSet { IntervalSet(ranges + other.ranges) }

  /// Returns what is in this one, and not in the other one.
  func subtracting(_ other: IntervalSet) -> IntervalSet {
    var result: [Range<Int64>] = []
    var index = 0
    for range in ranges {
      var start = range.lowerBound
      while index < other.ranges.count, other.ranges[index].upperBound <= start { index += 1 }
      var next = index
      while next < other.ranges.count, other.ranges[next].lowerBound < range.upperBound {
        if other.ranges[next].lowerBound > start { result.append(start..<other.ranges[next].lowerBound) }
        start = max(start, other.ranges[next].upperBound)
        next += 1
      }
      if start < range.upperBound { result.append(start..<range.upperBound) }
    }
    return IntervalSet(result)
  }

  /// Returns the intervals, where those with less than `distance` between them are one.
  func joining(within distance: Int64) -> IntervalSet {
    var result: [Range<Int64>] = []
    for range in ranges {
      if let last = result.last, range.lowerBound - last.upperBound < distance {
        result[result.count - 1] = last.lowerBound..<range.upperBound
      } else {
        result.append(range)
      }
    }
    return IntervalSet(result)
  }

  /// Returns what is in both.
  func intersection(_ other: IntervalSet) -> IntervalSet { subtracting(subtracting(other)) }
}

extension Range<Int64> {
  /// Returns the interval between two moments; an empty one if the end is before the start.
  init(from start: Int64, to end: Int64) { self = start..<Swift.max(start, end) }
}
