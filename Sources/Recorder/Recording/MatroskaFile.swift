import Codecs
import Media
import NIOCore

/// A WebM or Matroska file of a participant: with video and audio, or with all audio.
final class MatroskaFile: OutputContainer {
  let kind: RecordingFileKind
  let file: AppendFile
  let segment: Int?
  let start: Duration
  private var writer: MatroskaWriter
  /// Whether the header is queued; it is queued together with the first cluster.
  private var hasBegun = false
  private var writtenFrames = WrittenFrameTracker()
  /// The assumed duration of the last video frame, which is that of the frame before it.
  private var spacing = FrameSpacing()
  /// Whether frames are left out that refer to those before the last keyframe, because the file begins with it.
  private var skipsLeading = false
  private(set) var leftOut: UInt64 = 0
  /// When the oldest frame arrived that no write contains.
  private var oldestArrival: MonotonicInstant?

  /// Creates the file's state.
  ///
  /// - Parameters:
  ///   - start: the position of the file's time zero.
  ///   - date: the wall clock at that moment, in nanoseconds since 2001-01-01 00:00 UTC.
  init(_ kind: RecordingFileKind, file: AppendFile, segment: Int?, start: Duration, date: Int64) {
    self.kind = kind
    self.file = file
    self.segment = segment
    self.start = start
    writer = MatroskaWriter(
      Self.documentType(of: kind), video: nil, audio: nil, isAudioOnly: !kind.hasVideo, date: date)
  }

  private static func documentType(of kind: RecordingFileKind) -> MatroskaHeader.DocumentType {
    switch kind {
    case .webm: .webM
    case .mkv, .mka, .ogg: .matroska
    }
  }

  /// The kind of a file with tracks of these codecs.
  static func kind(of codecs: [Codec]) -> RecordingFileKind {
    codecs.allSatisfy(MatroskaHeader.DocumentType.webM.allows) ? .webm : .mkv
  }

  var duration: Duration { .milliseconds(writer.duration) }
  var unwrittenBytes: Int { writer.unwrittenBytes }
  var codecs: [Codec] { writer.codecs }
  var stored: WrittenFrameCounts { writtenFrames.stored(size: file.framesEnd ?? file.size) }
  var storedDuration: Duration { writtenFrames.duration(size: file.framesEnd ?? file.size) }
  var unstoredFrames: UInt64 { writtenFrames.missing(size: file.framesEnd ?? file.size) }

  /// How a player turns the frames; nil while there is no video.
  var orientation: VideoOrientation? { writer.orientation }

  func accepts(_ codec: Codec) -> Bool { writer.accepts(codec) }

  func add(_ timestamped: TimestampedFrame) {
    let frame = timestamped.frame
    if frame.codec.kind == .video {
      if frame.isKeyframe { skipsLeading = !writer.hasVideo }
      if skipsLeading, frame.header.video?.isSkippedLeading ?? false {
        leftOut += 1
        return
      }
    }
    var block = MatroskaBlock(
      kind: frame.codec.kind, time: timestamped.position - start, isKeyframe: frame.isKeyframe, isShown: true,
      payload: frame.payload)
    var heading: [FileWrite] = []
    switch frame.codec.kind {
    case .video:
      if let size = frame.size {
        let codecPrivate = writer.hasVideo ? nil : CodecPrivate.of(frame)
        heading = writer.declare(
          video: MatroskaHeader.Video(
            codec: frame.codec, size: size, codecPrivate: codecPrivate, orientation: frame.orientation))
      }
      block.isShown = frame.header.video?.isShown ?? true
      block.isReordered = frame.isReordered
    case .audio:
      guard let audio = frame.header.audio else { return }
      heading = writer.declare(audio: MatroskaHeader.Audio(codec: frame.codec, channels: audio.channels))
      block.duration = audio.duration
      block.isKeyframe = true
    }
    if hasBegun { file.put(heading) }
    // The returned writes contain the frames before this one.
    let before = duration
    let writes = writer.add(block)
    if frame.codec.kind == countedKind { note(timestamped, length: block.duration) }
    if !writes.isEmpty { oldestArrival = nil }
    oldestArrival = min(oldestArrival ?? frame.arrived, frame.arrived)
    put(writes, isNewestKept: frame.codec.kind == countedKind, duration: before)
  }

  func flush(now: MonotonicInstant, atOnce: Bool) {
    guard let oldestArrival, atOnce || now - oldestArrival >= (hasBegun ? Self.maximumWait : Self.firstWait) else {
      return
    }
    self.oldestArrival = nil
    put(writer.endCluster())
  }

  func finish() {
    put(writer.endCluster())
    guard hasBegun else { return }
    let writes = writer.finish()
    file.put(Array(writes.dropLast()), isClosing: true)
    // The last write marks the file as complete.
    file.putBarrier()
    file.put(writes.suffix(1), isClosing: true)
    file.putEnd()
  }

  func closingWrites(omittingCues: Bool) -> (first: [FileWrite], last: [FileWrite]) {
    let writes = writer.finish(
      at: file.framesEnd ?? file.size, duration: storedDuration.milliseconds, withCues: !omittingCues)
    return (Array(writes.dropLast()), Array(writes.suffix(1)))
  }

  /// Counts a frame.
  ///
  /// - Parameter length: the playing time of audio; nil for video.
  private func note(_ timestamped: TimestampedFrame, length: Duration?) {
    if let length { return writtenFrames.add(at: timestamped.position, length: length) }
    spacing.add(timestamped)
    writtenFrames.add(isKeyframe: timestamped.frame.isKeyframe, at: timestamped.position, length: spacing.duration)
  }

  /// Queues writes.
  ///
  /// - Parameters:
  ///   - isNewestKept: whether the newest frame is not in the writes.
  ///   - duration: the playing time of the file with them; nil for that of all frames.
  private func put(_ writes: [FileWrite], isNewestKept: Bool = false, duration: Duration? = nil) {
    if writes.isEmpty { return }
    file.closingSize = writer.closingSize
    writer.forgetClusters(before: file.size)
    writtenFrames.put(writes, isNewestKept: isNewestKept, duration: duration ?? self.duration, size: file.size)
    if !hasBegun { file.put(writer.start()) }
    hasBegun = true
    file.put(writes)
  }
}
