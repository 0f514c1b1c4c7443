import Codecs
import Media
import Pattern

/// Compares decoded frames of the pattern with the painted ones.
struct SSIMEstimator: Sendable {
  /// The PSNR that is reported for identical frames, in dB.
  private static let highest = 60.0
  /// SSIM's constants for 8 bits, for windows of 64 pixels: (0.01 · 255)² and (0.03 · 255)².
  private static let c1 = 6.502_5
  private static let c2 = 58.522_5
  private static let window = 8
  private static let step = 4

  private var painter: PatternPainter?
  /// The size in which the pattern was painted: the largest received, because it is only ever scaled down on the way.
  private var painted = VideoSize(width: 0, height: 0)
  private var psnr = (sum: 0.0, worst: Double.infinity)
  private var ssim = (sum: 0.0, worst: Double.infinity)
  private var videoFrames = 0

  /// Records a size in which the pattern was received or sent.
  mutating func learn(_ size: VideoSize) {
    if size.width * size.height > painted.width * painted.height { painted = size }
  }

  /// Releases the painter's memory.
  mutating func release() { painter = nil }

  /// Compares one frame; ignores it if its aspect ratio differs from that of the painted one.
  mutating func compare(_ view: VideoFrameView, with reading: PatternReading) {
    let size = view.size
    guard abs(size.width * painted.height - size.height * painted.width) <= max(painted.width, painted.height) * 2
    else { return }
    if painter?.size != painted || painter?.streamID != reading.streamID {
      painter = PatternPainter(size: painted, streamID: reading.streamID)
    }
    guard let whole = painter?.videoFrame(frame: reading.frameNumber, time: reading.time),
      let wanted = try? whole.scaled(to: size)
    else { return }
    let likeness = Self.likeness(of: view.luma, to: wanted)
    psnr = (psnr.sum + likeness.psnr, min(psnr.worst, likeness.psnr))
    ssim = (ssim.sum + likeness.ssim, min(ssim.worst, likeness.ssim))
    videoFrames += 1
  }

  /// The result of all comparisons; nil if there was none.
  var quality: PatternReport.FrameQuality? {
    guard videoFrames > 0 else { return nil }
    let count = Double(videoFrames)
    return .init(
      videoFrames: videoFrames, psnr: roundedForReport(psnr.sum / count), psnrWorst: roundedForReport(psnr.worst),
      ssim: roundedForReport(ssim.sum / count),
      ssimWorst: roundedForReport(ssim.worst))
  }

  /// Returns the PSNR and the mean SSIM of two luma planes of the same size.
  static func likeness(of plane: VideoFrameView.Plane, to videoFrame: VideoFrame) -> (psnr: Double, ssim: Double) {
    videoFrame.luma.withUnsafeBufferPointer { wanted in
      guard let other = wanted.baseAddress, wanted.count == plane.width * plane.height else { return (0, 0) }
      var squares = 0
      for row in 0..<plane.height {
        let (one, two) = (plane.bytes + row * plane.stride, other + row * plane.width)
        for column in 0..<plane.width {
          let difference = Int(one[column]) - Int(two[column])
          squares += difference * difference
        }
      }
      let error = Double(squares) / Double(max(1, wanted.count))
      let psnr = error == 0 ? highest : min(highest, 10 * decadicLogarithm(65_025 / error))
      return (psnr, similarity(plane, other))
    }
  }

  private static func similarity(_ plane: VideoFrameView.Plane, _ other: UnsafePointer<UInt8>) -> Double {
    var sum = 0.0
    var windows = 0
    for top in stride(from: 0, through: plane.height - window, by: step) {
      for left in stride(from: 0, through: plane.width - window, by: step) {
        sum += similarity(
          plane.bytes + top * plane.stride + left, plane.stride, other + top * plane.width + left, plane.width)
        windows += 1
      }
    }
    return windows == 0 ? 0 : sum / Double(windows)
  }

  /// Returns the SSIM of one window (Wang et al., 2004).
  private static func similarity(
    _ one: UnsafePointer<UInt8>, _ stride: Int, _ two: UnsafePointer<UInt8>, _ otherStride: Int
  ) -> Double {
    var (sumOne, sumTwo, squaresOne, squaresTwo, products) = (0, 0, 0, 0, 0)
    for row in 0..<window {
      for column in 0..<window {
        let a = Int(one[row * stride + column])
        let b = Int(two[row * otherStride + column])
        sumOne &+= a
        sumTwo &+= b
        squaresOne &+= a &* a
        squaresTwo &+= b &* b
        products &+= a &* b
      }
    }
    let count = Double(window * window)
    let (meanOne, meanTwo) = (Double(sumOne) / count, Double(sumTwo) / count)
    let varianceOne = Double(squaresOne) / count - meanOne * meanOne
    let varianceTwo = Double(squaresTwo) / count - meanTwo * meanTwo
    let covariance = Double(products) / count - meanOne * meanTwo
    return (2 * meanOne * meanTwo + c1) * (2 * covariance + c2)
      / ((meanOne * meanOne + meanTwo * meanTwo + c1) * (varianceOne + varianceTwo + c2))
  }
}
