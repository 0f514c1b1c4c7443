internal import Bitstream
package import NIOCore

/// Descriptions of sources: SDES (RFC 3550, 6.5).
package struct SourceDescription: Sendable, Hashable {
  /// One source and its items.
  package struct Chunk: Sendable, Hashable {
    package var ssrc: UInt32
    package var items: [Item]

    package init(ssrc: UInt32, items: [Item]) {
      self.ssrc = ssrc
      self.items = items
    }

    /// The source's canonical name, equal for all sources of one sender that share a clock (RFC 3550, 6.5.1).
    package var cname: String? {
      items.first { $0.type == Item.cname }?.text
    }
  }

  package struct Item: Sendable, Hashable {
    /// The item type of a canonical name.
    package static let cname: UInt8 = 1

    /// 1...255; 0 would end the list, so such an item is not written.
    package var type: UInt8
    /// At most 255 bytes; further bytes are not written.
    package var value: ByteBuffer

    package init(type: UInt8, value: ByteBuffer) {
      self.type = type
      self.value = value
    }

    /// The value as UTF-8, repaired where invalid.
    package var text: String { String(buffer: value) }
  }

  package var chunks: [Chunk]

  package init(chunks: [Chunk]) {
    self.chunks = chunks
  }

  /// Creates the description that each compound packet needs: the canonical name of one source.
  package init(ssrc: UInt32, cname: String) {
    chunks = [Chunk(ssrc: ssrc, items: [Item(type: Item.cname, value: ByteBuffer(string: cname))])]
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    chunks = []
    chunks.reserveCapacity(Int(raw.count))
    for _ in 0..<raw.count {
      chunks.append(try Self.readChunk(from: &body))
    }
  }

  /// Writes as many packets as the chunks need, 31 in each.
  package func write(into buffer: inout ByteBuffer) {
    var rest = chunks[...]
    repeat {
      let some = rest.prefix(31)
      rest = rest.dropFirst(31)
      buffer.writeRTCP(type: RTCPPacket.Kind.sourceDescription, count: some.count) { body in
        for chunk in some { Self.write(chunk, into: &body) }
      }
    } while !rest.isEmpty
  }

  private static func write(_ chunk: Chunk, into body: inout ByteBuffer) {
    let start = body.writerIndex
    body.writeInteger(chunk.ssrc)
    for item in chunk.items where item.type != 0 {
      let value = item.value.getSlice(at: item.value.readerIndex, length: min(255, item.value.readableBytes))
      body.writeMultipleIntegers(item.type, UInt8(truncatingIfNeeded: value?.readableBytes ?? 0))
      if let value { body.writeImmutableBuffer(value) }
    }
    // At least one zero ends the list; further zeros pad the word.
    body.writeInteger(UInt8(0))
    body.padToWord(since: start)
  }

  private static func readChunk(from body: inout ByteBuffer) throws(ParseError) -> Chunk {
    let found = body.readableBytes
    guard let ssrc = body.readInteger(as: UInt32.self) else {
      throw .tooShort("A source description's chunk", needs: 4, found: found)
    }
    var chunk = Chunk(ssrc: ssrc, items: [])
    while let type = body.readInteger(as: UInt8.self) {
      if type == 0 {
        body.moveReaderIndex(forwardBy: body.readableBytes & 3)
        return chunk
      }
      let available = body.readableBytes
      let length = Int(body.readInteger(as: UInt8.self) ?? 0)
      guard available > 0, let value = body.readSlice(length: length) else {
        throw .tooShort("A source description's item of type \(type)", needs: 2 + length, found: 1 + available)
      }
      chunk.items.append(Item(type: type, value: value))
    }
    throw .tooShort("A source description's list of items", needs: found + 1, found: found)
  }
}
