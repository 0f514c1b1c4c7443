import Codecs
import Media

/// Keeps a few small frames, evenly distributed however long the call lasts.
struct ThumbnailStrip: Sendable {
  /// The maximum width in pixels.
  private static let width = 160
  /// The initial interval between frames, in seconds.
  private static let firstDistance = 0.5

  private let capacity: Int
  private var distance = firstDistance
  private var next = 0.0
  private var kept: [Thumbnail] = []

  /// Creates an empty strip.
  ///
  /// - Parameter most: the maximum number of chosen frames; twice as many are kept.
  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Whether the strip needs a frame now.
  func wants(at time: Double) -> Bool { capacity > 0 && time >= next }

  mutating func add(_ view: VideoFrameView, at time: Double) {
    next = time + distance
    guard let small = Self.small(view) else { return }
    kept.append(Thumbnail(time: roundedForReport(time), videoFrame: small))
    if kept.count >= 2 * capacity {
      kept = stride(from: 0, to: kept.count, by: 2).map { kept[$0] }
      distance *= 2
      next = (kept.last?.time ?? time) + distance
    }
  }

  /// The chosen frames, evenly distributed.
  var chosen: [Thumbnail] {
    if kept.count <= capacity { return kept }
    return (0..<capacity).map { kept[$0 * (kept.count - 1) / max(1, capacity - 1)] }
  }

  private static func small(_ view: VideoFrameView) -> VideoFrame? {
    let size = view.size
    guard size.width > width else { return view.copy }
    let height = max(2, size.height * width / size.width / 2 * 2)
    return try? view.copy.scaled(to: VideoSize(width: width, height: min(height, 640)))
  }
}
