import Bitstream
package import NIOCore

/// Splits temporal units of AV1 into RTP payloads of about equal size (AV1 RTP specification 1.0, 4 and 5): several OBUs share a payload,
/// and one that is too large continues in the next.
///
/// Every payload but the first begins with the rest of an OBU. Without a dependency descriptor, which we do not send, that is how libwebrtc
/// knows which packets belong together: it takes any other payload for the beginning of a frame, and would show no stream with several
/// frames in a temporal unit, as those with spatial layers have.
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

    /// Removes and returns the first bytes; nil unless they have the header and a byte more, and a byte is left.
    mutating func removeFirst(_ count: Int) -> Piece? {
      let headerSize = header?.headerSize ?? 0
      guard count > headerSize, count < byteCount, let part = bytes.readSlice(length: count - headerSize) else {
        return nil
      }
      defer { header = nil }
      return Piece(header: header, bytes: part)
    }
  }

  /// Returns the payloads of one temporal unit, in order. The packet of the last one has the marker bit.
  ///
  /// - Parameter frame: a temporal unit in the form of `AV1OBUs`; temporal delimiters, tile lists and padding are left out.
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] {
    var pieces: [Piece] = []
    for obu in AV1OBUs(frame) where obu.type.isKept { pieces.append(Piece(header: obu, bytes: obu.payload)) }
    var payloads: [ByteBuffer] = []
    split(&pieces, into: &payloads)
    if Self.isKeyframe(frame), let header = payloads.first?.getInteger(at: 0, as: UInt8.self) {
      payloads[0].setInteger(header | 0x08, at: 0)
    }
    return payloads
  }

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

  /// Writes the payloads of OBUs.
  private func split(_ pieces: inout [Piece], into payloads: inout [ByteBuffer]) {
    let room = maximumPayloadSize - 1
    let total = pieces.reduce(0) { $0 + $1.cost }
    let count = max(1, (total + room - 1) / room)
    // Each fragment has a length as well.
    let limit = min(room, (total + count - 1) / count + (count > 1 ? 3 : 0))
    var (index, continues) = (0, false)
    while index < pieces.count {
      var (gathered, used): ([Piece], Int) = ([], 0)
      while index < pieces.count, used + pieces[index].cost <= limit {
        used += pieces[index].cost
        gathered.append(pieces[index])
        index += 1
      }
      var isContinued = false
      if index < pieces.count {
        let available = limit - used - LEB128.byteCount(of: limit - used)
        if let part = pieces[index].removeFirst(available) {
          gathered.append(part)
          isContinued = true
        } else if var last = gathered.popLast() {
          // There is no room for a part of the next OBU: a byte of this one goes into the next payload instead.
          if let part = last.removeFirst(last.byteCount - 1) {
            index -= 1
            pieces[index] = last
            isContinued = true
            last = part
          }
          gathered.append(last)
        }
      }
      payloads.append(Self.payload(gathered, continues: continues, isContinued: isContinued))
      continues = isContinued
    }
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
