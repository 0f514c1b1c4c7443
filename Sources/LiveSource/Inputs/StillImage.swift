import CPNG
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

  /// Reads a PNG file.
  static func check(_ file: OpenFile, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    guard let rate = rate ?? usualRate else { throw .changed }
    let image = try PNGFile.videoFrame(file)
    return CheckedVideo(
      summary: "PNG \(image.size)", size: image.size, interval: rate.interval, extent: .endless,
      open: { _ in StillImage(image, rate: rate) })
  }
}

/// Reads a PNG file with libpng: any depth, palette, grey and alpha, which is composited over black.
enum PNGFile {
  /// The maximum file size: the largest image with 16 bits a channel and no compression, and some more.
  static let maximumFile = 160 << 20

  static func videoFrame(_ file: OpenFile) throws(InputError) -> VideoFrame {
    let (size, pixels) = try pixels(file)
    return try VideoFrame(pixels, size: size, layout: .rgba)
  }

  /// Returns red, green, blue and alpha of each pixel.
  static func pixels(_ file: OpenFile) throws(InputError) -> (size: VideoSize, pixels: [UInt8]) {
    guard file.size <= UInt64(maximumFile) else {
      throw InputError("it has \(file.size) bytes, and \(maximumFile) are the maximum")
    }
    // The size is checked before the file is read and before memory for its pixels is allocated.
    let size = try size(refusing { () throws(MediaFile.ReadError) in try file.beginning(24) })
    try VideoScaling.check(size)
    let bytes = try refusing { () throws(MediaFile.ReadError) in try file.bytes(Int(file.size), from: 0) }
    return (size, try pixels(bytes, size: size))
  }

  /// Returns the size in the first chunk (PNG specification, 11.2.2).
  private static func size(_ bytes: [UInt8]) throws(InputError) -> VideoSize {
    guard bytes.count == 24, bytes[12..<16].elementsEqual("IHDR".utf8) else {
      throw InputError("its PNG header is malformed")
    }
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    return VideoSize(width: number(16), height: number(20))
  }

  private static func pixels(_ bytes: [UInt8], size: VideoSize) throws(InputError) -> [UInt8] {
    var image = png_image()
    let result = bytes.withUnsafeBytes { bytes -> (pixels: [UInt8]?, reason: String) in
      guard chatbot_png_begin(&image, bytes.baseAddress, bytes.count) != 0 else { return (nil, message(image)) }
      guard Int(image.width) == size.width, Int(image.height) == size.height else {
        chatbot_png_free(&image)
        return (nil, "its header is malformed")
      }
      var isRead = false
      let pixels = [UInt8](unsafeUninitializedCapacity: size.width * size.height * 4) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        start.initialize(repeating: 0, count: buffer.count)
        isRead = chatbot_png_finish(&image, start) != 0
        count = buffer.count
      }
      return isRead ? (pixels, "") : (nil, message(image))
    }
    guard let pixels = result.pixels else { throw InputError("libpng refuses it: \(result.reason)") }
    return pixels
  }

  private static func message(_ image: png_image) -> String {
    let text = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return text.filter { $0.isASCII && !$0.isNewline }
  }
}
