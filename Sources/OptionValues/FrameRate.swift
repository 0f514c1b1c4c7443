/// A frame rate as written on the command line: `30`, `29.97`, `30000/1001`.
package struct FrameRate: Sendable, Hashable, CustomStringConvertible {
  package let framesPerSecond: Double

  package static let range = 0.1...120.0

  /// Parses a number, or one divided by another.
  package init(_ text: String) throws(ParseError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(part) : nil
    }
    guard numbers.count == parts.count, let first = numbers.first, parts.count <= 2 else { throw .noRate }
    let rate = numbers.count == 2 ? first / numbers[1] : first
    guard rate.isFinite, Self.range.contains(rate) else { throw .outOfRange }
    framesPerSecond = rate
  }

  package var description: String {
    framesPerSecond == framesPerSecond.rounded() ? "\(Int(framesPerSecond))" : "\(framesPerSecond)"
  }

  /// For `transform:`, as `Bitrate.parse`.
  @Sendable package static func parse(_ text: String) throws -> FrameRate { try FrameRate(text) }

  /// Why a text is not a frame rate.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noRate
    case outOfRange

    package var description: String {
      switch self {
      case .noRate: "A frame rate is a number of frames per second, like 30, 29.97 or 30000/1001."
      case .outOfRange:
        "The frame rate must be between \(FrameRate.range.lowerBound) and \(Int(FrameRate.range.upperBound))."
      }
    }
  }
}
