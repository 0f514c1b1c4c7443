import Codecs
import FileSource
import Glibc
import Logging
import Media

/// Frames from a pipe, Y4M or raw I420, played at a constant rate. If the writer is slower, frames are repeated; if it
/// is faster, it waits.
final class PipedVideo: VideoInput {
  private let mailbox: VideoFrameMailbox
  private let shape: PipeFormat
  private let rate: VideoRate
  private var number: Int64 = 0
  /// Whether no frame was waiting when `advance` was called.
  private var isRepetition = false
  private var bytes: [UInt8]?
  private var last: VideoFrame

  private static let usualRate = VideoRate(frames: 30)

  init(_ mailbox: VideoFrameMailbox, shape: PipeFormat, rate: VideoRate) {
    self.mailbox = mailbox
    self.shape = shape
    self.rate = rate
    last = VideoFrame(size: shape.size)
  }

  func peek() throws(InputError) -> Int64? { try mailbox.isOver() ? nil : rate.time(of: number) }

  func advance() {
    number += 1
    isRepetition = !takeWaitingFrame()
  }

  func replaceRepetition() -> Bool {
    guard isRepetition, takeWaitingFrame() else { return false }
    isRepetition = false
    return true
  }

  private func takeWaitingFrame() -> Bool {
    guard let next = mailbox.take() else { return false }
    bytes = next
    return true
  }

  func videoFrame() throws(InputError) -> VideoFrame {
    if let bytes {
      last = try VideoFrame(bytes, size: shape.size, layout: shape.layout)
      if shape.isFullRange { last.narrowRange() }
      self.bytes = nil
    }
    return last
  }

  func rewind() throws(InputError) { throw InputError("standard input cannot be played again") }

  // MARK: Before playback

  /// How long to wait for the first frame before the camera starts.
  private static let inputTimeout = Duration.seconds(2)
  /// How long to wait for a header if no options state the format.
  private static let headerTimeout = Duration.seconds(10)

  /// Starts to read.
  ///
  /// - Parameters:
  ///   - descriptor: standard input, or a substitute in a test.
  ///   - size: the size of raw frames. A header states its own.
  ///   - rate: the rate of raw frames, and of a header that states none.
  static func check(
    _ descriptor: Int32, size: VideoSize?, rate: VideoRate?, logger: Logger
  ) throws(InputError) -> CheckedVideo {
    if isatty(descriptor) == 1 { throw InputError("it is a terminal, and frames are expected from it") }
    let raw = size.flatMap { PipeFormat(size: $0, layout: .i420) }
    if let size, raw == nil { throw InputError("frames of \(size) are not possible") }
    let reader = PipeReader(descriptor, raw: raw, logger: logger)
    let wait = size == nil ? headerTimeout : inputTimeout
    switch try reader.mailbox.waitForFormat(wait) {
    case .y4m(let header)?: return try checkY4M(reader, header, rate: rate)
    case .raw?: return try checkRaw(reader, raw, rate: rate)
    case nil where raw == nil:
      throw InputError(
        "nothing has arrived from it for \(wait.components.seconds) s, and without a Y4M header the size must be given (--size)"
      )
    case nil:
      // The mailbox now treats all data as raw.
      return try checkRaw(reader, raw, rate: rate)
    }
  }

  private static func checkRaw(
    _ reader: PipeReader, _ shape: PipeFormat?, rate: VideoRate?
  ) throws(InputError) -> CheckedVideo {
    guard let shape, let rate = rate ?? usualRate else {
      throw InputError("it has raw frames, and their size must be given (--size)")
    }
    return try checked(reader, shape, rate, name: "raw frames")
  }

  private static func checkY4M(
    _ reader: PipeReader, _ header: Y4MHeader, rate: VideoRate?
  ) throws(InputError) -> CheckedVideo {
    guard let rate = header.rate ?? rate else {
      throw InputError("its frame rate is 0; a rate can be given (--fps)")
    }
    return try checked(reader, try PipeFormat(header), rate, name: "Y4M")
  }

  private static func checked(
    _ reader: PipeReader, _ shape: PipeFormat, _ rate: VideoRate, name: String
  ) throws(InputError) -> CheckedVideo {
    var notes: [String] = []
    switch try reader.mailbox.waitForFirst(inputTimeout) {
    case nil:
      notes.append("No frame has arrived from it yet; a black one is shown until one does.")
    case (hasFrame: false, let rest)?:
      throw InputError("it ended after \(rest) bytes, and a frame of \(shape.size) has \(shape.byteCount)")
    case (hasFrame: true, _)?:
      break
    }
    return CheckedVideo(
      summary: "\(name) \(shape.size), \(rate) a second", size: shape.size, interval: rate.interval, extent: .unknown,
      notes: notes,
      // The reader lives as long as this closure.
      open: { _ in PipedVideo(reader.mailbox, shape: shape, rate: rate) })
  }
}

/// The format of the frames in a pipe.
struct PipeFormat: Sendable, Hashable {
  let size: VideoSize
  let layout: PixelLayout
  /// Whether the range is full (black is 0 and white 255) instead of limited (16 and 235).
  let isFullRange: Bool
  /// The bytes of one frame.
  let byteCount: Int

  /// nil for a size that is not possible.
  init?(size: VideoSize, layout: PixelLayout, isFullRange: Bool = false) {
    guard let byteCount = layout.byteCount(for: size) else { return nil }
    self.size = size
    self.layout = layout
    self.isFullRange = isFullRange
    self.byteCount = byteCount
  }

  /// Creates the format that a header states.
  init(_ header: Y4MHeader) throws(InputError) {
    try VideoScaling.check(header.size)
    guard let shape = PipeFormat(size: header.size, layout: header.layout, isFullRange: header.isFullRange) else {
      throw InputError("its size is \(header.size)")
    }
    self = shape
  }
}
