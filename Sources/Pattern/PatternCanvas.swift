import Codecs
import Glibc
import Media

/// The planes of a frame while it is painted. A canvas is valid only inside the closure that receives it.
struct PatternCanvas {
  let size: VideoSize
  fileprivate let luma: UnsafeMutablePointer<UInt8>
  fileprivate let blue: UnsafeMutablePointer<UInt8>
  fileprivate let red: UnsafeMutablePointer<UInt8>

  /// A colour in YCbCr, as in the planes.
  struct Colour: Sendable {
    let luma: UInt8
    let blue: UInt8
    let red: UInt8

    /// Returns a colour between this one (share 0) and another (share 1).
    func mixed(with other: Colour, share: Double) -> Colour {
      func mixed(_ from: UInt8, _ to: UInt8) -> UInt8 {
        UInt8((Double(from) + (Double(to) - Double(from)) * min(max(0, share), 1)).rounded())
      }
      return Colour(luma: mixed(luma, other.luma), blue: mixed(blue, other.blue), red: mixed(red, other.red))
    }
  }

  /// Fills the luma of the part of a box that is inside the frame; the colour stays.
  func fill(_ box: PatternLayout.Box, luma value: UInt8) {
    fill(luma, box, width: size.width, height: size.height, value)
  }

  /// Fills the part of a box that is inside the frame.
  func fill(_ box: PatternLayout.Box, _ colour: Colour) {
    fill(box, luma: colour.luma)
    let half = PatternLayout.Box(
      columns: box.columns.lowerBound / 2..<(box.columns.upperBound + 1) / 2,
      rows: box.rows.lowerBound / 2..<(box.rows.upperBound + 1) / 2)
    let (width, height) = ((size.width + 1) / 2, (size.height + 1) / 2)
    fill(blue, half, width: width, height: height, colour.blue)
    fill(red, half, width: width, height: height, colour.red)
  }

  /// Covers the part of a box that is inside the frame with noise.
  func fill(_ box: PatternLayout.Box, _ grain: PatternNoise, frame: UInt32) {
    let columns = box.columns.clamped(to: 0..<size.width)
    for row in box.rows.clamped(to: 0..<size.height) where !columns.isEmpty {
      grain.withLine(row, frame: frame) { line in
        _ = memcpy(luma + row * size.width + columns.lowerBound, line, columns.count)
      }
    }
  }

  private func fill(
    _ plane: UnsafeMutablePointer<UInt8>, _ box: PatternLayout.Box, width: Int, height: Int, _ value: UInt8
  ) {
    let columns = box.columns.clamped(to: 0..<width)
    if columns.isEmpty { return }
    for row in box.rows.clamped(to: 0..<height) {
      memset(plane + row * width + columns.lowerBound, Int32(value), columns.count)
    }
  }
}

extension VideoFrame {
  /// Calls `paint` with a canvas that changes the frame in place.
  mutating func withCanvas(_ paint: (PatternCanvas) -> Void) {
    let size = size
    luma.withUnsafeMutableBufferPointer { luma in
      blue.withUnsafeMutableBufferPointer { blue in
        red.withUnsafeMutableBufferPointer { red in
          guard let luma = luma.baseAddress, let blue = blue.baseAddress, let red = red.baseAddress else { return }
          paint(PatternCanvas(size: size, luma: luma, blue: blue, red: red))
        }
      }
    }
  }
}
