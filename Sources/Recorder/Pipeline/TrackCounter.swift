import Media

/// Counts the written frames of one track, and finds its gaps.
struct TrackCounter: Sendable {
  /// The maximum number of listed changes of the size and of the codec, so that a sender that changes with every frame does not
  /// fill the memory.
  private static let maximumList = 1_000
  /// An audio gap without a known reason is listed when it is longer than this, since a sender's timestamps may be
  /// slightly off.
  static let minimumSilence = Duration.milliseconds(60)
  /// The same for video, whose frame interval is up to the sender.
  static let minimumPause = Duration.seconds(1)

  private var track: RecordingManifest.Track
  /// The codec of the last frame; nil before the first.
  private var codec: Codec?
  /// The orientation of the last frame of video.
  private var orientation = VideoOrientation.upright
  private var log = GapLog()
  private var first: Duration?
  private var spacing = FrameSpacing()
  /// When the last received frame ends; generated packets do not count.
  private var cameUntil: Duration?
  /// How much audio the recorder has generated since then.
  private var repaired = Duration.zero
  private var wasSilent = false
  /// When the last frame ends.
  private(set) var end = Duration.zero

  init(codec: Codec) {
    track = RecordingManifest.Track(codec: codec)
    track.codecs = []
    if codec.kind == .video {
      track.keyframes = 0
      track.sizes = []
    }
  }

  /// Returns the track's entry so far.
  ///
  /// - Parameters:
  ///   - written: the frames of the track that are in files; nil for all counted frames.
  ///   - lastGaps: what is missing after the last frame, at the end of a call.
  ///   - lastPause: a pause after the last frame, with its start and end.
  ///   - dropped: the part of that which was dropped because memory was full.
  ///   - droppedUntil: the position that the last dropped frame would have.
  ///   - isHeldUp: whether the disk blocks the frames that are not in files, rather than these being on their way
  ///     there.
  func entry(
    written: WrittenFrameCounts? = nil, lastGaps: [MediaGap] = [],
    lastPause: (gap: MediaGap, start: Duration, end: Duration)? = nil, dropped: MediaGap? = nil,
    droppedUntil: Duration? = nil,
    isHeldUp: Bool = false
  ) -> RecordingManifest.Track {
    var log = log
    var entry = track
    let first = first ?? .zero
    var writtenEnd = end
    if let written, written.frames < track.frames {
      entry.frames = written.frames
      if entry.keyframes != nil { entry.keyframes = written.keyframes }
      writtenEnd = max(first, written.end)
    }
    for gap in lastGaps { log.add(gap, start: end, duration: .zero) }
    if let lastPause, frames > 0 {
      let start = lastPause.start - end > minimumHole ? lastPause.start : end
      log.add(lastPause.gap, start: start, duration: max(.zero, lastPause.end - start), isListed: true)
    }
    if dropped != nil || isHeldUp && writtenEnd < end {
      var gap = dropped ?? MediaGap(.diskStalled)
      gap.framesDropped += Int(clamping: track.frames - entry.frames)
      log.add(
        gap, start: writtenEnd, duration: max(end, droppedUntil ?? end) - writtenEnd, isListed: true)
      entry.sizes?.removeAll { $0.time >= writtenEnd.roundedSeconds }
      entry.codecs?.removeAll { $0.time >= writtenEnd.roundedSeconds }
      entry.orientations?.removeAll { $0.time >= writtenEnd.roundedSeconds }
    }
    entry.start = first.roundedSeconds
    entry.duration = (writtenEnd - first).roundedSeconds
    entry.gaps = log.gaps
    entry.gapTotals = log.totals
    return entry
  }

  /// Frames whose positions are final.
  var frames: UInt64 { track.frames }
  /// Packets that all gaps so far report.
  var packetsInGaps: UInt64 { log.packets }

  /// Counts a video frame. Its duration is assumed to be that of the frame before it.
  mutating func count(_ timestamped: TimestampedFrame) {
    let frame = timestamped.frame
    findGap(before: timestamped)
    spacing.add(timestamped)
    advance(to: timestamped, length: spacing.duration)
    if let hidden = frame.header.video?.hiddenLayers, hidden > 0 {
      track.hiddenLayers = (track.hiddenLayers ?? 0) + UInt64(hidden)
    }
    guard frame.codec.kind == .video else { return }
    if frame.isKeyframe {
      track.keyframes = (track.keyframes ?? 0) + 1
      noteCodec(of: timestamped)
    }
    noteOrientation(of: timestamped)
    // VP9 changes its size without keyframes, too.
    guard let size = frame.size, let listed = track.sizes, listed.count < Self.maximumList else { return }
    if listed.last?.width != size.width || listed.last?.height != size.height {
      track.sizes?.append(.init(time: timestamped.position.roundedSeconds, width: size.width, height: size.height))
    }
  }

  /// Counts an audio packet, and updates the number of channels.
  ///
  /// - Parameters:
  ///   - length: the packet's playing time.
  ///   - isSilent: whether it only signals silence.
  mutating func count(_ timestamped: TimestampedFrame, channels: Int, length: Duration, isSilent: Bool) {
    if timestamped.repair == nil {
      findGap(before: timestamped)
      repaired = .zero
      wasSilent = isSilent
    } else {
      repaired += length
    }
    advance(to: timestamped, length: length)
    if timestamped.frame.codec != codec { noteCodec(of: timestamped) }
    track.channels = max(track.channels ?? 0, channels)
  }

  /// Lists the orientation, if it is not that of the entry before, or of upright frames.
  private mutating func noteOrientation(of timestamped: TimestampedFrame) {
    let orientation = timestamped.frame.orientation
    if orientation == self.orientation { return }
    if track.orientations == nil, frames > 1, let first {
      track.orientations = [.init(self.orientation, at: first)]
    }
    self.orientation = orientation
    guard track.orientations?.count ?? 0 < Self.maximumList else { return }
    track.orientations = (track.orientations ?? []) + [.init(orientation, at: timestamped.position)]
  }

