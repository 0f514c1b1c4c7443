import Bitstream
import NIOCore

/// A SACK chunk: which DATA chunks arrived (RFC 9260, 3.3.4).
package struct SelectiveAckChunk: Sendable, Hashable {
  /// Received chunks above the cumulative TSN, as offsets from it.
  package struct GapBlock: Sendable, Hashable {
    package var start: UInt16
    package var end: UInt16

    package init(start: UInt16, end: UInt16) {
      self.start = start
      self.end = end
    }
  }

  /// All chunks up to this one arrived.
  package var cumulativeTSN: UInt32
  /// The advertised receiver window credit (a_rwnd) in bytes.
  package var window: UInt32
  package var gapBlocks: [GapBlock]
  /// Chunks that arrived more than once since the last SACK.
  package var duplicates: [UInt32]

  package init(cumulativeTSN: UInt32, window: UInt32, gapBlocks: [GapBlock] = [], duplicates: [UInt32] = []) {
    self.cumulativeTSN = cumulativeTSN
    self.window = window
    self.gapBlocks = gapBlocks
    self.duplicates = duplicates
  }

  init(parsing body: ByteBuffer) throws(ParseError) {
    var rest = body
    guard
      let (tsn, window, blockCount, duplicateCount) = rest.readMultipleIntegers(
        as: (UInt32, UInt32, UInt16, UInt16).self)
    else { throw .tooShort("A SACK chunk", needs: 16, found: 4 + body.readableBytes) }
    let needed = 4 * (Int(blockCount) + Int(duplicateCount))
    guard rest.readableBytes >= needed else {
      throw .tooShort("A SACK chunk", needs: 16 + needed, found: 4 + body.readableBytes)
    }
    self.init(cumulativeTSN: tsn, window: window)
    gapBlocks.reserveCapacity(Int(blockCount))
    for _ in 0..<blockCount {
      guard let (start, end) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) else { break }
      gapBlocks.append(GapBlock(start: start, end: end))
    }
    duplicates.reserveCapacity(Int(duplicateCount))
    for _ in 0..<duplicateCount {
      guard let duplicate = rest.readInteger(as: UInt32.self) else { break }
      duplicates.append(duplicate)
    }
  }

  func write(into buffer: inout ByteBuffer) {
    buffer.writeMultipleIntegers(
      cumulativeTSN, window, UInt16(clamping: gapBlocks.count), UInt16(clamping: duplicates.count))
    for block in gapBlocks.prefix(Int(UInt16.max)) { buffer.writeMultipleIntegers(block.start, block.end) }
    for duplicate in duplicates.prefix(Int(UInt16.max)) { buffer.writeInteger(duplicate) }
  }
}
