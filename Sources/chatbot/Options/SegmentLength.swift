/// After how much a recording's next file begins, as it is written on the command line: a time like `10m`, or a size like
/// `500MB`.
enum SegmentLength: Sendable, Hashable, CustomStringConvertible {
  case time(TimeSpan)
  /// In bytes.
  case size(Int64)

  /// Less would be a file for every other keyframe.
  static let shortestTime = TimeSpan(milliseconds: 1_000)
  static let smallestSize: Int64 = 100_000

  /// Larger ones first, so that a size is told in the largest unit that it is a whole number of.
  private static let units: [(name: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1_000),
  ]

  /// Reads a whole number with a unit of time or of size; without one it counts seconds.
  init(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count)
    guard let unit = Self.units.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      guard let time = try? TimeSpan(text) else { throw .neither(text) }
      guard time.milliseconds >= Self.shortestTime.milliseconds else { throw .tooShort(time) }
      self = .time(time)
      return
    }
    guard let count = Int64(digits) else { throw .neither(text) }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    guard !overflow else { throw .tooLarge(text) }
    guard bytes >= Self.smallestSize else { throw .tooSmall(bytes) }
    self = .size(bytes)
  }

  /// Reading it gives the same length.
  var description: String {
    switch self {
    case .time(let time): return "\(time)"
    case .size(let bytes):
      for unit in Self.units where bytes.isMultiple(of: unit.bytes) { return "\(bytes / unit.bytes)\(unit.name)" }
      return "\(bytes / 1_000)kB"
    }
  }

  /// Why a text is no length of a segment.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case neither(String)
    case tooShort(TimeSpan)
    case tooSmall(Int64)
    case tooLarge(String)

    var description: String {
      switch self {
      case .neither:
        "A segment's length is a time like 90s, 10m or 1h, or a size like 500MB or 2GiB."
      case .tooShort(let time): "Segments of \(time) are too short; \(SegmentLength.shortestTime) is the least."
      case .tooSmall(let bytes):
        "Segments of \(bytes) bytes are too small; \(SegmentLength.size(SegmentLength.smallestSize)) is the least."
      case .tooLarge(let text): "\"\(text)\" is more than a disk can hold."
      }
    }
  }
}
