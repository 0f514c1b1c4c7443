package import Bitstream
package import NIOCore

/// A payload of RED: the audio of a packet, and copies of the audio of earlier ones (RFC 2198, 3).
package struct RedundantAudio: Sendable, Hashable {
  /// The audio of an earlier packet.
  package struct Copy: Sendable, Hashable {
    package var payloadType: UInt8
    /// How many ticks before this packet's timestamp its own is, 0 to 16,383.
    package var offset: UInt32
    /// At most 1,023 bytes.
    package var payload: ByteBuffer

    package init(payloadType: UInt8, offset: UInt32, payload: ByteBuffer) {
      self.payloadType = payloadType
      self.offset = offset
      self.payload = payload
    }
  }

  /// The number of blocks that are read, the primary one included; a payload with more is refused.
  package static let maximumBlocks = 32

  package var copies: [Copy]
  /// The payload type of the packet's own audio.
  package var payloadType: UInt8
  /// The packet's own audio.
  package var payload: ByteBuffer

  package init(copies: [Copy], payloadType: UInt8, payload: ByteBuffer) {
    self.copies = copies
    self.payloadType = payloadType
    self.payload = payload
  }

  package init(parsing payload: ByteBuffer) throws(ParseError) {
    var rest = payload
    var headers: [(payloadType: UInt8, offset: UInt32, length: Int)] = []
    while true {
      guard let first = rest.readInteger(as: UInt8.self) else {
        throw .tooShort("A RED payload", needs: payload.readableBytes + 1, found: payload.readableBytes)
      }
      guard first & 0x80 != 0 else {
        payloadType = first
        break
      }
      guard let fields = rest.readUInt24() else {
        throw .tooShort("A block header of RED", needs: 4, found: 1 + rest.readableBytes)
      }
      headers.append((first & 0x7F, fields >> 10, Int(fields & 0x3FF)))
      guard headers.count < Self.maximumBlocks else {
        throw .wrongValue(
          "A RED payload's number of blocks", expected: "at most \(Self.maximumBlocks)", found: headers.count + 1)
      }
    }
    var copies: [Copy] = []
    copies.reserveCapacity(headers.count)
    for header in headers {
      guard let block = rest.readSlice(length: header.length) else {
        throw .tooShort("A block of RED", needs: header.length, found: rest.readableBytes)
      }
      copies.append(Copy(payloadType: header.payloadType, offset: header.offset, payload: block))
    }
    self.copies = copies
    self.payload = rest
  }

  /// Writes the payload. Offsets and lengths that do not fit are cut to their fields.
  package func write(into buffer: inout ByteBuffer) {
    for copy in copies {
      buffer.writeInteger(copy.payloadType | 0x80)
      let fields = (copy.offset & 0x3FFF) << 10 | UInt32(truncatingIfNeeded: copy.payload.readableBytes) & 0x3FF
      buffer.writeInteger(UInt8(truncatingIfNeeded: fields >> 16))
      buffer.writeInteger(UInt16(truncatingIfNeeded: fields))
    }
    buffer.writeInteger(payloadType & 0x7F)
    for copy in copies { buffer.writeImmutableBuffer(copy.payload) }
    buffer.writeImmutableBuffer(payload)
  }
}
