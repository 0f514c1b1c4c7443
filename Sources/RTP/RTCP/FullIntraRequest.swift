internal import Bitstream
package import NIOCore

/// A request for a keyframe of each listed source: FIR (RFC 5104, 4.3.1).
package struct FullIntraRequest: Sendable, Hashable {
  static let format: UInt8 = 4

  package struct Entry: Sendable, Hashable {
    /// The source that must send a keyframe.
    package var ssrc: UInt32
    /// The request number: incremented for a new request, unchanged in a repetition.
    package var sequenceNumber: UInt8

    package init(ssrc: UInt32, sequenceNumber: UInt8) {
      self.ssrc = ssrc
      self.sequenceNumber = sequenceNumber
    }
  }

  package var senderSSRC: UInt32
  /// 0, because the entries name the sources (RFC 5104, 4.3.1.2).
  package var mediaSSRC: UInt32
  package var entries: [Entry]

  package init(senderSSRC: UInt32, mediaSSRC: UInt32 = 0, entries: [Entry]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.entries = entries
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard let (senderSSRC, mediaSSRC) = body.readMultipleIntegers(as: (UInt32, UInt32).self) else {
      throw .tooShort("A full intra request's body", needs: 8, found: raw.body.readableBytes)
    }
    self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, entries: [])
    entries.reserveCapacity(body.readableBytes / 8)
    while let (ssrc, number) = body.readMultipleIntegers(as: (UInt32, UInt32).self) {
      entries.append(Entry(ssrc: ssrc, sequenceNumber: UInt8(number >> 24)))
    }
  }

  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.payloadSpecificFeedback, count: Int(Self.format)) { body in
      body.writeMultipleIntegers(senderSSRC, mediaSSRC)
      for entry in entries {
        body.writeMultipleIntegers(entry.ssrc, UInt32(entry.sequenceNumber) << 24)
      }
    }
  }
}
