package import Bitstream
package import NIOCore

/// An SCTP packet (RFC 9260, 3): the common header and its chunks.
package struct SCTPPacket: Sendable, Hashable {
  package var sourcePort: UInt16
  package var destinationPort: UInt16
  /// The tag that the receiver chose; 0 in a packet with an INIT.
  package var verificationTag: UInt32
  package var chunks: [SCTPChunk]

  package init(sourcePort: UInt16, destinationPort: UInt16, verificationTag: UInt32, chunks: [SCTPChunk]) {
    self.sourcePort = sourcePort
    self.destinationPort = destinationPort
    self.verificationTag = verificationTag
    self.chunks = chunks
  }

  static let headerLength = 12
  /// The maximum number of chunks in a packet: twice as many as the smallest DATA chunks that fit into 1,200 bytes.
  package static let maximumChunks = 128

  /// Parses a decrypted datagram; payloads share its storage. The checksum is verified.
  package init(parsing datagram: ByteBuffer) throws(ParseError) {
    var rest = datagram
    guard
      let (source, destination, tag) = rest.readMultipleIntegers(as: (UInt16, UInt16, UInt32).self),
      let checksum = rest.readInteger(endianness: .little, as: UInt32.self)
    else { throw .tooShort("An SCTP packet", needs: Self.headerLength, found: datagram.readableBytes) }
    guard datagram.withUnsafeReadableBytes({ CRC32c.ofPacket($0) }) == checksum else {
      throw .wrongValue("The checksum of an SCTP packet", expected: "the CRC32c of its bytes", found: Int(checksum))
    }
    self.init(sourcePort: source, destinationPort: destination, verificationTag: tag, chunks: [])
    while rest.readableBytes > 0 {
      guard chunks.count < Self.maximumChunks else {
        throw .wrongValue(
          "The number of chunks in an SCTP packet", expected: "at most \(Self.maximumChunks)", found: chunks.count + 1)
      }
      chunks.append(try SCTPChunk(parsing: try RawChunk(parsing: &rest)))
    }
  }

  /// Writes the packet with its checksum.
  package func write(into buffer: inout ByteBuffer) {
    var builder = PacketBuilder(
      sourcePort: sourcePort, destinationPort: destinationPort, verificationTag: verificationTag, limit: .max)
    for chunk in chunks { builder.append(chunk) }
    buffer.writeImmutableBuffer(builder.finish())
  }
}

/// Writes chunks into one packet of limited length.
struct PacketBuilder {
  private var buffer: ByteBuffer
  private let limit: Int
  private(set) var chunkCount = 0

  /// - Parameter limit: the maximum length of the packet in bytes.
  init(sourcePort: UInt16, destinationPort: UInt16, verificationTag: UInt32, limit: Int) {
    self.limit = limit
    buffer = ByteBuffer()
    buffer.reserveCapacity(min(limit, 2_048))
    buffer.writeMultipleIntegers(sourcePort, destinationPort, verificationTag, UInt32(0))
  }

  var isEmpty: Bool { chunkCount == 0 }
  /// The number of bytes for further chunks.
  var space: Int { limit - buffer.writerIndex }

  mutating func append(_ chunk: SCTPChunk) {
    chunk.write(into: &buffer)
    chunkCount += 1
  }

  mutating func append(_ chunk: DataChunk) {
    chunk.write(into: &buffer)
    chunkCount += 1
  }

  /// Appends the chunk if it fits; returns whether it did.
  mutating func appendIfFits(_ chunk: SCTPChunk) -> Bool {
    let start = buffer.writerIndex
    chunk.write(into: &buffer)
    guard buffer.writerIndex <= limit else {
      buffer.moveWriterIndex(to: start)
      return false
    }
    chunkCount += 1
    return true
  }

  /// Sets the checksum and returns the packet.
  mutating func finish() -> ByteBuffer {
    let checksum = buffer.withUnsafeReadableBytes { CRC32c.ofPacket($0) }
    buffer.setInteger(checksum, at: 8, endianness: .little)
    return buffer
  }
}
