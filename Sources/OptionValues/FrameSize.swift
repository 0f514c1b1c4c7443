package import Media

/// A video size as written on the command line: `640x480`.
package struct FrameSize: Sendable, Hashable, CustomStringConvertible {
  package let pixels: VideoSize

  /// The range of a side in pixels: receivers reject larger frames, encoders smaller ones.
  package static let sides = 16...4_096

  /// Parses width, `x` and height in pixels.
  package init(_ text: String) throws(ParseError) {
    let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, text.utf8.count < 20,
      sides.allSatisfy({ side in !side.isEmpty && side.allSatisfy { $0.isASCII && $0.isNumber } }),
      let width = Int(sides[0]), let height = Int(sides[1])
    else { throw .noSize }
    guard Self.sides.contains(width), Self.sides.contains(height) else { throw .outOfRange }
    pixels = VideoSize(width: width, height: height)
  }

  package var description: String { pixels.description }

  /// For `transform:`, as `Bitrate.parse`.
  @Sendable package static func parse(_ text: String) throws -> FrameSize { try FrameSize(text) }

  /// Why a text is not a video size.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noSize
    case outOfRange

    package var description: String {
      switch self {
      case .noSize: "A frame's size is its width and height in pixels, like 640x480."
      case .outOfRange:
        "A frame's width and height must be \(FrameSize.sides.lowerBound) to \(FrameSize.sides.upperBound) pixels."
      }
    }
  }
}
