/// Packs packet statuses into few chunks, with a lookahead of 14 statuses.
struct StatusChunkWriter {
  private typealias Chunk = TransportFeedback.StatusChunk

  private var chunks: [TransportFeedback.StatusChunk] = []
  private var waiting: [TransportFeedback.Status] = []

  mutating func append(_ status: TransportFeedback.Status, count: Int) {
    waiting.append(contentsOf: repeatElement(status, count: count))
  }

  /// Returns the chunks of all statuses: a run where it is shorter, otherwise a vector of the size that the statuses
  /// need.
  mutating func finish() -> [TransportFeedback.StatusChunk] {
    var rest = waiting[...]
    while let first = rest.first {
      let run = rest.prefix(Chunk.runCapacity).prefix { $0 == first }.count
      let oneBit = rest.prefix(Chunk.oneBitCapacity).prefix { $0 != .largeDelta }.count
      if run == rest.count || run >= Chunk.oneBitCapacity || run >= Chunk.twoBitCapacity && oneBit <= run {
        chunks.append(.run(first, count: UInt16(run)))
        rest = rest.dropFirst(run)
      } else if oneBit == Chunk.oneBitCapacity || oneBit == rest.count {
        chunks.append(.oneBitVector(Self.bits(rest.prefix(Chunk.oneBitCapacity), width: 1)))
        rest = rest.dropFirst(Chunk.oneBitCapacity)
      } else {
        chunks.append(.twoBitVector(Self.bits(rest.prefix(Chunk.twoBitCapacity), width: 2)))
        rest = rest.dropFirst(Chunk.twoBitCapacity)
      }
    }
    waiting = []
    defer { chunks = [] }
    return chunks
  }

  /// Returns the statuses from bit 13 downwards, `width` bits each.
  private static func bits(_ statuses: ArraySlice<TransportFeedback.Status>, width: Int) -> UInt16 {
    var bits: UInt16 = 0
    var shift = 14
    for status in statuses {
      shift -= width
      bits |= UInt16(status.rawValue) << shift
    }
    return bits
  }
}
