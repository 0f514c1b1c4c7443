import Codecs
import Media

/// The header line of a Y4M file (yuv4mpeg(5) of the MJPEG tools): words whose first letter names the parameter.
struct Y4MHeader: Hashable {
  let size: VideoSize
  /// The frame rate; nil if the file states that it is unknown (0:0).
  let rate: VideoRate?
  let layout: PixelLayout
  /// Whether the range is full (black is 0 and white 255) instead of limited (16 and 235).
  let isFullRange: Bool

  /// The maximum length of the header line.
  static let maximumLine = 1_024
  static let signature = "YUV4MPEG2"

  /// Parses a header line, without its end.
  init(parsing line: some Collection<UInt8>) throws(InputError) {
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard words.first.map(String.init) == Self.signature else { throw InputError("its Y4M header is malformed") }
    var (width, height): (Int?, Int?)
    var rate = "0:0"
    var colours = "420jpeg"
    var interlacing = "p"
    var isFullRange = false
    for word in words.dropFirst() {
      let value = String(word.dropFirst())
      switch word.first {
      case "W": width = Int(value)
      case "H": height = Int(value)
      case "F": rate = value
      case "C": colours = value
      case "I": interlacing = value
      case "X" where value == "COLORRANGE=FULL": isFullRange = true
      default: break
      }
    }
    guard let width, let height, width > 0, height > 0 else {
      throw InputError("its Y4M header states no size")
    }
    self.size = VideoSize(width: width, height: height)
    guard ["p", "?", ""].contains(interlacing) else {
      throw InputError("its video is interlaced, and only progressive video is played")
    }
    self.layout = try Self.layout(colours)
    self.isFullRange = isFullRange
    self.rate = try Self.rate(rate)
  }

  private static func layout(_ colours: String) throws(InputError) -> PixelLayout {
    switch colours {
    case "420", "420jpeg", "420mpeg2", "420paldv": return .i420
    case "422": return .i422
    case "444": return .i444
    case "mono": return .grey
    default:
      let name = printable(colours)
      if colours.contains("p1") || colours.hasPrefix("mono") {
        throw InputError("its frames have more than 8 bits a value (\(name)), and 8 are played")
      }
      throw InputError("its colours are \(name), and only 420, 422, 444 and mono with 8 bits are played")
    }
  }

  private static func rate(_ text: String) throws(InputError) -> VideoRate? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard parts.count == 2, let frames = parts[0], let seconds = parts[1] else {
      throw InputError("its frame rate \(printable(text)) is not a fraction")
    }
    if frames == 0, seconds == 0 { return nil }
    guard let rate = VideoRate(frames: frames, seconds: seconds) else {
      throw InputError("its frame rate is \(frames):\(seconds), and \(VideoRate.limits) is played")
    }
    return rate
  }

  private static func printable(_ text: String) -> String {
    String(text.prefix(20).filter { $0.isASCII && ($0.isLetter || $0.isNumber || "_:.-".contains($0)) })
  }
}
