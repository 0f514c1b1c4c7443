/// The length of a recording's segments, as written on the command line: a time like `10m`, or a size like `500MB`.
package enum SegmentLength: Sendable, Hashable, CustomStringConvertible {
  case time(TimeSpan)
  /// In bytes.
  case size(Int64)

  /// Shorter segments would need a new file at nearly every keyframe.
  package static let minimumTime = TimeSpan(milliseconds: 1_000)
  package static let minimumSize: Int64 = 100_000

  /// Parses a whole number with a unit of time or size; without a unit it means seconds.
  package init(_ text: String) throws(ParseError) {
    let size: ByteSize?
    do throws(ByteSize.ParseError) {
      size = try ByteSize(text)
    } catch {
      switch error {
      case .noNumber: throw .neither(text)
      case .tooLarge: throw .tooLarge(text)
      }
    }
    if let size {
      guard size.bytes >= Self.minimumSize else { throw .tooSmall(size.bytes) }
      self = .size(size.bytes)
      return
    }
    guard let time = try? TimeSpan(text) else { throw .neither(text) }
    guard time.milliseconds >= Self.minimumTime.milliseconds else { throw .tooShort(time) }
    self = .time(time)
  }

  /// The length in a form that can be parsed again.
  package var description: String {
    switch self {
    case .time(let time): return "\(time)"
    case .size(let bytes): return ByteSize(bytes: bytes).description
    }
  }

  /// For `transform:`, as `Bitrate.parse`.
  @Sendable package static func parse(_ text: String) throws -> SegmentLength { try SegmentLength(text) }

  /// Why a text is not a segment length.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case neither(String)
    case tooShort(TimeSpan)
    case tooSmall(Int64)
    case tooLarge(String)

    package var description: String {
      switch self {
      case .neither:
        "A segment's length is a time like 90s, 10m or 1h, or a size like 500MB or 2GiB."
      case .tooShort(let time): "Segments of \(time) are too short; the minimum is \(SegmentLength.minimumTime)."
      case .tooSmall(let bytes):
        "Segments of \(bytes) bytes are too small; the minimum is \(SegmentLength.size(SegmentLength.minimumSize))."
      case .tooLarge(let text): "\"\(text)\" is more than a disk can hold."
      }
    }
  }
}
