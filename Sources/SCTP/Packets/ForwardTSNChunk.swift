import Bitstream
import NIOCore

/// A FORWARD TSN chunk: the sender has abandoned messages, and the receiver must not wait for them (RFC 3758, 3.2).
package struct ForwardTSNChunk: Sendable, Hashable {
  /// The last skipped ordered message of a stream.
  package struct Skipped: Sendable, Hashable {
    package var stream: UInt16
    package var streamSequenceNumber: UInt16

    package init(stream: UInt16, streamSequenceNumber: UInt16) {
      self.stream = stream
      self.streamSequenceNumber = streamSequenceNumber
    }
  }

  /// The receiver treats all chunks up to this one as received.
  package var newCumulativeTSN: UInt32
  package var skipped: [Skipped]

  package init(newCumulativeTSN: UInt32, skipped: [Skipped] = []) {
    self.newCumulativeTSN = newCumulativeTSN
    self.skipped = skipped
  }

  init(parsing body: ByteBuffer) throws(ParseError) {
    var rest = body
    guard let tsn = rest.readInteger(as: UInt32.self) else {
      throw .tooShort("A FORWARD TSN chunk", needs: 8, found: 4 + body.readableBytes)
    }
    self.init(newCumulativeTSN: tsn)
    while let (stream, sequence) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) {
      skipped.append(Skipped(stream: stream, streamSequenceNumber: sequence))
    }
  }

  func write(into buffer: inout ByteBuffer) {
    buffer.writeInteger(newCumulativeTSN)
    for entry in skipped { buffer.writeMultipleIntegers(entry.stream, entry.streamSequenceNumber) }
  }
}
