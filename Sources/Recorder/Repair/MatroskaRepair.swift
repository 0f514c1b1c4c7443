package import Media
import NIOCore

/// Determines how to complete a WebM or Matroska file of this program that was never closed: which frames it has, where the last of
/// them ends, the cues and the duration. Reads the file once, from the beginning, and keeps only the cues. Damage in
/// the middle stays as it is, as long as a readable block or cluster follows.
package struct MatroskaRepair {
  /// In milliseconds; a cluster that lies further back indicates that the data before it was damaged.
  private static let maximumStepBack: Int64 = 60_000

  private let source: any ByteSource
  private var position: Int64 = 0
  private var cues: MatroskaCues
  private let header: MatroskaHeader
  /// Whether there is no video, so that each cluster is a cue point.
  private let isAudioOnly: Bool
  private var videoTimes = Self.newTimes(length: MatroskaWriter.usualLength)
  private let mayReorder: Bool
  private var end: Int64 = 0
  private var writtenFrames = WrittenFrameCounts()
  /// The audio packets.
  private var writtenPackets = WrittenFrameCounts()
  private var lastAudio: (time: Int64, position: Int64, count: Int)?
  /// Offsets after damage that looked like a cluster, and clusters whose time lies before that of earlier ones.
  private var searched = 0
  /// Skipped elements that do not occur in clusters.
  private var unknown = 0
  /// Writes that reduce the last cluster's size field, if that cluster is incomplete.
  private var correction: [FileWrite] = []

  private init(_ source: any ByteSource, header: MatroskaHeader) {
    self.source = source
    self.header = header
    isAudioOnly = header.video == nil
    mayReorder = header.video?.codec.canReorderFrames ?? false
    cues = MatroskaCues(of: isAudioOnly ? MatroskaHeader.audioNumber : MatroskaHeader.videoNumber)
  }

  /// Examines a file.
  package static func examine(_ source: any ByteSource) throws(RoomRecorder.StorageError) -> RepairAnalysis {
    guard let found = try find(in: source) else {
      return .refused("is a WebM or Matroska file, but not a recording of this program")
    }
    var repair = MatroskaRepair(source, header: found.header)
    return try repair.examine(found)
  }

  /// Returns the frames of a track that are in a file of this program, from its time zero on, and the codec if the file has the
  /// track; nil for any other file.
  package static func writtenFrames(
    of kind: MediaKind = .video, in source: any ByteSource
  ) throws(RoomRecorder.StorageError) -> (frames: WrittenFrameCounts, codec: Codec?)? {
    guard let found = try find(in: source) else { return nil }
    var repair = MatroskaRepair(source, header: found.header)
    try repair.readClusters(from: found.length)
    switch kind {
    case .video: return (repair.writtenFrames, found.header.video?.codec)
    case .audio:
      if let end = try repair.endOfAudio { repair.writtenPackets.end = max(repair.writtenPackets.end, end) }
      return (repair.writtenPackets, found.header.audio?.codec)
    }
  }

  /// Returns the codecs of the tracks in a file of this program, that of the video first; nil for any other file.
  static func codecs(in source: any ByteSource) throws(RoomRecorder.StorageError) -> [Codec]? {
    guard let header = try find(in: source)?.header else { return nil }
    return [header.video?.codec, header.audio?.codec].compactMap(\.self)
  }

  private static func find(
    in source: any ByteSource
  ) throws(RoomRecorder.StorageError) -> MatroskaHeader.Found? {
    MatroskaHeader.find(in: try source.read(at: 0, count: Int(MatroskaHeader.maximumLength)))
  }

  private mutating func examine(_ found: MatroskaHeader.Found) throws(RoomRecorder.StorageError) -> RepairAnalysis {
    if let duration = found.header.duration, found.segmentSize == source.size - MatroskaHeader.segmentStart {
      return .intact(.milliseconds(duration.isFinite ? Int64(min(max(0, duration), 1e12)) : 0))
    }
    if let size = found.segmentSize, size < source.size - MatroskaHeader.segmentStart { return .hasTrailingData }
    try readClusters(from: found.length)
    if searched > RepairAnalysis.maximumOffsets || unknown > Self.maximumUnknown { return .tooDamaged }
    guard position > found.length else { return .refused("contains no frame") }
    if let endOfAudio = try endOfAudio { end = max(end, endOfAudio.milliseconds) }

    var header = found.header
    let shown = header.known
    let element = cues.element
    header.cues = element.count > 0 ? position : nil
    header.duration = Double(end)
    var plan = RepairPlan(truncation: position, duration: .milliseconds(end))
    if !correction.isEmpty { plan.stages.append(correction) }
    // What this version places elsewhere, it replaces as a whole; the usual header keeps its description of the tracks.
    var body: [FileWrite] = []
    if found.hasUsualOrder { body.append(FileWrite(offset: 0, bytes: header.beginning(showing: shown))) }
    if element.count > 0 { body.append(FileWrite(offset: position, bytes: element.bytes)) }
    if !body.isEmpty { plan.stages.append(body) }
    header.fileSize = position + Int64(element.count)
    let head =
      found.hasUsualOrder
      ? header.beginning(showing: header.known) : header.bytes(showing: header.known, length: found.length)
    plan.head = [FileWrite(offset: 0, bytes: head)]
    return .repairable(plan)
  }

  /// Reads all readable clusters, and moves to the end of the last one.
  private mutating func readClusters(from start: Int64) throws(RoomRecorder.StorageError) {
    position = start
    while searched <= RepairAnalysis.maximumOffsets, unknown <= Self.maximumUnknown {
      let before = position
      if try readCluster() { continue }
      // If a damaged size leads too far, the search starts at the end of the last whole block.
      guard let next = try findCluster(from: position > before ? position : position + 1) else { break }
      position = next
      correction = []
    }
  }

  /// Reads the cluster at `position` and moves to its end, or to the end of its last complete block.
  ///
  /// - Returns: whether another cluster can follow there.
  private mutating func readCluster() throws(RoomRecorder.StorageError) -> Bool {
    let start = position
    guard let (head, time, first) = try clusterHead(at: start) else { return false }
    if time < end - Self.maximumStepBack { forgetTimes(after: time) }
    let content = start + Int64(head.length)
    // A cluster of unknown size lasts until the next one; this program never leaves the size unknown.
    var declared = head.size.map { content + $0 } ?? source.size
    // `end` is the end of the last known element, `next` the offset at which reading continues. Unknown elements are
    // skipped, as readers do, but only a known element after them shows that they are not damage.
    var (end, next) = (first, first)
    while next < declared, unknown <= Self.maximumUnknown, let element = try element(at: next, limit: declared) {
      next = element.end
      if element.isKnown { end = next } else { unknown += 1 }
      if let block = element.block { note(block, cluster: (start, time)) }
    }
    if head.size == nil, try clusterHead(at: next) != nil { declared = next }
    if end == declared {
      position = declared
      return true
    }
    // A block is damaged, but the cluster's end is where its size says.
    let isFollowed = try clusterHead(at: declared) != nil
    if declared == source.size && head.size != nil || isFollowed {
      position = declared
      return true
    }
    if end > first {
      position = end
      // A cluster of unknown size ends where the cues begin.
      if head.size != nil { correction = Self.sizeField(of: head, at: start, saying: end - content) }
    }
    return false
  }

  /// Reads the start of a cluster: its header, its time, and the offset after its time; nil where there is none.
  private func clusterHead(at offset: Int64) throws(RoomRecorder.StorageError) -> (
    head: EBMLElementHeader, time: Int64, first: Int64
  )? {
    guard let head = try self.head(at: offset), head.is(.cluster) else { return nil }
    var position = offset + Int64(head.length)
    // The time comes first, except for elements that say nothing about blocks.
    for _ in 0..<Self.maximumBeforeTime {
      guard let stamp = try self.head(at: position), let size = stamp.size, size <= source.size - position else {
        return nil
      }
      let content = position + Int64(stamp.length)
      if stamp.is(.timestamp) {
        guard size <= 8 else { return nil }
        let time = try source.read(at: content, count: Int(size))
        guard time.readableBytes == Int(size), time.ebmlUnsigned < UInt64(1) << 50 else { return nil }
        return (head, Int64(time.ebmlUnsigned), content + size)
      }
      guard !stamp.is(.simpleBlock), Self.known.contains(stamp.identifier) else { return nil }
      position = content + size
    }
    return nil
  }

  /// The maximum number of elements before a cluster's time.
  private static let maximumBeforeTime = 16

  /// The maximum number of skipped elements that do not occur in clusters, in total: each can be skipped again for
  /// every offset that looks like a cluster.
  private static let maximumUnknown = 100_000

  /// Returns the offset of the next possible cluster of this file.
  private mutating func findCluster(from offset: Int64) throws(RoomRecorder.StorageError) -> Int64? {
    var search = ByteSearch(for: [0x1F, 0x43, 0xB6, 0x75], in: source, from: offset)
    while searched <= RepairAnalysis.maximumOffsets, let position = try search.next() {
      searched += 1
      if let cluster = try clusterHead(at: position),
        try element(at: cluster.first, limit: source.size)?.isKnown == true
      {
        return position
      }
    }
    return nil
  }

  /// An element in a cluster.
  private struct Element {
    /// Whether clusters can contain such an element.
    var isKnown: Bool
    /// The block, if it is one of this file's tracks.
    var block: Block?
    var end: Int64
  }

  /// The elements that a cluster may contain besides its timestamp (RFC 9559, 5.1.3), and those that may occur
  /// everywhere (RFC 8794, 11.3): `SimpleBlock`, `BlockGroup`, `EncryptedBlock`, `Position`, `PrevSize`,
  /// `SilentTracks`, `Void`, `CRC-32`.
  private static let known: Set<UInt32> = [0xA3, 0xA0, 0xAF, 0xA7, 0xAB, 0x5854, 0xEC, 0xBF]

  /// Reads the element at an offset; nil when there is no complete one.
  private func element(at offset: Int64, limit: Int64) throws(RoomRecorder.StorageError) -> Element? {
    guard let head = try self.head(at: offset), let size = head.size, !head.is(.cluster), !head.is(.cues) else {
      return nil
    }
    let content = offset + Int64(head.length)
    guard size <= min(limit, source.size) - content else { return nil }
    var element = Element(isKnown: Self.known.contains(head.identifier), end: content + size)
    if head.is(.simpleBlock), size > 4 { element.block = try block(at: content, end: element.end) }
    return element
  }

  /// A block in the file.
  private struct Block {
    var number: UInt8
    var relativeTime: Int16
    var isKeyframe: Bool
    var payload: Int64
    var end: Int64
  }

  /// Parses a `SimpleBlock`; nil when it is of another track. Its flags are not checked, since readers accept any.
  private func block(at content: Int64, end: Int64) throws(RoomRecorder.StorageError) -> Block? {
    var bytes = try source.read(at: content, count: 4)
    guard
      let number: UInt8 = bytes.readInteger(), let relative: Int16 = bytes.readInteger(),
      let flags: UInt8 = bytes.readInteger(),
      number == 0x80 | MatroskaHeader.videoNumber || number == 0x80 | MatroskaHeader.audioNumber
    else { return nil }
    return Block(
      number: number & 0x7F, relativeTime: relative, isKeyframe: flags & 0x80 != 0, payload: content + 4, end: end)
  }

  private mutating func note(_ block: Block, cluster: (position: Int64, time: Int64)) {
    let time = max(0, cluster.time + Int64(block.relativeTime))
    if block.number == MatroskaHeader.videoNumber {
      let endBefore = videoTimes.end
      videoTimes.add(time, mayReorder: mayReorder)
      // The end of a reordered group is known when it is complete.
      if end == endBefore { end = videoTimes.end } else { end = max(end, videoTimes.end) }
      writtenFrames.add(
        isKeyframe: block.isKeyframe, start: .milliseconds(time),
        end: .milliseconds(time + videoTimes.length))
      if block.isKeyframe {
        cues.add(MatroskaCues.CuePoint(time: time, cluster: cluster.position - MatroskaHeader.segmentStart))
      }
    } else {
      writtenPackets.add(isKeyframe: true, start: .milliseconds(time), end: .milliseconds(time))
      let start = cluster.position - MatroskaHeader.segmentStart
      if isAudioOnly, cues.points.last?.cluster != start {
        cues.add(MatroskaCues.CuePoint(time: cluster.time, cluster: start))
      }
      lastAudio = (time, block.payload, Int(min(block.end - block.payload, 65_536)))
    }
  }

  private static func newTimes(length: Int64) -> LastFrameEnd {
    LastFrameEnd(length: length, maximum: MatroskaWriter.maximumClusterDuration)
  }

  private mutating func forgetTimes(after time: Int64) {
    searched += 1
    (end, videoTimes, lastAudio) = (time, Self.newTimes(length: videoTimes.length), nil)
    writtenFrames.end = min(writtenFrames.end, .milliseconds(time))
    writtenPackets.end = min(writtenPackets.end, .milliseconds(time))
    cues.remove(after: time)
  }

  /// The end of the last audio packet; nil without audio.
  private var endOfAudio: Duration? {
    get throws(RoomRecorder.StorageError) {
      guard let lastAudio else { return nil }
      let payload = try source.read(at: lastAudio.position, count: lastAudio.count)
      let parsed = header.audio.map { FrameHeader(parsing: payload, of: $0.codec) }
      return .milliseconds(lastAudio.time) + (parsed?.audio?.duration ?? .milliseconds(20))
    }
  }

  private func head(at offset: Int64) throws(RoomRecorder.StorageError) -> EBMLElementHeader? {
    guard offset < source.size else { return nil }
    return EBMLElementHeader(parsing: try source.read(at: offset, count: EBMLElementHeader.maximumLength))
  }

  /// Returns writes that put a smaller size into a size field of the same length: byte by byte, the last byte first, so
  /// that the field never contains less than the new size, wherever the program is killed. It contained too much
  /// before.
  private static func sizeField(of head: EBMLElementHeader, at offset: Int64, saying size: Int64) -> [FileWrite] {
    let length = head.sizeLength
    let value = UInt64(size) | 1 << UInt64(7 * length)
    return (0..<length).map { index in
      let byte = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
      return FileWrite(offset: offset + Int64(head.length - 1 - index), bytes: ByteBuffer(integer: byte))
    }
  }
}
