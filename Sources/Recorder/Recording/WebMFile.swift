import Codecs
import Media
import NIOCore

/// The WebM file of a participant: picture and sound.
final class WebMFile: MediaFile {
  static let ending = "webm"

  let output: OutputFile
  let start: Duration
  private(set) var isComplete = false
  private var writer: WebMWriter
  private var waitingSince: ContinuousClock.Instant?

  /// Begins the file.
  ///
  /// - Parameters:
  ///   - size: of the first picture.
  ///   - start: where the file's time zero lies.
  ///   - date: when that was, in nanoseconds since 2001-01-01 00:00 UTC.
  init(
    output: OutputFile, size: PictureSize, start: Duration, date: Int64
  ) throws(Recorder.DiskError) {
    self.output = output
    self.start = start
    writer = WebMWriter(video: size, audio: nil, date: date)
    try write(writer.start())
  }

  var duration: Duration { .milliseconds(writer.duration) }

  func add(_ placed: PlacedFrame, now: ContinuousClock.Instant) throws(Recorder.DiskError) {
    let frame = placed.frame
    var block = WebMBlock(
      kind: frame.codec.kind, time: placed.position - start, isKeyframe: frame.isKeyframe, isShown: true,
      payload: frame.payload)
    switch frame.codec {
    case .vp8:
      if let size = frame.size { try write(writer.declare(video: size)) }
      // The header's show_frame bit (RFC 6386, 9.1).
      let first = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt8.self) ?? 0
      block.isShown = first & 0x10 != 0
    case .opus:
      guard let shape = try? OpusPacketShape(parsing: frame.payload) else { return }
      try write(writer.declare(channels: shape.channels))
      block.duration = Duration(opusTicks: Int64(shape.duration))
      block.isKeyframe = true
    }
    let writes = writer.add(block)
    if !writes.isEmpty { waitingSince = nil }
    waitingSince = waitingSince ?? now
    try write(writes)
  }

  func flush(now: ContinuousClock.Instant) throws(Recorder.DiskError) {
    guard let waitingSince, now - waitingSince >= Self.longestWait else { return }
    self.waitingSince = nil
    try write(writer.endCluster())
  }

  func finish() throws(Recorder.DiskError) {
    try write(writer.finish())
    try output.close(durably: true)
    isComplete = true
  }
}
