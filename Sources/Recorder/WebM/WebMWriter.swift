import Media
import NIOCore

/// Makes a WebM file of VP8 and Opus frames, touching none: every call gives the bytes that are to be written and where.
///
/// A cluster is written in one piece when it ends: before each video keyframe, after at most a second, or when the caller
/// says so. The file is readable after every write; `finish` adds the cues and the duration, and closes sizes.
struct WebMWriter: Sendable {
  /// The longest cluster in milliseconds.
  static let maximumClusterDuration: Int64 = 1_000
  /// Bytes after which a cluster ends, whatever its length.
  private static let maximumClusterBytes = 4 << 20

  private struct Cluster: Sendable {
    let time: Int64
    /// All but its size, which is known when it ends.
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

  private var header: WebMHeader
  /// What of the header is not hidden in the file.
  private var shown: WebMHeader.Parts
  private var cluster: Cluster?
  /// Bytes of the last cluster, which the next one is likely to have as well.
  private var lastClusterSize = 0
  /// The last cluster's time. The next one's is never earlier, even when its first frame is.
  private var lastClusterTime: Int64 = 0
  private var cues = WebMCues()
  /// What is known of the tracks by the frames up to the end of each cluster that may not be on the disk, and of the one before.
  private var clusters = CircularBuffer<(end: Int64, video: VideoSize?, audio: WebMHeader.Audio?)>()
  /// The same, of the frames so far.
  private var described: (video: VideoSize?, audio: WebMHeader.Audio?)
  /// Where the next cluster goes.
  private var end = WebMHeader.length
  private var lastTime = PerMediaKind<Int64>()
  private var lastVideoFrameLength: Int64 = 33
  /// Bytes of frames that no write holds yet.
  var unwrittenBytes: Int { cluster?.element.count ?? 0 }
  /// Bytes that ``finish()`` adds to the file at most, besides the last cluster.
  var closingSize: Int64 { cues.longestElement }
  /// When the last frame ends, in milliseconds.
  private(set) var duration: Int64 = 0

  /// - Parameters:
  ///   - video: the first frame's size; nil while there is none.
  ///   - audio: what is known of the audio; nil while there is none.
  ///   - date: when time zero was, in nanoseconds since 2001-01-01 00:00 UTC.
  init(video: VideoSize?, audio: WebMHeader.Audio?, date: Int64) {
    header = WebMHeader(video: video, audio: audio, date: date)
    described = (video, audio)
    shown = header.known
  }

  /// The header as it is to stand while the file grows.
  mutating func start() -> [FileWrite] {
    shown = header.known
    return [FileWrite(offset: 0, bytes: header.bytes)]
  }

  /// Notes a larger frame; the header states the largest.
  mutating func declare(video size: VideoSize) -> [FileWrite] {
    let known = header.video
    header.video = VideoSize(
      width: max(size.width, known?.width ?? 0), height: max(size.height, known?.height ?? 0))
    return header.video == known ? [] : headerWrites()
  }

  /// Notes audio, or of more channels.
  mutating func declare(channels: Int) -> [FileWrite] {
    let known = header.audio
    header.audio = WebMHeader.Audio(channels: max(channels, known?.channels ?? 0))
    return header.audio == known ? [] : headerWrites()
  }

