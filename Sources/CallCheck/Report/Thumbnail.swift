package import Codecs
import Media

/// A small copy of a decoded frame. JSON contains only its time and size.
public struct Thumbnail: Sendable, Hashable, Codable {
  /// The time of the frame, in seconds since the check's start.
  public var time: Double
  public var width: Int
  public var height: Int
  /// The pixels; nil after decoding from JSON.
  package var videoFrame: VideoFrame?

  enum CodingKeys: String, CodingKey {
    case time, width, height
  }

  package init(time: Double, videoFrame: VideoFrame) {
    self.time = time
    width = videoFrame.size.width
    height = videoFrame.size.height
    self.videoFrame = videoFrame
  }

  /// The pixels as red, green and blue, row by row, 0 to 255 each (ITU-R BT.601, studio range); nil without pixels.
  package var rgb: [UInt8]? {
    guard let videoFrame, videoFrame.isWhole else { return nil }
    var bytes = [UInt8]()
    bytes.reserveCapacity(3 * width * height)
    for row in 0..<height {
      for column in 0..<width {
        let luma = 298 * (Int(videoFrame.luma[row * width + column]) - 16)
        let position = row / 2 * videoFrame.colourStride + column / 2
        let blue = Int(videoFrame.blue[position]) - 128
        let red = Int(videoFrame.red[position]) - 128
        for value in [luma + 409 * red, luma - 100 * blue - 208 * red, luma + 516 * blue] {
          bytes.append(UInt8(clamping: (value + 128) >> 8))
        }
      }
    }
    return bytes
  }
}
