import CallCheck

/// A measurement over time, as drawn in a chart.
struct LaneSeries {
  /// The name of the measurement, for a lane with several.
  var name = ""
  /// The length of a step in seconds.
  let step: Double
  /// The finite values; nil where nothing was measured.
  let values: [Double?]

  /// The maximum number of points of a line, so that a chart of hours is as small as one of minutes.
  static let pointLimit = 600

  init(name: String = "", step: Double, values: [Double?]) {
    self.name = name
    self.step = step.isFinite && step > 0 ? step : 1
    self.values = values.map { value in value.flatMap { $0.isFinite ? $0 : nil } }
  }

  var isEmpty: Bool { values.allSatisfy { $0 == nil } }
  var low: Double? { values.compactMap { $0 }.min() }
  var high: Double? { values.compactMap { $0 }.max() }

  var median: Double? {
    let sorted = values.compactMap { $0 }.sorted()
    return sorted.isEmpty ? nil : sorted[sorted.count / 2]
  }

  /// A point of a line.
  struct Point {
    var time: Double
    var value: Double
  }

  /// The pieces of the line, which breaks where nothing was measured for much longer than usual. Of a long series, the
  /// lowest and the highest value of each bucket are kept, at their own times.
  var pieces: [[Point]] {
    let length = bucketLength(limit: values.count <= Self.pointLimit ? Self.pointLimit : Self.pointLimit / 2)
    let positions = stride(from: 0, to: values.count, by: length).flatMap { start in
      extremes(start..<min(start + length, values.count))
    }
    let longest = Self.longestGap(between: positions, atLeast: length)
    var pieces: [[Point]] = []
    var before: Int?
    for position in positions {
      guard let value = values[position] else { continue }
      if before.map({ position - $0 > longest }) ?? true { pieces.append([]) }
      pieces[pieces.count - 1].append(Point(time: (Double(position) + 0.5) * step, value: value))
      before = position
    }
    return pieces
  }

  /// The series with each value held until the next one within the same piece, for a lane with sparse values.
  var sampleAndHold: LaneSeries {
    let positions = values.indices.filter { values[$0] != nil }
    let longest = Self.longestGap(between: positions, atLeast: 1)
    var held = values
    for (position, next) in zip(positions, positions.dropFirst()) where next - position <= longest {
      for step in position + 1..<next { held[step] = values[position] }
    }
    return LaneSeries(name: name, step: step, values: held)
  }

  /// Returns how many steps apart two values of one piece may be.
  private static func longestGap(between positions: [Int], atLeast length: Int) -> Int {
    let gaps = zip(positions, positions.dropFirst()).map { $1 - $0 }.sorted()
    return gaps.isEmpty ? 1 : max(length, gaps[gaps.count / 2]) * 5 / 2
  }

  /// Returns the indices of the lowest and the highest value of some steps, in order.
  private func extremes(_ positions: Range<Int>) -> [Int] {
    let known = positions.compactMap { position in values[position].map { (position: position, value: $0) } }
    guard let low = known.min(by: { $0.value < $1.value }), let high = known.max(by: { $0.value < $1.value }) else {
      return []
    }
    return low.position == high.position ? [low.position] : [low.position, high.position].sorted()
  }

  /// Returns the lowest and the highest value of each bucket; there are at most `limit` buckets of equal length.
  func buckets(limit: Int) -> [(low: Double, high: Double)?] {
    stride(from: 0, to: values.count, by: bucketLength(limit: limit)).map { start in
      range(start..<min(start + bucketLength(limit: limit), values.count))
    }
  }

  /// Returns the number of steps in a bucket.
  func bucketLength(limit: Int) -> Int { max(1, (values.count + limit - 1) / max(1, limit)) }

  /// Returns the lowest and the highest value from one time to another.
  func range(from start: Double, to end: Double) -> (low: Double, high: Double)? {
    let first = min(values.count, max(0, Int(max(0, min(start / step, 1e9)))))
    let last = min(values.count, max(first, Int(max(0, min(end / step, 1e9)).rounded(.up))))
    return range(first..<last)
  }

  /// Returns the sum of the values from one time to another.
  func sum(from start: Double, to end: Double) -> Double {
    values.enumerated().reduce(0) { sum, entry in
      let time = Double(entry.offset) * step
      return time + step > start && time < end ? sum + (entry.element ?? 0) : sum
    }
  }

  /// Returns the intervals of bad values; steps without a value do not end an interval.
  func intervals(where isBad: (Double) -> Bool) -> [Interval] {
    var found: [Interval] = []
    var current: ClosedRange<Int>?
    func end() {
      if let current {
        found.append(Interval(start: Double(current.lowerBound) * step, duration: Double(current.count) * step))
      }
      current = nil
    }
    for (index, value) in values.enumerated() {
      guard let value else { continue }
      if isBad(value) { current = (current?.lowerBound ?? index)...index } else { end() }
    }
    end()
    return found
  }

  private func range(_ positions: Range<Int>) -> (low: Double, high: Double)? {
    let known = values[positions].compactMap { $0 }
    guard let low = known.min(), let high = known.max() else { return nil }
    return (low, high)
  }
}
