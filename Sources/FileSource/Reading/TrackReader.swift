package import Media
package import NIOCore

/// Reads one track of a file, as frames on the file's timeline, any number of times.
///
/// Each track has its own reader of the whole file, which skips the other tracks. So it does not matter how a file
/// interleaves its tracks: no reader ever has to buffer one track's frames while it searches for the other's.
package final class TrackReader {
  /// Identifies a track of a file.
  struct Source: Sendable {
    var file: OpenFile
    var format: MediaFile.Format
    var codec: Codec
    /// WebM's track number.
    var number: UInt64
    /// Whether what follows damage is read.
    var continuesAfterDamage = false
  }

  private let source: Source
  /// The container's time that is the file's zero.
  private let origin: Int64
  private var container: any ContainerReader
  /// The rest of a long frame; see ``nextStored()``.
  private var parts = CircularBuffer<ContainerFrame>()
  private var audio = AudioTimeline()
  private var videoTimeline: VideoTimeline
  private let timing: ContainerTiming
  private var hasKeyframe = false
  /// How many damages there were before the frame that was read last, and whether no frame has been returned since then.
  private var knownDamages = 0
  private var followsDamage = false

  /// The number of frames skipped so far in this round.
  private(set) var skippedFrames = 0
  /// The number of video frames so far in this round whose times were before that of the previous one.
  var framesMoved: Int { videoTimeline.framesMoved }
  /// The end of the last frame, in units of `MediaTimebase.rate`.
  private(set) var end: Int64 = 0
  private var lastStart: Int64?
  /// The same for a codec that reorders frames.
  private var lastFrame = LastFrameEnd(length: usualInterval)

  /// The duration of a frame if the file does not state one: a thirtieth of a second.
  private static let usualInterval = Int64(MediaTimebase.rate) / 30

  /// The bytes of a part: 120 ms of G.711 or G.722, the longest packet that is sent.
  private static let partLength = 960

  init(_ source: Source, origin: Int64 = 0) throws(MediaFile.ReadError) {
    self.source = source
    self.origin = origin
    (container, timing) = try Self.open(source)
    videoTimeline = VideoTimeline(timing: timing, mayReorder: source.codec.canReorderFrames)
  }

  /// Whether the file ended in the middle of an element.
  var isTruncated: Bool { container.isTruncated }

  /// The parts of the file that could not be read and were left out so far.
  var damages: [FileDamage] { container.damages }

  /// What the container says, as far as it was read, that keeps video from being sent as stored, as a clause.
  var obstacle: String? { container.obstacle }

  /// How the frames of video are turned before they are shown.
  package var orientation: VideoOrientation { container.orientation }

  /// Goes back to the first frame.
  package func rewind() throws(MediaFile.ReadError) {
    (container, _) = try Self.open(source)
    parts.removeAll()
    audio = AudioTimeline()
    videoTimeline = VideoTimeline(timing: timing, mayReorder: source.codec.canReorderFrames)
    lastFrame = LastFrameEnd(length: Self.usualInterval)
    hasKeyframe = false
    (knownDamages, followsDamage) = (0, false)
    skippedFrames = 0
    end = 0
    lastStart = nil
  }

  /// Returns the next frame; nil at the end.
  package func next() throws(MediaFile.ReadError) -> FileFrame? {
    while let frame = try nextStored() {
      let placed =
        switch source.codec.kind {
        case .video: try videoFrame(frame)
        case .audio: packet(frame, source.codec)
        }
      if var placed {
        placed.followsDamage = followsDamage
        followsDamage = false
        return placed
      }
      skippedFrames += 1
    }
    return nil
  }

  /// Returns the next frame of the container. What is longer than a packet may be is returned in parts, where the codec has no
  /// packets of its own.
  private func nextStored() throws(MediaFile.ReadError) -> ContainerFrame? {
    if let part = parts.popFirst() { return part }
    guard var frame = try container.next() else { return nil }
    if damages.count > knownDamages {
      // What follows may depend on what is missing.
      (knownDamages, hasKeyframe, followsDamage) = (damages.count, false, true)
    }
    guard source.codec.waveFormatTag != nil, frame.payload.readableBytes > Self.partLength else {
      return frame
    }
    var rest = frame.payload
    frame.payload = rest.readSlice(length: Self.partLength) ?? frame.payload
    while let part = rest.readSlice(length: min(Self.partLength, rest.readableBytes)), part.readableBytes > 0 {
      parts.append(ContainerFrame(time: nil, length: nil, payload: part, position: frame.position))
    }
    return frame
  }

  private static func open(_ source: Source) throws(MediaFile.ReadError) -> (any ContainerReader, ContainerTiming) {
    switch source.format {
    case .ogg:
      return (
        try OggReader(source.file, continuesAfterDamage: source.continuesAfterDamage), ContainerTiming(rounding: 0)
      )
    case .ivf:
      let reader = try IVFReader(source.file)
      return (reader, reader.timing)
    case .mp4:
      return (try WorkerReader(source.file, track: source.number), ContainerTiming(rounding: 1))
    case .webM:
      let reader = try MatroskaReader(source.file, continuesAfterDamage: source.continuesAfterDamage)
      guard let track = reader.tracks.first(where: { $0.number == source.number }) else { throw .changed }
      reader.select(track)
      return (reader, reader.timing(of: track))
    }
  }

  /// Returns a packet; nil if it must be skipped: it is empty or
  /// damaged, or overlaps earlier ones.
  private func packet(_ frame: ContainerFrame, _ codec: Codec) -> FileFrame? {
    let header = FrameHeader(parsing: frame.payload, of: codec)
    guard let ticks = FrameHeader.ticks(of: frame.payload, codec, header: header) else { return nil }
    let unit = MediaTimebase.units(perTickOf: .audio)
    let length = Int64(ticks) * MediaTimebase.units(perTickOf: codec) / unit
    let time = frame.time.map { ($0 + ($0 < 0 ? -unit / 2 : unit / 2)) / unit }
    guard let start = audio.position(time, length: length) else { return nil }
    end = (start + length) * unit
    return FileFrame(
      kind: .audio, time: start * unit - origin, payload: frame.payload, header: header, isKeyframe: true)
  }

  /// Returns a video frame; nil if it must be skipped because it is empty or damaged, or depends on one that is missing.
  private func videoFrame(_ frame: ContainerFrame) throws(MediaFile.ReadError) -> FileFrame? {
    guard frame.payload.readableBytes > 0 else { return nil }
    let header = FrameHeader(parsing: frame.payload, of: source.codec)
    guard header != .unreadable else {
      hasKeyframe = false
      return nil
    }
    if header.isKeyframe { hasKeyframe = true }
    guard hasKeyframe else { return nil }
    guard let time = frame.time else {
      throw .unsupported("at byte \(frame.position) one block has several frames (lacing)")
    }
    let moved = framesMoved
    let start = videoTimeline.position(time)
    if source.codec.canReorderFrames {
      let isReordered = lastFrame.newest.map { start < $0 } ?? false
      lastFrame.add(start, length: timing.interval ?? frame.length, mayReorder: true)
      end = (lastFrame.newest ?? start) + max(lastFrame.length, VideoTimeline.minimumStep)
      return FileFrame(
        kind: .video, time: start - origin, payload: frame.payload, header: header, isKeyframe: header.isKeyframe,
        size: header.video?.size, isReordered: isReordered)
    }
    let interval = framesMoved > moved ? nil : lastStart.map { start - $0 }
    let shownFor = timing.interval ?? frame.length ?? interval ?? Self.usualInterval
    end = start + max(shownFor, VideoTimeline.minimumStep)
    lastStart = start
    return FileFrame(
      kind: .video, time: start - origin, payload: frame.payload, header: header, isKeyframe: header.isKeyframe,
      orientation: container.orientation, size: header.video?.size)
  }
}

/// A frame as stored in a file, with its time on the file's timeline.
package struct FileFrame: Sendable, Hashable {
  package var kind: MediaKind
  /// The presentation time, in units of `MediaTimebase.rate` since the file's first frame.
  package var time: Int64
  package var payload: ByteBuffer
  /// What the bitstream says about it.
  package var header: FrameHeader
  package var isKeyframe: Bool
  /// How a video frame is turned before it is shown.
  package var orientation: VideoOrientation
  /// The size of a video keyframe.
  package var size: VideoSize?
  /// Whether it is shown before an earlier frame, so that its time goes back.
  package var isReordered: Bool
  /// Whether a part of the file before it could not be read.
  package var followsDamage = false

  package init(
    kind: MediaKind, time: Int64, payload: ByteBuffer, header: FrameHeader = .unreadable, isKeyframe: Bool,
    orientation: VideoOrientation = .upright, size: VideoSize? = nil, isReordered: Bool = false
  ) {
    self.orientation = orientation
    self.isReordered = isReordered
    self.header = header
    self.kind = kind
    self.time = time
    self.payload = payload
    self.isKeyframe = isKeyframe
    self.size = size
  }
}
