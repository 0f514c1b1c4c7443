/// The length of a recording's segments, as written on the command line: a time like `10m`, or a size like `500MB`.
enum SegmentLength: Sendable, Hashable, CustomStringConvertible {
  case time(TimeSpan)
  /// In bytes.
  case size(Int64)

  /// Shorter segments would need a new file at nearly every keyframe.
  static let shortestTime = TimeSpan(milliseconds: 1_000)
  static let smallestSize: Int64 = 100_000

  /// Larger units first, so that a size is printed in the largest unit of which it is a multiple.
  private static let units: [(name: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1_000),
  ]

  /// Parses a whole number with a unit of time or size; without a unit it means seconds.
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

  /// The length in a form that can be parsed again.
  var description: String {
    switch self {
    case .time(let time): return "\(time)"
    case .size(let bytes):
      for unit in Self.units where bytes.isMultiple(of: unit.bytes) { return "\(bytes / unit.bytes)\(unit.name)" }
      return "\(bytes / 1_000)kB"
    }
  }

  /// Why a text is not a segment length.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case neither(String)
    case tooShort(TimeSpan)
    case tooSmall(Int64)
    case tooLarge(String)

    var description: String {
      switch self {
      case .neither:
        "A segment's length is a time like 90s, 10m or 1h, or a size like 500MB or 2GiB."
      case .tooShort(let time): "Segments of \(time) are too short; the minimum is \(SegmentLength.shortestTime)."
      case .tooSmall(let bytes):
        "Segments of \(bytes) bytes are too small; the minimum is \(SegmentLength.size(SegmentLength.smallestSize))."
      case .tooLarge(let text): "\"\(text)\" is more than a disk can hold."
      }
    }
  }
}
