import Codecs
import FileSource
import Media

/// A Y4M file: a header line, then frames, each behind a line of its own.
struct Y4MFile: Sendable {
  let header: Y4MHeader
  let file: OpenFile
  /// Bytes of one frame.
  let videoFrameBytes: Int
  /// Where the first frame's line begins.
  let start: UInt64

  /// The longest line before a frame.
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

  /// Where a frame's bytes begin, from where its line begins; nil at the file's end and where it is cut off.
  func pixels(afterLineAt position: UInt64) throws(InputError) -> UInt64? {
    let line = try refusing { () throws(MediaFile.ReadError) in try file.bytes(Self.maximumLine, from: position) }
    guard !line.isEmpty else { return nil }
    guard "FRAME".utf8.starts(with: line.prefix(5)) else {
      throw InputError("at byte \(position) no frame begins")
    }
    guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
      if line.count < Self.maximumLine { return nil }
      throw InputError("at byte \(position) a frame's line has no end")
    }
    let pixels = position + UInt64(end + 1)
    return file.size - pixels >= UInt64(videoFrameBytes) ? pixels : nil
  }

  /// Walks over all frames.
  ///
  /// - Returns: how many are whole, and whether something follows the last of them.
  func count() throws(InputError) -> (videoFrames: Int64, isCutOff: Bool) {
    var position = start
    var videoFrames: Int64 = 0
    while let pixels = try pixels(afterLineAt: position) {
      position = pixels + UInt64(videoFrameBytes)
      videoFrames += 1
    }
    return (videoFrames, position < file.size)
  }

  /// Checks a file through, so that playing it meets no surprise.
  ///
  /// - Parameter rate: the rate to take for a file that tells none.
  static func check(_ file: OpenFile, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    let y4m = try Y4MFile(file)
    guard let rate = y4m.header.rate ?? rate else {
      throw InputError("its frame rate is 0; a rate can be given (--fps)")
    }
    let (videoFrames, isCutOff) = try y4m.count()
    guard videoFrames > 0 else {
      throw InputError(
        "it holds no whole frame: one of \(y4m.header.size) has \(y4m.videoFrameBytes) bytes")
    }
    let (end, tooLong) = rate.endTime(of: videoFrames)
    if tooLong { throw InputError("it is longer than 100 h") }
    return CheckedVideo(
      summary: "Y4M \(y4m.header.size), \(videoFrames) frames at \(rate) a second", size: y4m.header.size,
      interval: rate.interval, extent: .range(0..<end),
      remarks: isCutOff ? ["It is cut off; what is whole is played."] : [],
      open: { _ in Y4MVideo(y4m, rate: rate) })
  }
}
