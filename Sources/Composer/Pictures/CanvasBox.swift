/// A rectangle of pixels.
struct CanvasBox: Sendable, Hashable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  var columns: Range<Int> { x..<(x + width) }
  var rows: Range<Int> { y..<(y + height) }

  /// The same place in a chroma plane; odd ends are rounded outwards.
  var halved: CanvasBox {
    let (left, top) = (x >> 1, y >> 1)
    return CanvasBox(x: left, y: top, width: (x + width + 1) >> 1 - left, height: (y + height + 1) >> 1 - top)
  }

  /// What both have in common; nil if that is nothing.
  func intersection(_ other: CanvasBox) -> CanvasBox? {
    let (left, top) = (max(x, other.x), max(y, other.y))
    let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
    guard left < right, top < bottom else { return nil }
    return CanvasBox(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The smallest box that has both in it.
  func union(_ other: CanvasBox) -> CanvasBox {
    let (left, top) = (min(x, other.x), min(y, other.y))
    let (right, bottom) = (max(x + width, other.x + other.width), max(y + height, other.y + other.height))
    return CanvasBox(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// Whether it has pixels and all of them are in a frame of this size.
  func isInside(width: Int, height: Int) -> Bool {
    x >= 0 && y >= 0 && self.width > 0 && self.height > 0 && self.width <= width - x && self.height <= height - y
  }

  /// The box without a margin at each side, at least one pixel.
  func inset(_ margin: Int) -> CanvasBox {
    CanvasBox(x: x + margin, y: y + margin, width: max(1, width - 2 * margin), height: max(1, height - 2 * margin))
  }

  /// What is above, below, left and right of a box within this one.
  func parts(around inner: CanvasBox) -> [CanvasBox] {
    let (right, bottom) = (inner.x + inner.width, inner.y + inner.height)
    return [
      CanvasBox(x: x, y: y, width: width, height: inner.y - y),
      CanvasBox(x: x, y: bottom, width: width, height: y + height - bottom),
      CanvasBox(x: x, y: inner.y, width: inner.x - x, height: inner.height),
      CanvasBox(x: right, y: inner.y, width: x + width - right, height: inner.height),
    ].filter { $0.width > 0 && $0.height > 0 }
  }
}
