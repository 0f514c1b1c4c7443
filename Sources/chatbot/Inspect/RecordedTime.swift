import FileSource

/// Times of manifests, which come from a file that anybody can have written, in units of `FileTime.rate`.
enum RecordedTime {
  /// A manifest's seconds; nil for what no recording can have.
  static func units(_ seconds: Double) -> Int64? {
    guard seconds.isFinite, abs(seconds) <= Double(FileTime.latestHours) * 3_600 else { return nil }
    // Manifests have milliseconds, which are whole numbers of units.
    return Int64((seconds * 1_000).rounded()) * Int64(FileTime.rate / 1_000)
  }

  static func seconds(_ units: Int64) -> Double { Double(units) / Double(FileTime.rate) }
}
