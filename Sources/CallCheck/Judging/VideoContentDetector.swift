import Codecs
import Media

/// Looks at decoded frames one after the other: whether they are black, and whether one shows the same as the one before.
///
/// At most about 160x120 points of a frame are looked at.
struct VideoContentDetector: Sendable {
  /// What was seen of one frame.
  struct Look: Sendable, Hashable {
    /// The mean luma.
    let brightness: Double
    let isBlack: Bool
    /// Whether it shows the same as the frame before.
    let isSame: Bool
  }

  /// A point up to this luma is black; 16 is black in the strict sense.
  private static let blackest: UInt8 = 32
  /// Of how many points one may be brighter in a black frame.
  private static let brighter = 100
  /// How much points may differ in the mean from the frame before, and from the first one that showed the same: encoders
  /// continue to make a standing frame finer.
  private static let sameAsBefore = 0.5
  private static let sameAsFirst = 3.0
  /// How much the points of one part of the frame may differ from the frame before in the mean.
  private static let sameInPart = 4.0
  /// Into how many parts a frame is divided in each direction.
  private static let parts = 12
  private static let points = 160

  private var size = VideoSize(width: 0, height: 0)
  private var before: [UInt8] = []
  private var first: [UInt8] = []

  mutating func look(at view: VideoFrameView) -> Look {
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
    return Look(
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
