internal import Bitstream
package import NIOCore

/// The maximum bitrate that the receiver accepts: REMB (draft-alvestrand-rmcat-remb-03, 2.2).
package struct ReceiverEstimatedMaximumBitrate: Sendable, Hashable {
  static let format: UInt8 = 15
  /// "REMB", which distinguishes it from other application layer feedback.
  private static let identifier: UInt32 = 0x5245_4D42

  package var senderSSRC: UInt32
  /// 0, because the list names the sources.
  package var mediaSSRC: UInt32
  /// The bitrate is `mantissa` · 2^`exponent`. 6 bits.
  package private(set) var exponent: UInt8
  /// 18 bits.
  package private(set) var mantissa: UInt32
  /// The sources to which the limit applies in total; at most 255.
  package var sources: [UInt32]

  /// - Parameter bitrate: in bits per second; rounded down to the 18 significant bits that the packet can carry.
  package init(senderSSRC: UInt32, mediaSSRC: UInt32 = 0, bitrate: UInt64, sources: [UInt32]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.sources = sources
    exponent = 0
    mantissa = 0
    self.bitrate = bitrate
  }

  /// The bitrate in bits per second; `UInt64.max` when the packet describes a larger one.
  package var bitrate: UInt64 {
    get {
      let bits = UInt64.bitWidth - UInt64(mantissa).leadingZeroBitCount
      if bits + Int(exponent) > UInt64.bitWidth { return .max }
      return UInt64(mantissa) << exponent
    }
    set {
      let bits = UInt64.bitWidth - newValue.leadingZeroBitCount
      exponent = UInt8(max(0, bits - 18))
      mantissa = UInt32(truncatingIfNeeded: newValue >> exponent)
    }
  }

  static func isIdentified(in raw: RawRTCPPacket) -> Bool {
    raw.body.getInteger(at: raw.body.readerIndex + 8, as: UInt32.self) == identifier
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard
      let (senderSSRC, mediaSSRC, _, counts) = body.readMultipleIntegers(as: (UInt32, UInt32, UInt32, UInt32).self)
    else {
      throw .tooShort("A maximum bitrate estimate's body", needs: 16, found: raw.body.readableBytes)
    }
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    exponent = UInt8(truncatingIfNeeded: counts >> 18 & 0x3F)
    mantissa = counts & 0x3FFFF
    sources = []
    let count = Int(counts >> 24)
    sources.reserveCapacity(count)
    for _ in 0..<count {
      guard let source = body.readInteger(as: UInt32.self) else {
        throw .tooShort(
          "A maximum bitrate estimate for \(count) sources", needs: 16 + 4 * count, found: raw.body.readableBytes)
      }
      sources.append(source)
    }
  }

  /// Writes the packet; sources after the 255th are left out.
  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.payloadSpecificFeedback, count: Int(Self.format)) { body in
      let listed = sources.prefix(255)
      let counts = UInt32(listed.count) << 24 | UInt32(exponent) << 18 | mantissa
      body.writeMultipleIntegers(senderSSRC, mediaSSRC, Self.identifier, counts)
      for source in listed { body.writeInteger(source) }
    }
  }
}
