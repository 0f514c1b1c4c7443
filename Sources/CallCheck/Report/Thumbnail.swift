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
}
