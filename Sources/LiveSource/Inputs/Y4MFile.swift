import Codecs
import FileSource
import Media

/// A Y4M file: a header line, then frames, each after a header line of its own.
struct Y4MFile: Sendable {
  let header: Y4MHeader
  let file: OpenFile
  /// The bytes of one frame.
  let videoFrameBytes: Int
  /// The position of the first frame's header line.
  let start: UInt64

  /// The maximum length of a frame's header line.
  static let maximumLine = 256

  init(_ file: OpenFile) throws(InputError) {
    self.file = file
    let beginning = try refusing { () throws(MediaFile.ReadError) in try file.beginning(Y4MHeader.maximumLine) }
    guard let end = beginning.firstIndex(of: UInt8(ascii: "\n")) else {
      throw InputError("its Y4M header has no end within \(Y4MHeader.maximumLine) bytes")
    }
    header = try Y4MHeader(parsing: beginning[..<end])
    try VideoScaling.check(header.size)
    guard let bytes = header.layout.byteCount(for: header.size) else {
      throw InputError("its size is \(header.size)")
    }
    videoFrameBytes = bytes
    start = UInt64(end + 1)
  }

  /// Returns the position of a frame's bytes from that of its header line; nil at the file's end and if the frame is
  /// truncated.
  func pixels(afterLineAt position: UInt64) throws(InputError) -> UInt64? {
    let line = try refusing { () throws(MediaFile.ReadError) in try file.bytes(Self.maximumLine, from: position) }
    guard !line.isEmpty else { return nil }
    guard "FRAME".utf8.starts(with: line.prefix(5)) else {
      throw InputError("no frame begins at byte \(position)")
    }
    guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
      if line.count < Self.maximumLine { return nil }
      throw InputError("the frame's header line at byte \(position) has no end")
    }
    let pixels = position + UInt64(end + 1)
    return file.size - pixels >= UInt64(videoFrameBytes) ? pixels : nil
  }

  /// Counts the frames.
  ///
  /// - Returns: the number of whole frames, and whether more bytes follow the last of them.
  func count() throws(InputError) -> (videoFrames: Int64, isCutOff: Bool) {
    var position = start
    var videoFrames: Int64 = 0
    while let pixels = try pixels(afterLineAt: position) {
      position = pixels + UInt64(videoFrameBytes)
      videoFrames += 1
    }
    return (videoFrames, position < file.size)
  }

  /// Checks a whole file, so that no error appears during playback.
  ///
  /// - Parameter rate: the rate of a file that states none.
  static func check(_ file: OpenFile, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    let y4m = try Y4MFile(file)
    guard let rate = y4m.header.rate ?? rate else {
      throw InputError("its frame rate is 0; a rate can be given (--fps)")
    }
    let (videoFrames, isCutOff) = try y4m.count()
    guard videoFrames > 0 else {
      throw InputError(
        "it has no whole frame: one of \(y4m.header.size) has \(y4m.videoFrameBytes) bytes")
    }
    let (end, tooLong) = rate.endTime(of: videoFrames)
    if tooLong { throw InputError("it is longer than 100 h") }
    return CheckedVideo(
      summary: "Y4M \(y4m.header.size), \(videoFrames) frames at \(rate) a second", size: y4m.header.size,
      interval: rate.interval, extent: .range(0..<end),
      notes: isCutOff ? ["It is truncated; the whole frames are played."] : [],
      open: { _ in Y4MVideo(y4m, rate: rate) })
  }
}

/// The frames of a Y4M file, read on demand.
final class Y4MVideo: VideoInput {
  private let y4m: Y4MFile
  private let rate: VideoRate
  /// The next frame: its number, the position of its header line, and that of its bytes once known.
  private var number: Int64 = 0
  private var line: UInt64
  private var pixels: UInt64?
  /// The position of the bytes of the frame that `advance` reached.
  private var shown: UInt64?

  init(_ y4m: Y4MFile, rate: VideoRate) {
    self.y4m = y4m
    self.rate = rate
    line = y4m.start
  }

  func peek() throws(InputError) -> Int64? {
    if pixels == nil { pixels = try y4m.pixels(afterLineAt: line) }
    return pixels == nil ? nil : rate.time(of: number)
  }

  func advance() throws(InputError) {
    guard try peek() != nil, let pixels else { return }
    shown = pixels
    line = pixels + UInt64(y4m.videoFrameBytes)
    number += 1
    self.pixels = nil
  }

  func videoFrame() throws(InputError) -> VideoFrame {
    guard let shown else { throw .changed }
    let file = y4m.file
    let count = y4m.videoFrameBytes
    let bytes = try refusing { () throws(MediaFile.ReadError) in try file.bytes(count, from: shown) }
    guard bytes.count == count else { throw .changed }
    var videoFrame = try VideoFrame(bytes, size: y4m.header.size, layout: y4m.header.layout)
    if y4m.header.isFullRange { videoFrame.narrowRange() }
    return videoFrame
  }

  func rewind() {
    number = 0
    line = y4m.start
    pixels = nil
  }
}
