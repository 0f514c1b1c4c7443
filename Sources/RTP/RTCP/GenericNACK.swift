internal import Bitstream
package import NIOCore

/// A request to retransmit lost packets: generic NACK (RFC 4585, 6.2.1).
package struct GenericNACK: Sendable, Hashable {
  static let format: UInt8 = 1

  /// One lost packet and a bit mask of the 16 packets after it.
  package struct Entry: Sendable, Hashable {
    /// PID.
    package var packetID: UInt16
    /// BLP: bit 0 means `packetID` + 1.
    package var lostPacketBitmask: UInt16

    package init(packetID: UInt16, lostPacketBitmask: UInt16) {
      self.packetID = packetID
      self.lostPacketBitmask = lostPacketBitmask
    }
  }

  package var senderSSRC: UInt32
  /// The source whose packets were lost.
  package var mediaSSRC: UInt32
  package var entries: [Entry]

  package init(senderSSRC: UInt32, mediaSSRC: UInt32, entries: [Entry]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.entries = entries
  }

  /// Packs sequence numbers into as few entries as their order allows.
  ///
  /// - Parameter sequenceNumbers: the lost packets, oldest first; the order may wrap from 65535 to 0.
  package init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: some Sequence<UInt16>) {
    self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, entries: [])
    for number in sequenceNumbers {
      if let last = entries.indices.last {
        let distance = number &- entries[last].packetID
        if distance == 0 { continue }
        if distance <= 16 {
          entries[last].lostPacketBitmask |= 1 << (distance - 1)
          continue
        }
      }
      entries.append(Entry(packetID: number, lostPacketBitmask: 0))
    }
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard let (senderSSRC, mediaSSRC) = body.readMultipleIntegers(as: (UInt32, UInt32).self) else {
      throw .tooShort("A NACK's body", needs: 8, found: raw.body.readableBytes)
    }
    self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, entries: [])
    entries.reserveCapacity(body.readableBytes / 4)
    while let (packetID, following) = body.readMultipleIntegers(as: (UInt16, UInt16).self) {
      entries.append(Entry(packetID: packetID, lostPacketBitmask: following))
    }
  }

  /// All requested sequence numbers, in the order of the entries.
  package var sequenceNumbers: [UInt16] {
    var numbers: [UInt16] = []
    for entry in entries {
      numbers.append(entry.packetID)
      var following = entry.lostPacketBitmask
      while following != 0 {
        numbers.append(entry.packetID &+ 1 &+ UInt16(following.trailingZeroBitCount))
        following &= following &- 1
      }
    }
    return numbers
  }

  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.transportLayerFeedback, count: Int(Self.format)) { body in
      body.writeMultipleIntegers(senderSSRC, mediaSSRC)
      for entry in entries { body.writeMultipleIntegers(entry.packetID, entry.lostPacketBitmask) }
    }
  }
}
