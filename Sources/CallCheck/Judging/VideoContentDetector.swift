import Codecs
import Media

/// Inspects decoded frames in order: whether each is black, and whether it looks like the previous one.
///
/// At most about 160x120 pixels of a frame are inspected.
struct VideoContentDetector: Sendable {
  /// The result for one frame.
  struct Analysis: Sendable, Hashable {
    /// The mean luma.
    let brightness: Double
    let isBlack: Bool
    /// Whether the frame looks like the previous one.
    let isSame: Bool
  }

  /// A pixel up to this luma is black; 16 is black in the strict sense.
  private static let blackest: UInt8 = 32
  /// In a black frame, at most one of this many pixels may be brighter.
  private static let brighter = 100
  /// The mean difference that pixels of a repeated frame may have from the previous frame, and from the first of the
  /// repeated frames: encoders keep refining a static image.
  private static let sameAsBefore = 0.5
  private static let sameAsFirst = 3.0
  /// The mean difference from the previous frame that is allowed in any part of the frame.
  private static let sameInPart = 4.0
  /// The number of parts of a frame in each direction.
  private static let parts = 12
  private static let points = 160

  private var size = VideoSize(width: 0, height: 0)
  private var before: [UInt8] = []
  private var first: [UInt8] = []

  mutating func analyze(_ view: VideoFrameView) -> Analysis {
    let plane = view.luma
    let step = max(1, max(plane.width, plane.height) / Self.points)
    let (columns, rows) = ((plane.width + step - 1) / step, (plane.height + step - 1) / step)
    let isComparable = size == view.size && before.count == columns * rows
    var now = [UInt8](repeating: 0, count: columns * rows)
    var sum = 0
    var bright = 0
    var sums = Differences(parts: Self.parts)
    now.withUnsafeMutableBufferPointer { now in
      before.withUnsafeBufferPointer { before in
        first.withUnsafeBufferPointer { first in
          for row in 0..<rows {
            let line = plane.bytes + row * step * plane.stride
            let partRow = row * Self.parts / rows * Self.parts
            for column in 0..<columns {
              let value = line[column * step]
              let position = row * columns + column
              now[position] = value
              sum += Int(value)
              if value > Self.blackest { bright += 1 }
              if isComparable {
                let change = abs(Int(value) - Int(before[position]))
                sums.before += change
                sums.first += abs(Int(value) - Int(first[position]))
                sums.inPart[partRow + column * Self.parts / columns] += change
              }
            }
          }
        }
      }
    }
    let count = max(1, now.count)
    let isSame = isComparable && sums.areSmall(count: count)
    size = view.size
    if !isSame { first = now }
    before = now
    return Analysis(
      brightness: Double(sum) / Double(count), isBlack: bright * Self.brighter <= count, isSame: isSame)
  }

  private struct Differences {
    var before = 0
    var first = 0
    var inPart: [Int]

    init(parts: Int) {
      inPart = [Int](repeating: 0, count: parts * parts)
    }

    func areSmall(count: Int) -> Bool {
      let inOnePart = Double(count) / Double(inPart.count)
      return Double(before) <= VideoContentDetector.sameAsBefore * Double(count)
        && Double(first) <= VideoContentDetector.sameAsFirst * Double(count)
        && Double(inPart.max() ?? 0) <= VideoContentDetector.sameInPart * max(1, inOnePart)
    }
  }
}