  /// Takes the next frame. Within a track, times go up by at least a millisecond, whatever the frame says; and no frame is
  /// put so far before what is written that a block could not say it (RFC 9559, 10.2: 32 s).
  mutating func add(_ block: WebMBlock) -> [FileWrite] {
    let earliest = max(lastTime[block.kind].map { $0 + 1 } ?? 0, lastClusterTime + Int64(Int16.min))
    let time = max(block.time.milliseconds, earliest)
    var writes: [FileWrite] = []
    let isAtEnd = cluster.map { cluster in
      let isFull = cluster.element.count >= Self.maximumClusterBytes
      let isFar = time - cluster.time >= Self.maximumClusterDuration
      return isFull || isFar || (block.kind == .video && block.isKeyframe)
    }
    if isAtEnd == true { writes = endCluster() }
    noteLength(of: block, at: time)
    // Taken out while it grows, or every block would copy all before it.
    var cluster =
      self.cluster.take()
      ?? Cluster(
        time: max(time, lastClusterTime), capacity: min(lastClusterSize + lastClusterSize / 8, 1 << 20))
    lastClusterTime = cluster.time
    if block.kind == .video, block.isKeyframe { cluster.keyframe = cluster.keyframe ?? time }
    cluster.element.simpleBlock(
      track: block.kind == .video ? WebMHeader.videoNumber : WebMHeader.audioNumber,
      relativeTime: Int16(clamping: time - cluster.time),
      flags: (block.isKeyframe ? 0x80 : 0) | (block.isShown ? 0 : 0x08), payload: block.payload)
    self.cluster = cluster
    described = (header.video, header.audio)
    return writes
  }

  /// Ends the cluster that is being filled.
  mutating func endCluster() -> [FileWrite] {
    guard var cluster = self.cluster.take() else { return [] }
    cluster.element.closeFirst()
    lastClusterSize = cluster.element.count
    if let time = cluster.keyframe { cues.add(.init(time: time, cluster: end - WebMHeader.segmentStart)) }
    let write = append(cluster.element)
    clusters.append((end, described.video, described.audio))
    return [write]
  }

  /// Ends the file: the last cluster, the cues, and at last the header with duration and sizes, which may only be written
  /// when all else is on the disk.
  mutating func finish() -> [FileWrite] {
    var writes = endCluster()
    let cues = self.cues.element
    if cues.count > 0 { header.cues = end }
    header.duration = Double(duration)
    // While the file is not whole, its size stays unknown.
    let headers = headerWrites()
    writes += headers.dropLast()
    if cues.count > 0 { writes.append(append(cues)) }
    header.fileSize = end
    writes.append(FileWrite(offset: 0, bytes: header.bytes))
    return writes
  }

  /// Ends the file where the disk has taken no more of it.
  ///
  /// - Parameters:
  ///   - size: what of the file is on the disk: nothing behind it is.
  ///   - duration: how long that plays, in milliseconds.
  ///   - withCues: whether there is room for cues.
  /// - Returns: what is to be written in place of everything else; the last write only when the others are on the disk.
  mutating func finish(at size: Int64, duration: Int64, withCues: Bool) -> [FileWrite] {
    // Cues that are on the disk already are written again, as they were.
    let end = min(size, header.cues ?? size)
    cluster = nil
    self.end = end
    self.duration = duration
    cues.remove(from: end - WebMHeader.segmentStart)
    if !withCues { cues = WebMCues() }
    (header.cues, header.fileSize) = (nil, nil)
    if let last = clusters.last(where: { $0.end <= end }) { (header.video, header.audio) = (last.video, last.audio) }
    return finish()
  }

  /// Takes note that so much of the file is on the disk.
  mutating func forgetClusters(before size: Int64) {
    while clusters.count > 1, clusters[clusters.index(after: clusters.startIndex)].end <= size {
      clusters.removeFirst()
    }
  }

  /// The header twice: with what is new still hidden, and then shown.
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

  /// A frame lasts as long as the one before it, since nobody knows better when it is the last.
  private mutating func noteLength(of block: WebMBlock, at time: Int64) {
    let length: Int64
    if let known = block.duration {
      length = known.milliseconds
    } else {
      if let last = lastTime[block.kind] { lastVideoFrameLength = min(time - last, Self.maximumClusterDuration) }
      length = lastVideoFrameLength
    }
    lastTime[block.kind] = time
    duration = max(duration, time + length)
  }
}

/// One frame on its way into a WebM file.
struct WebMBlock: Sendable, Hashable {
  var kind: MediaKind
  /// From the file's time zero.
  var time: Duration
  /// How long it is heard; nil for a frame, which is shown until the next.
  var duration: Duration?
  var isKeyframe: Bool
  /// Whether it is meant to be shown; some VP8 frames only help later ones (RFC 6386, 9.1).
  var isShown: Bool
  var payload: ByteBuffer
}
