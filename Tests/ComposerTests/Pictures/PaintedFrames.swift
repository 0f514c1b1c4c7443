import Codecs
import Composer
import Composition
import Media
import TextDrawing

/// A painter of a small output, and what its canvas shows.
final class PaintedFrames {
  let canvas: Canvas
  let painter: TilePainter

  init(_ width: Int = 320, _ height: Int = 180, fit: TileFit = .contain, hasText: Bool = true) throws {
    canvas = Canvas(VideoSize(width: width, height: height))
    painter = TilePainter(canvas: canvas, fit: fit, text: hasText ? try TextDrawer() : nil)
  }

  /// The values of a pixel: luma, blue, red.
  func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    let frame = canvas.frame
    let colour = y / 2 * frame.colourStride + x / 2
    return [frame.luma[y * frame.size.width + x], frame.blue[colour], frame.red[colour]]
  }

  /// The lumas of a box, row by row.
  func lumas(_ columns: Range<Int>, _ rows: Range<Int>) -> [UInt8] {
    let frame = canvas.frame
    return rows.flatMap { row in columns.map { frame.luma[row * frame.size.width + $0] } }
  }
}

extension VideoFrame {
  /// A frame of one colour.
  static func plain(_ width: Int, _ height: Int, luma: UInt8, blue: UInt8 = 128, red: UInt8 = 128) -> VideoFrame {
    var frame = VideoFrame(size: VideoSize(width: width, height: height), luma: luma)
    frame.blue = frame.blue.map { _ in blue }
    frame.red = frame.red.map { _ in red }
    return frame
  }
}

extension PaintedTile {
  /// A tile without a name, with a frame of one brightness.
  static func grey(
    _ luma: UInt8, version: Int = 1, size: (Int, Int) = (64, 36), at place: TilePlacement, look: PictureLook = .frame
  ) -> PaintedTile {
    let frame = TileFrame(image: .plain(size.0, size.1, luma: luma), version: version)
    return PaintedTile(placement: place, look: look, frame: frame, name: nil, label: "Alice", id: "a")
  }
}
