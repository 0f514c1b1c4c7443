internal import CYUV
package import Codecs
package import Media

/// An output frame while it is painted: I420 in one buffer, luma first, then blue, then red, rows without padding.
///
/// A canvas belongs to one thread at a time.
package final class Canvas {
  /// Both sides are even.
  package let size: VideoSize
  package let byteCount: Int
  private let memory: UnsafeMutablePointer<UInt8>

  /// Creates a black canvas.
  ///
  /// - Parameter size: odd sides lose a pixel; a side has at least 2.
  package init(_ size: VideoSize) {
    self.size = VideoSize(width: max(2, size.width & ~1), height: max(2, size.height & ~1))
    byteCount = self.size.width * self.size.height / 2 * 3
    memory = .allocate(capacity: byteCount)
    fill(box, .black)
  }

  deinit { memory.deallocate() }

  /// All of the canvas.
  var box: CanvasBox { CanvasBox(x: 0, y: 0, width: size.width, height: size.height) }

  /// Copies the whole frame; nothing if the target is shorter than `byteCount`.
  package func copy(into target: UnsafeMutableRawBufferPointer) {
    guard target.count >= byteCount else { return }
    target.copyMemory(from: UnsafeRawBufferPointer(start: memory, count: byteCount))
  }

  /// A copy of the whole frame.
  package var frame: VideoFrame {
    var frame = VideoFrame(size: size)
    frame.luma = Array(UnsafeBufferPointer(start: luma.start, count: size.width * size.height))
    frame.blue = Array(UnsafeBufferPointer(start: blue.start, count: blue.width * blue.height))
    frame.red = Array(UnsafeBufferPointer(start: red.start, count: red.width * red.height))
    return frame
  }

  private struct Plane {
    let start: UnsafeMutablePointer<UInt8>
    let width: Int
    let height: Int

    /// The bytes from the left end of a box's row on.
    func row(_ y: Int, from x: Int) -> UnsafeMutablePointer<UInt8> { start + y * width + x }
  }

  private var luma: Plane { Plane(start: memory, width: size.width, height: size.height) }
  private var blue: Plane {
    Plane(start: memory + size.width * size.height, width: size.width / 2, height: size.height / 2)
  }
  private var red: Plane {
    Plane(start: memory + size.width * size.height / 4 * 5, width: size.width / 2, height: size.height / 2)
  }
}

// MARK: - Colours

extension Canvas {
  /// Fills what is inside the canvas of a box.
  func fill(_ box: CanvasBox, _ colour: CanvasColour) {
    guard let box = box.intersection(self.box) else { return }
    fill(luma, box, colour.luma)
    fill(blue, box.halved, colour.blue)
    fill(red, box.halved, colour.red)
  }

  private func fill(_ plane: Plane, _ box: CanvasBox, _ value: UInt8) {
    for y in box.rows { plane.row(y, from: box.x).update(repeating: value, count: box.width) }
  }

  /// Fills the part of `outer` that `inner`, a box within it, does not cover.
  func fill(_ outer: CanvasBox, around inner: CanvasBox, _ colour: CanvasColour) {
    for part in outer.parts(around: inner) { fill(part, colour) }
  }

  /// Makes what is in a box darker.
  ///
  /// - Parameter share: how much of the brightness and colour stays, of 256.
  func shade(_ box: CanvasBox, share: UInt16) {
    guard let box = box.intersection(self.box) else { return }
    let share = min(share, 256)
    shade(luma, box, share, towards: 16)
    shade(blue, box.halved, share, towards: 128)
    shade(red, box.halved, share, towards: 128)
  }

  private func shade(_ plane: Plane, _ box: CanvasBox, _ share: UInt16, towards target: UInt16) {
    // At most 256 * 255.
    let rest = (256 - share) * target
    for y in box.rows {
      let row = plane.row(y, from: box.x)
      for x in 0..<box.width { row[x] = UInt8(truncatingIfNeeded: (UInt16(row[x]) &* share &+ rest) &>> 8) }
    }
  }

  /// Covers pixels with a colour as far as a bitmap says.
  ///
  /// - Parameters:
  ///   - mask: its upper left corner is at `x`, `y`, which are rounded down to even numbers.
  ///   - clip: nothing outside of it changes.
  func blend(_ mask: CoverageMask, x: Int, y: Int, _ colour: CanvasColour, clip: CanvasBox) {
    let place = CanvasBox(x: x & ~1, y: y & ~1, width: mask.width, height: mask.height)
    guard let box = place.intersection(clip)?.intersection(self.box) else { return }
    mask.coverage.withUnsafeBufferPointer { coverage in
      guard let start = coverage.baseAddress else { return }
      for y in box.rows {
        let row = luma.row(y, from: box.x)
        let line = start + (y - place.y) * mask.width + (box.x - place.x)
        for x in 0..<box.width { row[x] = Self.mixed(row[x], colour.luma, UInt16(line[x])) }
      }
      for y in box.halved.rows {
        let (blues, reds) = (blue.row(y, from: 0), red.row(y, from: 0))
        for x in box.halved.columns {
          // The mean of four pixels, those outside of the mask being empty.
          var sum: UInt16 = 2
          for row in max(box.y, 2 * y)..<min(2 * y + 2, box.y + box.height) {
            for column in max(box.x, 2 * x)..<min(2 * x + 2, box.x + box.width) {
              sum += UInt16(start[(row - place.y) * mask.width + (column - place.x)])
            }
          }
          blues[x] = Self.mixed(blues[x], colour.blue, sum / 4)
          reds[x] = Self.mixed(reds[x], colour.red, sum / 4)
        }
      }
    }
  }

  /// - Parameter share: of the second value, 0 to 255.
  @inline(__always)
  private static func mixed(_ below: UInt8, _ above: UInt8, _ share: UInt16) -> UInt8 {
    // At most 255 * 255 + 127.
    UInt8(truncatingIfNeeded: (UInt16(below) &* (255 &- share) &+ UInt16(above) &* share &+ 127) / 255)
  }
}

// MARK: - Frames

extension Canvas {
  /// Scales a part of a frame into a box.
  ///
  /// - Returns: whether it was drawn; false for parts and boxes that are not inside, or not at even places.
  func draw(_ frame: VideoFrame, part: CanvasBox, into target: CanvasBox) -> Bool {
    guard frame.isWhole, part.isInside(width: frame.size.width, height: frame.size.height),
      target.isInside(width: size.width, height: size.height), (part.x | part.y | target.x | target.y) & 1 == 0
    else { return false }
    let (stride, colours) = (frame.size.width, frame.colourStride)
    let (start, colourStart) = (part.y * stride + part.x, part.y / 2 * colours + part.x / 2)
    let half = target.halved
    let code = frame.luma.withUnsafeBufferPointer { lumas in
      frame.blue.withUnsafeBufferPointer { blues in
        frame.red.withUnsafeBufferPointer { reds in
          guard let lumas = lumas.baseAddress, let blues = blues.baseAddress, let reds = reds.baseAddress else {
            return Int32(-1)
          }
          return I420Scale(
            lumas + start, Int32(stride), blues + colourStart, Int32(colours), reds + colourStart, Int32(colours),
            Int32(part.width), Int32(part.height), luma.row(target.y, from: target.x), Int32(luma.width),
            blue.row(half.y, from: half.x), Int32(blue.width), red.row(half.y, from: half.x), Int32(red.width),
            Int32(target.width), Int32(target.height), kFilterBox)
        }
      }
    }
    return code == 0
  }
}