  /// Lists the codec and its profile, if they are not those of the entry before.
  ///
  /// - Parameter timestamped: a keyframe, or a packet of audio.
  private mutating func noteCodec(of timestamped: TimestampedFrame) {
    let frame = timestamped.frame
    if codec == nil, let parameter = CodecProfile.parameter(of: frame) { track.profile = parameter }
    codec = frame.codec
    let profile = CodecProfile.name(of: frame)
    guard let listed = track.codecs, listed.count < Self.maximumList else { return }
    if let last = listed.last, last.codec == frame.codec.rawValue, last.profile == profile ?? last.profile { return }
    track.codecs?.append(
      .init(time: timestamped.position.roundedSeconds, codec: frame.codec.rawValue, profile: profile))
  }

  private mutating func advance(to timestamped: TimestampedFrame, length: Duration) {
    first = first ?? timestamped.position
    end = max(end, timestamped.position + length)
    track.frames += 1
    guard timestamped.repair == nil else { return }
    let frameEnd = timestamped.position + length
    cameUntil = timestamped.frame.isReordered ? max(cameUntil ?? frameEnd, frameEnd) : frameEnd
  }

  /// A hole without a known reason is listed when it is longer than this.
  private var minimumHole: Duration {
    track.kind == MediaKind.audio.rawValue ? Self.minimumSilence : max(Self.minimumPause, spacing.duration * 3)
  }

  /// Lists the pause before a frame, and what was missing before the pause.
  ///
  /// - Parameter hasGap: whether the frame reports what is missing between the pause and it.
  /// - Returns: where the pause ended.
  private mutating func list(_ pause: PauseSpan, before position: Duration, hasGap: Bool) -> Duration {
    // A recording that begins paused begins with its first frame.
    guard let cameUntil else {
      if pause.lost.packetsLost > 0 { log.add(pause.lost, start: position, duration: .zero) }
      return position
    }
    var gap = pause.lost
    var start = min(cameUntil, position)
    let began = min(max(start, position - pause.start), position)
    if began - start > (pause.before == nil ? minimumHole : spacing.duration) {
      let isSilence = wasSilent && pause.before == nil
      log.add(pause.before ?? MediaGap(isSilence ? .dtx : .senderPaused), start: start, duration: began - start)
      start = began
    } else {
      gap.packetsLost += pause.before?.packetsLost ?? 0
      gap.framesDropped += pause.before?.framesDropped ?? 0
    }
    var end = min(max(start, position - pause.end), position)
    if !hasGap, position - end <= minimumHole { end = position }
    log.add(gap, start: start, duration: end - start)
    return end
  }

  private mutating func findGap(before timestamped: TimestampedFrame) {
    var begin = min(cameUntil ?? timestamped.position, timestamped.position)
    if let pause = timestamped.pause {
      let gap = timestamped.frame.gap
      begin = list(pause, before: timestamped.position, hasGap: gap != nil && gap?.reason != .recoveredLate)
    }
    // Between a frame and what came before it, others that are shown before it may follow.
    var hole = max(.zero, timestamped.position - begin - spacing.reordering)
    if timestamped.frame.isReordered, let before = spacing.position(before: timestamped.position) {
      begin = min(before + spacing.duration, timestamped.position)
      hole = timestamped.position - begin
    }
    let standstill = min(timestamped.standstill, hole)
    // A reason that names the sender's pause already names all of it.
    if standstill > .zero,
      ![.muted, .streamEnded, .reconnect, .senderPaused].contains(timestamped.frame.gap?.reason)
    {
      hole -= standstill
      log.add(MediaGap(.senderPaused), start: begin + hole, duration: standstill)
    }
    if let gap = timestamped.frame.gap {
      // If nothing is missing, the gap is the time waited, which is not visible on the timeline.
      if gap.reason == .recoveredLate {
        log.add(gap, start: timestamped.position, duration: gap.delay)
      } else {
        log.add(gap, start: begin, duration: hole, repaired: min(repaired, hole))
      }
    } else if timestamped.frame.codec.kind == .audio {
      guard hole > Self.minimumSilence else { return }
      log.add(MediaGap(wasSilent ? .dtx : .senderPaused), start: begin, duration: hole)
    } else if hole > max(Self.minimumPause, spacing.duration * 3) {
      log.add(MediaGap(.senderPaused), start: begin, duration: hole)
    }
  }
}

extension RecordingManifest.Track.Orientation {
  fileprivate init(_ orientation: VideoOrientation, at position: Duration) {
    self.init(time: position.roundedSeconds, rotation: orientation.rotation, mirrored: orientation.isMirrored)
  }
}

/// The frames of a track that are in files: all up to one of them.
package struct WrittenFrameCounts: Sendable, Hashable {
  package var frames: UInt64 = 0
  package var keyframes: UInt64 = 0
  /// The start of the first of them and the end of the last one, on the participant's timeline.
  var start = Duration.zero
  var end = Duration.zero

  /// Adds the next frame.
  mutating func add(isKeyframe: Bool, start: Duration, end: Duration) {
    add(WrittenFrameCounts(frames: 1, keyframes: isKeyframe ? 1 : 0, start: start, end: end))
  }

  /// Adds the frames of another file of the same track.
  mutating func add(_ other: WrittenFrameCounts) {
    if other.frames == 0 { return }
    start = frames > 0 ? min(start, other.start) : other.start
    end = frames > 0 ? max(end, other.end) : other.end
    frames += other.frames
    keyframes += other.keyframes
  }
}
