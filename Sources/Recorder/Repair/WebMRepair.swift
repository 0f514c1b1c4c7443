import Codecs
import NIOCore

/// Finds out how a WebM file of ours that was never closed becomes whole: which frames are there, where the last of them ends,
/// the cues and the duration. Reads the file once, from the beginning, and keeps nothing of it but the cues.
struct WebMRepair {
  /// More keyframes than a day of recording has; beyond them no cues are made.
  private static let mostCues = 1_000_000

  private let source: any ByteSource
  private var place: Int64 = 0
  private var cues: [WebMCues.Point] = []
  private var times: [UInt8: Int64] = [:]
  /// When the last picture ends, by the distance to the one before it.
  private var pictureLength: Int64 = 33
  private var end: Int64 = 0
  private var lastSound: (time: Int64, place: Int64, count: Int)?
  /// A cluster's size field that is to say less.
  private var correction: FileWrite?

  private init(_ source: any ByteSource) {
    self.source = source
  }

  /// Looks at a file.
  static func examine(_ source: any ByteSource) throws(Recorder.DiskError) -> RepairFinding {
    var repair = WebMRepair(source)
    return try repair.examine()
  }

  private mutating func examine() throws(Recorder.DiskError) -> RepairFinding {
    guard let found = WebMHeader.find(in: try source.read(at: 0, count: Int(WebMHeader.longest))) else {
      return .refused("is a WebM file, but not a recording of this program's")
    }
    if let duration = found.header.duration, found.segmentSize == source.size - WebMHeader.segmentStart {
      return .whole(.milliseconds(Int64(min(max(0, duration), 1e12))))
    }
    place = found.length
    while try readCluster() {}
    guard place > found.length else { return .refused("holds no frame") }
    try noteEndOfSound()

    var header = found.header
    let shown = header.known
    let element = WebMCues.element(cues)
    header.cues = element.count > 0 ? place : nil
    header.duration = Double(end)
    var plan = RepairPlan(truncation: place, duration: .milliseconds(end))
    if let correction { plan.body.append(correction) }
    // An older header is laid out otherwise: it is replaced in one go.
    if found.length == WebMHeader.length {
      plan.body.append(FileWrite(offset: 0, bytes: header.bytes(showing: shown)))
    }
    if element.count > 0 { plan.body.append(FileWrite(offset: place, bytes: element.bytes)) }
    header.fileSize = place + Int64(element.count)
    plan.head = [FileWrite(offset: 0, bytes: header.bytes(showing: header.known, length: found.length))]
    return .mendable(plan)
  }

  /// Reads the cluster at `place` and moves behind it, or behind its last whole block.
  ///
  /// - Returns: whether another one can follow.
  private mutating func readCluster() throws(Recorder.DiskError) -> Bool {
    let start = place
    guard
      let head = try self.head(at: start), head.is(.cluster), let size = head.size, size <= Int64.max / 4,
      let stamp = try self.head(at: start + Int64(head.length)), stamp.is(.timestamp), let stampSize = stamp.size,
      (1...8).contains(stampSize)
    else { return false }
    let content = start + Int64(head.length)
    let declared = content + size
    let stampPlace = content + Int64(stamp.length)
    let time = try source.read(at: stampPlace, count: Int(stampSize))
    guard time.readableBytes == Int(stampSize), time.ebmlUnsigned < UInt64(1) << 50 else { return false }
    var end = stampPlace + stampSize
    let first = end
    while end < declared, let next = try readBlock(at: end, limit: declared, cluster: (start, Int64(time.ebmlUnsigned))) {
      end = next
    }
    if end == declared {
      place = declared
      return true
    }
    if end > first {
      place = end
      correction = sizeField(of: head, at: start, saying: end - content)
    }
    return false
  }

  /// Reads a block's head.
  ///
  /// - Returns: where the block ends; nil when it is not there as a whole.
  private mutating func readBlock(
    at offset: Int64, limit: Int64, cluster: (place: Int64, time: Int64)
  ) throws(Recorder.DiskError) -> Int64? {
    guard let head = try self.head(at: offset), head.is(.simpleBlock), let size = head.size, size > 4 else { return nil }
    let content = offset + Int64(head.length)
    guard size <= min(limit, source.size) - content else { return nil }
    var bytes = try source.read(at: content, count: 4)
    guard
      let number: UInt8 = bytes.readInteger(), let relative: Int16 = bytes.readInteger(),
      let flags: UInt8 = bytes.readInteger(),
      number == 0x80 | WebMHeader.videoNumber || number == 0x80 | WebMHeader.audioNumber, flags & 0x76 == 0
    else { return nil }
    let time = max(0, cluster.time + Int64(relative))
    if number & 0x7F == WebMHeader.videoNumber {
      if let last = times[number] { pictureLength = min(max(1, time - last), WebMWriter.longestCluster) }
      end = max(end, time + pictureLength)
      if flags & 0x80 != 0, cues.count < Self.mostCues {
        cues.append(WebMCues.Point(time: time, cluster: cluster.place - WebMHeader.segmentStart))
      }
    } else {
      lastSound = (time, content + 4, Int(min(size - 4, 65_536)))
    }
    times[number] = time
    return content + size
  }

  private mutating func noteEndOfSound() throws(Recorder.DiskError) {
    guard let lastSound else { return }
    let payload = try source.read(at: lastSound.place, count: lastSound.count)
    let ticks = (try? OpusPacketShape(parsing: payload))?.duration ?? 960
    end = max(end, lastSound.time + Duration(opusTicks: Int64(ticks)).milliseconds)
  }

  private func head(at offset: Int64) throws(Recorder.DiskError) -> EBMLHead? {
    guard offset < source.size else { return nil }
    return EBMLHead(parsing: try source.read(at: offset, count: EBMLHead.longest))
  }

  /// A size field as long as it was, with another size.
  private func sizeField(of head: EBMLHead, at offset: Int64, saying size: Int64) -> FileWrite {
    let length = head.sizeLength
    let value = UInt64(size) | 1 << UInt64(7 * length)
    var bytes = ByteBuffer()
    for index in (0..<length).reversed() { bytes.writeInteger(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    return FileWrite(offset: offset + Int64(head.length - length), bytes: bytes)
  }
}
