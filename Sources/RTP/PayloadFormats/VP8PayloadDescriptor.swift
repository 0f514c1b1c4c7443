package import Bitstream
package import NIOCore

/// The payload descriptor before the VP8 data in each RTP payload (RFC 7741, 4.2).
package struct VP8PayloadDescriptor: Sendable, Hashable {
  /// The temporal layer of a frame.
  package struct TemporalLayer: Sendable, Hashable {
    /// TID, 0...3; 0 is the base layer.
    package var index: UInt8
    /// Y: whether the frame depends only on the base layer.
    package var isLayerSync: Bool

    package init(index: UInt8, isLayerSync: Bool) {
      self.index = index & 0x03
      self.isLayerSync = isLayerSync
    }
  }

  /// N: whether no other frame depends on this one.
  package var isNonReference: Bool
  /// S: whether the payload begins with a new VP8 partition.
  package var startsPartition: Bool
  /// PID, 0...7. A payload with S and PID 0 begins a frame.
  package var partitionIndex: UInt8
  /// I: the picture id.
  package var pictureID: PictureID?
  /// L: TL0PICIDX, a running count of base layer frames.
  package var baseLayerIndex: UInt8?
  /// T: the temporal layer.
  package var temporalLayer: TemporalLayer?
  /// K: KEYIDX, 5 bits, a running count of keyframes.
  package var keyframeIndex: UInt8?
  /// X. Set without other flags in a payload whose extension is empty.
  private var announcesExtension: Bool

  package init(
    isNonReference: Bool = false, startsPartition: Bool, partitionIndex: UInt8 = 0, pictureID: PictureID? = nil,
    baseLayerIndex: UInt8? = nil, temporalLayer: TemporalLayer? = nil, keyframeIndex: UInt8? = nil
  ) {
    self.isNonReference = isNonReference
    self.startsPartition = startsPartition
    self.partitionIndex = partitionIndex & 0x07
    self.pictureID = pictureID
    self.baseLayerIndex = baseLayerIndex
    self.temporalLayer = temporalLayer
    self.keyframeIndex = keyframeIndex
    announcesExtension = false
  }

  /// Reads the descriptor from the front of an RTP payload and leaves the VP8 data.
  ///
  /// It also throws when no VP8 data follows, because every VP8 payload has some (RFC 7741, 4.2).
  package init(parsing payload: inout ByteBuffer) throws(ParseError) {
    var reader = Reader(rest: payload, size: payload.readableBytes)
    let first = try reader.next()
    let flags = first & 0x80 == 0 ? 0 : try reader.next()
    isNonReference = first & 0x20 != 0
    startsPartition = first & 0x10 != 0
    partitionIndex = first & 0x07
    announcesExtension = first & 0x80 != 0
    if flags & 0x80 != 0 {
      let high = try reader.next()
      let isLong = high & 0x80 != 0
      let value = isLong ? UInt16(high & 0x7F) << 8 | UInt16(try reader.next()) : UInt16(high)
      pictureID = PictureID(value, isLong: isLong)
    }
    if flags & 0x40 != 0 { baseLayerIndex = try reader.next() }
    if flags & 0x30 != 0 {
      let byte = try reader.next()
      if flags & 0x20 != 0 { temporalLayer = TemporalLayer(index: byte >> 6, isLayerSync: byte & 0x20 != 0) }
      if flags & 0x10 != 0 { keyframeIndex = byte & 0x1F }
    }
    guard reader.rest.readableBytes > 0 else {
      throw .tooShort("A VP8 payload", needs: reader.size + 1, found: reader.size)
    }
    payload = reader.rest
  }

  /// Whether the payload begins a frame.
  package var startsFrame: Bool { startsPartition && partitionIndex == 0 }

  /// The number of bytes that `write(into:)` writes: 1...6.
  package var byteCount: Int {
    guard flags != 0 || announcesExtension else { return 1 }
    return 2 + (pictureID?.byteCount ?? 0) + (baseLayerIndex == nil ? 0 : 1)
      + (temporalLayer == nil && keyframeIndex == nil ? 0 : 1)
  }

  /// Writes the descriptor; reserved bits are written as 0.
  package func write(into buffer: inout ByteBuffer) {
    let hasExtension = flags != 0 || announcesExtension
    buffer.writeInteger(
      (hasExtension ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (startsPartition ? 0x10 : 0) | (partitionIndex & 0x07))
    guard hasExtension else { return }
    buffer.writeInteger(flags)
    pictureID?.write(into: &buffer)
    if let baseLayerIndex { buffer.writeInteger(baseLayerIndex) }
    if temporalLayer != nil || keyframeIndex != nil {
      let layer = temporalLayer.map { ($0.index & 0x03) << 6 | ($0.isLayerSync ? 0x20 : 0) } ?? 0
      buffer.writeInteger(layer | (keyframeIndex ?? 0) & 0x1F)
    }
  }

  private var flags: UInt8 {
    (pictureID == nil ? 0 : 0x80) | (baseLayerIndex == nil ? 0 : 0x40) | (temporalLayer == nil ? 0 : 0x20)
      | (keyframeIndex == nil ? 0 : 0x10)
  }

  private struct Reader {
    var rest: ByteBuffer
    let size: Int

    mutating func next() throws(ParseError) -> UInt8 {
      guard let byte = rest.readInteger(as: UInt8.self) else {
        throw .tooShort("A VP8 payload descriptor", needs: size + 1, found: size)
      }
      return byte
    }
  }
}
