import Media

/// A video size as it is written on the command line: `640x480`.
struct FrameSize: Sendable, Hashable, CustomStringConvertible {
  let pixels: VideoSize

  /// What a side may be: a receiver refuses more, an encoder less.
  static let sides = 16...4_096

  /// Reads width, `x` and height in pixels.
  init(_ text: String) throws(ParseError) {
    let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, text.utf8.count < 20,
      sides.allSatisfy({ side in !side.isEmpty && side.allSatisfy { $0.isASCII && $0.isNumber } }),
      let width = Int(sides[0]), let height = Int(sides[1])
    else { throw .noSize }
    guard Self.sides.contains(width), Self.sides.contains(height) else { throw .outOfRange }
    pixels = VideoSize(width: width, height: height)
  }

  var description: String { pixels.description }

  /// Why a text is no video size.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case noSize
    case outOfRange

    var description: String {
      switch self {
      case .noSize: "A frame's size is its width and height in pixels, like 640x480."
      case .outOfRange:
        "A frame's sides are \(FrameSize.sides.lowerBound) to \(FrameSize.sides.upperBound) pixels long here."
      }
    }
  }
}
