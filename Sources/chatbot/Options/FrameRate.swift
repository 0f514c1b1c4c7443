/// Frames a second as they are written on the command line: `30`, `29.97`, `30000/1001`.
struct FrameRate: Sendable, Hashable, CustomStringConvertible {
  let framesPerSecond: Double

  static let range = 0.1...120.0

  /// Reads a number, or one divided by another.
  init(_ text: String) throws(ParseError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(part) : nil
    }
    guard numbers.count == parts.count, let first = numbers.first, parts.count <= 2 else { throw .noRate }
    let rate = numbers.count == 2 ? first / numbers[1] : first
    guard rate.isFinite, Self.range.contains(rate) else { throw .outOfRange }
    framesPerSecond = rate
  }

  var description: String {
    framesPerSecond == framesPerSecond.rounded() ? "\(Int(framesPerSecond))" : "\(framesPerSecond)"
  }

  /// Why a text is no frame rate.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case noRate
    case outOfRange

    var description: String {
      switch self {
      case .noRate: "A frame rate is a number of frames a second, like 30, 29.97 or 30000/1001."
      case .outOfRange:
        "A frame rate is between \(FrameRate.range.lowerBound) and \(Int(FrameRate.range.upperBound)) here."
      }
    }
  }
}
