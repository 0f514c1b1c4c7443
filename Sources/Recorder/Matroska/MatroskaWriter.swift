package import Media
package import NIOCore

/// Builds a WebM or Matroska file of one video and one audio track, or of one of them, without touching any file: every call
/// returns writes, each with its offset.
///
/// A cluster is written as a whole when it ends: before each video keyframe, after at most a second, or when the caller
/// ends it. The file is readable after every write; `finish` adds the cues and the duration, and sets the sizes.
package struct MatroskaWriter: Sendable {
  /// The maximum length of a cluster in milliseconds.
  static let maximumClusterDuration: Int64 = 1_000
  /// How long a file's first video frame is assumed to be shown, in milliseconds.
  static let usualLength: Int64 = 33
  /// The number of bytes after which a cluster ends, regardless of its length.
  private static let maximumClusterBytes = 4 << 20

  private struct Cluster: Sendable {
    let time: Int64
    /// The whole cluster except its size, which is known when it ends.
    var element: EBMLBuilder
    /// The time of its video keyframe, which is its first block.
    var keyframe: Int64?

    init(time: Int64, capacity: Int) {
      self.time = time
      element = EBMLBuilder(capacity: capacity)
      element.open(.cluster, wideSize: 0)
      element.unsigned(.timestamp, UInt64(max(0, time)))
    }
  }

  private var header: MatroskaHeader
  /// The parts of the header that are not hidden in the file.
  private var shown: MatroskaHeader.Parts
  private var cluster: Cluster?
  /// The size of the last cluster, which predicts that of the next one.
  private var lastClusterSize = 0
  /// The last cluster's time. The next one's is never earlier, even if its first frame is.
  private var lastClusterTime: Int64 = 0
  private var cues: MatroskaCues
  private let isAudioOnly: Bool
  /// The tracks' properties at the end of each cluster that may not be on the disk, and of the cluster before those.
  private var clusters = CircularBuffer<(end: Int64, video: MatroskaHeader.Video?, audio: MatroskaHeader.Audio?)>()
  /// The tracks' properties according to the frames so far.
  private var described: (video: MatroskaHeader.Video?, audio: MatroskaHeader.Audio?)
  /// The offset of the next cluster; of the first one, once the header's layout is chosen.
  private var end = MatroskaHeader.length
  private var isLayoutChosen = false
  private var lastAudioTime: Int64?
  private var videoTimes = LastFrameEnd(length: usualLength, maximum: maximumClusterDuration)
  /// The end of the last audio packet, in milliseconds.
  private var audioEnd: Int64 = 0
  /// Bytes of frames that no write contains yet.
  var unwrittenBytes: Int { cluster?.element.count ?? 0 }
  /// The maximum number of bytes that ``finish()`` adds to the file, besides the last cluster.
  package var closingSize: Int64 { cues.longestElement }
  /// The end of the last frame, in milliseconds.
  package private(set) var duration: Int64 = 0

  /// - Parameters:
  ///   - video: the video track's properties; nil while there is none.
  ///   - audio: the audio track's properties; nil while there is none.
  ///   - isAudioOnly: whether there will be no video.
  ///   - date: the wall clock at time zero, in nanoseconds since 2001-01-01 00:00 UTC.
  package init(
    _ documentType: MatroskaHeader.DocumentType = .webM, video: MatroskaHeader.Video?, audio: MatroskaHeader.Audio?,
    isAudioOnly: Bool = false, date: Int64
  ) {
    header = MatroskaHeader(documentType: documentType, video: video, audio: audio, date: date)
    described = (video, audio)
    shown = header.known
    self.isAudioOnly = isAudioOnly
    cues = MatroskaCues(of: isAudioOnly ? MatroskaHeader.audioNumber : MatroskaHeader.videoNumber)
  }

  /// The codecs of the tracks, that of the video first.
  var codecs: [Codec] { [header.video?.codec, header.audio?.codec].compactMap(\.self) }

  /// Whether the video track is described, so that it needs no codec's private data any more.
  package var hasVideo: Bool { header.video != nil }

  /// How a player turns the frames; nil while there is no video.
  package var orientation: VideoOrientation? { header.video?.orientation }

  /// Whether frames of a codec can be in the file: a track has one codec, and the type of the file allows it.
  package func accepts(_ codec: Codec) -> Bool {
    let known = codec.kind == .video ? header.video?.codec : header.audio?.codec
    return known.map { $0 == codec } ?? (header.documentType.allows(codec) && !(isAudioOnly && codec.kind == .video))
  }

  /// Returns the header for the growing file.
  package mutating func start() -> [FileWrite] {
    chooseLayout()
    shown = header.known
    return [FileWrite(offset: 0, bytes: header.bytes)]
  }

  /// Chooses the lengths of the tracks' entries: as video needs it that is known, or with space for any.
  private mutating func chooseLayout() {
    if isLayoutChosen { return }
    isLayoutChosen = true
    if let video = header.video {
      header.layout.video = MatroskaHeader.entryLength(of: video)
    } else if !isAudioOnly {
      header.layout = header.documentType == .matroska ? .maximum : .maximumOfWebM
    }
    end = header.length
  }

  /// Declares the video track, or a frame size; the header states the largest. The codec's private data and the orientation stay those of
  /// the first frame.
  package mutating func declare(video: MatroskaHeader.Video) -> [FileWrite] {
    let known = header.video
    header.video = MatroskaHeader.Video(
      codec: video.codec,
      size: VideoSize(
        width: max(video.size.width, known?.size.width ?? 0), height: max(video.size.height, known?.size.height ?? 0)),
      codecPrivate: known == nil ? video.codecPrivate : known?.codecPrivate,
      orientation: known?.orientation ?? video.orientation)
    // Each keyframe has what is in the private data, too.
    if isLayoutChosen, known == nil, MatroskaHeader.entryLength(of: header.video ?? video) > header.layout.video {
      header.video?.codecPrivate = nil
    }
    return header.video == known ? [] : headerWrites()
  }

  /// Declares the audio track, or more channels.
  package mutating func declare(audio: MatroskaHeader.Audio) -> [FileWrite] {
    let known = header.audio
    header.audio = MatroskaHeader.Audio(codec: audio.codec, channels: max(audio.channels, known?.channels ?? 0))
    return header.audio == known ? [] : headerWrites()
  }

  /// Adds the next frame. Within a track, times increase by at least a millisecond, whatever the frame's time is; only a reordered
  /// frame may come before others, at a time that none of them has. A frame is never placed so far before the written ones that a
  /// block could not express it (RFC 9559, 10.2: 32 s).
  package mutating func add(_ block: MatroskaBlock) -> [FileWrite] {
    let time = self.time(of: block)
    var writes: [FileWrite] = []
    let isAtEnd = cluster.map { cluster in
      let isFull = cluster.element.count >= Self.maximumClusterBytes
      let isFar = time - cluster.time >= Self.maximumClusterDuration
      return isFull || isFar || (block.kind == .video && block.isKeyframe)
    }
    if isAtEnd == true { writes = endCluster() }
    noteLength(of: block, at: time)
    // Moved out while it grows; otherwise every block would copy all earlier ones.
    var cluster =
      self.cluster.take()
      ?? Cluster(
        time: max(time, lastClusterTime), capacity: min(lastClusterSize + lastClusterSize / 8, 1 << 20))
    lastClusterTime = cluster.time
    if block.kind == .video, block.isKeyframe { cluster.keyframe = cluster.keyframe ?? time }
    cluster.element.simpleBlock(
      track: block.kind == .video ? MatroskaHeader.videoNumber : MatroskaHeader.audioNumber,
      relativeTime: Int16(clamping: time - cluster.time),
      flags: (block.isKeyframe ? 0x80 : 0) | (block.isShown ? 0 : 0x08), payload: block.payload)
    self.cluster = cluster
    described = (header.video, header.audio)
    return writes
  }

  /// Ends the current cluster.
  package mutating func endCluster() -> [FileWrite] {
    guard var cluster = self.cluster.take() else { return [] }
    chooseLayout()
    cluster.element.closeFirst()
    lastClusterSize = cluster.element.count
    if let time = isAudioOnly ? cluster.time : cluster.keyframe {
      cues.add(.init(time: time, cluster: end - MatroskaHeader.segmentStart))
    }
    let write = append(cluster.element)
    clusters.append((end, described.video, described.audio))
    return [write]
  }

  /// Ends the file: the last cluster, the cues, and finally the header with duration and sizes, which may only be
  /// written when everything else is on the disk.
  package mutating func finish() -> [FileWrite] {
    var writes = endCluster()
    let cues = self.cues.element
    if cues.count > 0 { header.cues = end }
    header.duration = Double(duration)
    // While the file is incomplete, its size stays unknown.
    let headers = headerWrites()
    writes += headers.dropLast()
    if cues.count > 0 { writes.append(append(cues)) }
    header.fileSize = end
    writes.append(FileWrite(offset: 0, bytes: header.bytes))
    return writes
  }

  /// Ends the file after what is on the disk.
  ///
  /// - Parameters:
  ///   - size: the number of bytes of the file that are on the disk.
  ///   - duration: their playing time in milliseconds.
  ///   - withCues: whether there is space for cues.
  /// - Returns: the writes that replace all earlier ones; the last may only be written when the others are on the disk.
  package mutating func finish(at size: Int64, duration: Int64, withCues: Bool) -> [FileWrite] {
    chooseLayout()
    // Cues that are on the disk already are written again, unchanged.
    let end = min(size, header.cues ?? size)
    cluster = nil
    self.end = end
    self.duration = duration
    cues.remove(from: end - MatroskaHeader.segmentStart)
    if !withCues { cues.removeAll() }
    (header.cues, header.fileSize) = (nil, nil)
    if let last = clusters.last(where: { $0.end <= end }) { (header.video, header.audio) = (last.video, last.audio) }
    return finish()
  }

  /// Discards clusters that are no longer needed because `size` bytes of the file are on the disk.
  mutating func forgetClusters(before size: Int64) {
    while clusters.count > 1, clusters[clusters.index(after: clusters.startIndex)].end <= size {
      clusters.removeFirst()
    }
  }

  /// Returns the header twice: first with new parts still hidden, and then with them shown.
  private mutating func headerWrites() -> [FileWrite] {
    let before = shown
    shown = header.known
    let versions = before == shown ? [shown] : [before, shown]
    return versions.map { FileWrite(offset: 0, bytes: header.bytes(showing: $0)) }
  }

  private mutating func append(_ element: EBMLBuilder) -> FileWrite {
    defer { end += Int64(element.count) }
    return FileWrite(offset: end, bytes: element.bytes)
  }

  /// Returns the time of the next block in milliseconds.
  private func time(of block: MatroskaBlock) -> Int64 {
    let last = block.kind == .video ? videoTimes.newest : lastAudioTime
    let limit = lastClusterTime + Int64(Int16.min)
    guard block.isReordered, let last else { return max(block.time.milliseconds, max(last.map { $0 + 1 } ?? 0, limit)) }
    var time = max(block.time.milliseconds, max(0, limit))
    while time <= last, videoTimes.contains(time) { time += 1 }
    return time
  }

  /// Updates the end of the file.
  private mutating func noteLength(of block: MatroskaBlock, at time: Int64) {
    switch block.kind {
    case .audio:
      lastAudioTime = time
      audioEnd = max(audioEnd, time + (block.duration ?? .zero).milliseconds)
    case .video: videoTimes.add(time, mayReorder: header.video?.codec.canReorderFrames ?? false)
    }
    duration = max(audioEnd, videoTimes.end)
  }
}

/// One frame to be written into a WebM or Matroska file.
package struct MatroskaBlock: Sendable, Hashable {
  package var kind: MediaKind
  /// The time from the file's time zero.
  package var time: Duration
  /// The playing time of audio; nil for video, which is shown until the next frame.
  package var duration: Duration?
  package var isKeyframe: Bool
  /// Whether it is shown; some video frames are only references for later ones.
  package var isShown: Bool
  /// Whether it is shown before an earlier frame.
  package var isReordered = false
  package var payload: ByteBuffer

  /// - Parameters:
  ///   - time: the time from the file's time zero.
  ///   - duration: the playing time of audio; nil for video, which is shown until the next frame.
  ///   - isShown: false for a video frame that is only a reference for later ones.
  package init(
    kind: MediaKind, time: Duration, duration: Duration? = nil, isKeyframe: Bool, isShown: Bool, payload: ByteBuffer
  ) {
    self.kind = kind
    self.time = time
    self.duration = duration
    self.isKeyframe = isKeyframe
    self.isShown = isShown
    self.payload = payload
  }
}
