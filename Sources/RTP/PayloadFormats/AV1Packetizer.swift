import Bitstream
package import NIOCore

/// Splits temporal units of AV1 into RTP payloads of about equal size (AV1 RTP specification 1.0, 4 and 5): several OBUs of a frame
/// share a payload, and one that is too large continues in the next.
///
/// OBUs of different frames or layers are in different payloads.
package struct AV1Packetizer: Sendable, Hashable {
  /// The maximum payload size in bytes, aggregation header included.
  package let maximumPayloadSize: Int

  /// - Parameter maximumPayloadSize: in bytes; smaller values than 16 are raised to 16.
  package init(maximumPayloadSize: Int) {
    self.maximumPayloadSize = max(16, maximumPayloadSize)
  }

  /// An OBU without its size, or a part of one.
  private struct Piece {
    /// The OBU whose header precedes the bytes; nil for a part that continues.
    var header: AV1OBU?
    var bytes: ByteBuffer

    var byteCount: Int { (header?.headerSize ?? 0) + bytes.readableBytes }
    /// The bytes in a payload, with those of the length.
    var cost: Int { LEB128.byteCount(of: byteCount) + byteCount }
  }

  /// Returns the payloads of one temporal unit, in order. The packet of the last one has the marker bit.
  ///
  /// - Parameter frame: a temporal unit in the form of `AV1OBUs`; temporal delimiters, tile lists and padding are left out.
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] {
    var payloads: [ByteBuffer] = []
    var gathered: [AV1OBU] = []
    var isFrameOver = false
    for obu in AV1OBUs(frame) where obu.type.isKept {
      let isOther =
        isFrameOver && obu.type != .tileGroup
        || gathered.last.map { Self.layers(of: $0) != Self.layers(of: obu) } ?? false
      if isOther { split(&gathered, into: &payloads) }
      gathered.append(obu)
      isFrameOver = obu.type == .frame || obu.type == .tileGroup || obu.type == .frameHeader
    }
    split(&gathered, into: &payloads)
    if Self.isKeyframe(frame), let header = payloads.first?.getInteger(at: 0, as: UInt8.self) {
      payloads[0].setInteger(header | 0x08, at: 0)
    }
    return payloads
  }

  /// Two OBUs with extensions share a payload only if they are of the same layers.
  private static func layers(of obu: AV1OBU) -> UInt8 { obu.temporalLayer << 2 | obu.spatialLayer }

  /// Returns whether a temporal unit begins a coded video sequence.
  private static func isKeyframe(_ frame: ByteBuffer) -> Bool {
    var hasSequence = false
    for obu in AV1OBUs(frame) {
      if obu.type == .sequenceHeader { hasSequence = true }
      if obu.type.beginsFrame {
        return hasSequence && (try? AV1FrameHeader.Start(parsing: obu.payload))?.isShownKeyFrame ?? false
      }
    }
    return false
  }

  /// Writes the payloads of the OBUs of a frame.
  private func split(_ obus: inout [AV1OBU], into payloads: inout [ByteBuffer]) {
    defer { obus = [] }
    let room = maximumPayloadSize - 1
    let total = obus.reduce(0) { $0 + Piece(header: $1, bytes: $1.payload).cost }
    let count = max(1, (total + room - 1) / room)
    // Each fragment has a length as well.
    let limit = min(room, (total + count - 1) / count + (count > 1 ? 3 : 0))
    var pieces: [Piece] = []
    var used = 0
    var continues = false
    for obu in obus {
      var piece = Piece(header: obu, bytes: obu.payload)
      while used + piece.cost > limit {
        // A fragment has at least the header and a byte.
        let available = limit - used - LEB128.byteCount(of: limit - used)
        guard pieces.isEmpty || available >= 16 else {
          payloads.append(Self.payload(pieces, continues: continues, isContinued: false))
          (pieces, used, continues) = ([], 0, false)
          continue
        }
        guard let part = piece.bytes.readSlice(length: available - (piece.header?.headerSize ?? 0)) else { break }
        pieces.append(Piece(header: piece.header, bytes: part))
        piece.header = nil
        payloads.append(Self.payload(pieces, continues: continues, isContinued: true))
        (pieces, used, continues) = ([], 0, true)
      }
      pieces.append(piece)
      used += piece.cost
    }
    if !pieces.isEmpty { payloads.append(Self.payload(pieces, continues: continues, isContinued: false)) }
  }

  /// Writes a payload. With up to three elements, the last one has no length.
  private static func payload(_ pieces: [Piece], continues: Bool, isContinued: Bool) -> ByteBuffer {
    let count = pieces.count <= 3 ? pieces.count : 0
    var payload = ByteBuffer()
    payload.reserveCapacity(pieces.reduce(1) { $0 + $1.cost })
    payload.writeInteger((continues ? 0x80 : 0) | (isContinued ? 0x40 : 0) | UInt8(truncatingIfNeeded: count) << 4)
    for (index, piece) in pieces.enumerated() {
      if index + 1 != count { LEB128.write(piece.byteCount, into: &payload) }
      piece.header?.writeHeader(hasSize: false, into: &payload)
      payload.writeImmutableBuffer(piece.bytes)
    }
    return payload
  }
}
