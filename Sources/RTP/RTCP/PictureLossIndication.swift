internal import Bitstream
package import NIOCore

/// A keyframe request after a loss that retransmission cannot repair: PLI (RFC 4585, 6.3.1).
package struct PictureLossIndication: Sendable, Hashable {
  static let format: UInt8 = 1

  package var senderSSRC: UInt32
  /// The source that must send a keyframe.
  package var mediaSSRC: UInt32

  package init(senderSSRC: UInt32, mediaSSRC: UInt32) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard let (senderSSRC, mediaSSRC) = body.readMultipleIntegers(as: (UInt32, UInt32).self) else {
      throw .tooShort("A picture loss indication's body", needs: 8, found: raw.body.readableBytes)
    }
    self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC)
  }

  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.payloadSpecificFeedback, count: Int(Self.format)) { body in
      body.writeMultipleIntegers(senderSSRC, mediaSSRC)
    }
  }
}
