import Codecs
import FileSource
import Media

/// A still image, repeated at a constant rate.
final class StillImage: VideoInput {
  private let image: VideoFrame
  private let rate: VideoRate
  private var number: Int64 = 0

  init(_ image: VideoFrame, rate: VideoRate) {
    self.image = image
    self.rate = rate
  }

  func peek() -> Int64? { rate.time(of: number) }
  func advance() { number += 1 }
  func videoFrame() -> VideoFrame { image }
  func rewind() { number = 0 }

  /// Five frames a second unless requested otherwise: far above the rate that is judged a freeze, and nearly nothing to
  /// encode. A requested keyframe does not wait for the next frame.
  static let usualRate = VideoRate(frames: 5)
  /// The maximum file size: the largest image with 16 bits a channel and no compression, and some more.
  static let maximumFile = 160 << 20

  /// Reads a PNG file by the program `chatbot-media`. Transparent parts are composited over black.
  static func check(_ file: OpenFile, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    guard let rate = rate ?? usualRate else { throw .changed }
    guard file.size <= UInt64(maximumFile) else {
      throw InputError("it has \(file.size) bytes, and \(maximumFile) are the maximum")
    }
    // The size is checked before the file is read and before memory for its pixels is allocated.
    try VideoScaling.check(size(refusing { () throws(MediaFile.ReadError) in try file.beginning(24) }))
    let image = try picture(file)
    return CheckedVideo(
      summary: "PNG \(image.size)", size: image.size, interval: rate.interval, extent: .endless,
      open: { _ in StillImage(image, rate: rate) })
  }

  /// Returns the size in the first chunk (PNG specification, 11.2.2).
  private static func size(_ bytes: [UInt8]) throws(InputError) -> VideoSize {
    guard bytes.count == 24, bytes[12..<16].elementsEqual("IHDR".utf8) else {
      throw InputError("its PNG header is malformed")
    }
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    return VideoSize(width: number(16), height: number(20))
  }

  private static func picture(_ file: OpenFile) throws(InputError) -> VideoFrame {
    let input = try WorkerVideo(file, track: 0, origin: 0, orientation: .upright)
    guard try input.peek() != nil else {
      throw InputError("its picture cannot be decoded: \(input.undecodable.first?.reason ?? "it is not complete")")
    }
    try input.advance()
    let image = try input.videoFrame()
    try VideoScaling.check(image.size)
    return image
  }
}
