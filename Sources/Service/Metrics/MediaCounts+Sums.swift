package import JobProtocol

extension MediaCounts {
  private static var paths: [WritableKeyPath<MediaCounts, UInt64>] {
    [\.packets, \.lost, \.recovered, \.frames, \.decodeErrors, \.unverified]
  }

  /// The greater of each of the sums.
  package func raised(to other: MediaCounts) -> MediaCounts {
    var counts = self
    for path in Self.paths { counts[keyPath: path] = max(self[keyPath: path], other[keyPath: path]) }
    return counts
  }

  /// Adds what a process has received since an earlier status of it. Sums that went back add nothing.
  package mutating func add(_ now: MediaCounts, since before: MediaCounts) {
    for path in Self.paths {
      let (new, old) = (now[keyPath: path], before[keyPath: path])
      guard new > old else { continue }
      // A process that says anything must not end the service.
      let (sum, overflow) = self[keyPath: path].addingReportingOverflow(new - old)
      self[keyPath: path] = overflow ? .max : sum
    }
  }
}
