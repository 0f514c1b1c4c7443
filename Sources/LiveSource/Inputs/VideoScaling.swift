import Codecs
import Media

/// The size in which frames are encoded.
///
/// A requested size is used unchanged. Without one, frames keep their size, with two exceptions: an odd row or column
/// is cropped, because half of the software that handles frames expects even sides, and frames larger than a camera's
/// are scaled down, because no machine encodes them in real time.
struct VideoScaling: Sendable, Hashable {
  let source: VideoSize
  let target: VideoSize

  /// The possible widths and heights.
  static let sides = 16...4_096
  /// The largest frame that is encoded unless a size is requested; landscape or portrait.
  static let maximumSize = VideoSize(width: 1_920, height: 1_080)

  /// - Parameter wanted: even sides within the limits; see `check(wanted:)`.
  init(_ source: VideoSize, wanted: VideoSize?) {
    self.source = source
    target = wanted ?? Self.target(for: source)
  }

  /// What a user may want to know; nil if the frames keep their size.
  var note: String? {
    if target == source { return nil }
    return isCrop
      ? "Its frames of \(source) are shown as \(target): sides are even."
      : "Its frames of \(source) are shown as \(target)."
  }

  func fit(_ videoFrame: VideoFrame) throws(InputError) -> VideoFrame {
    if videoFrame.size == target { return videoFrame }
    if isCrop, videoFrame.size == source { return videoFrame.cropped(to: target) }
    return try coding { () throws(CodecError) in try videoFrame.scaled(to: target) }
  }

  private var isCrop: Bool { target == Self.even(source) }

  private static func even(_ size: VideoSize) -> VideoSize {
    VideoSize(width: size.width & ~1, height: size.height & ~1)
  }

  private static func target(for source: VideoSize) -> VideoSize {
    let isLandscape = source.width >= source.height
    let limit = isLandscape ? maximumSize : VideoSize(width: maximumSize.height, height: maximumSize.width)
    guard source.width > limit.width || source.height > limit.height else { return even(source) }
    let scale = min(Double(limit.width) / Double(source.width), Double(limit.height) / Double(source.height))
    let size = VideoSize(
      width: Int((Double(source.width) * scale / 2).rounded()) * 2,
      height: Int((Double(source.height) * scale / 2).rounded()) * 2)
    return VideoSize(width: max(sides.lowerBound, size.width), height: max(sides.lowerBound, size.height))
  }

  /// Refuses frames that are too small or too large, before anything is allocated for them.
  static func check(_ source: VideoSize) throws(InputError) {
    guard sides.contains(source.width), sides.contains(source.height) else {
      throw InputError(
        "its frames are \(source), and a side must be \(sides.lowerBound) to \(sides.upperBound) pixels")
    }
  }

  /// Refuses a requested size that cannot be encoded.
  static func check(wanted: VideoSize) throws(InputError) {
    guard sides.contains(wanted.width), sides.contains(wanted.height) else {
      throw InputError(
        "The size \(wanted) is not possible: a side must be \(sides.lowerBound) to \(sides.upperBound) pixels.")
    }
    guard wanted.width.isMultiple(of: 2), wanted.height.isMultiple(of: 2) else {
      throw InputError("The size \(wanted) is not possible: both sides must be even.")
    }
  }
}
