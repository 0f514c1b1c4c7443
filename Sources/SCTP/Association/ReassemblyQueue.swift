import NIOCore

/// Assembles messages from fragments and brings ordered ones in order (RFC 9260, 6.6 and 6.9).
///
/// Fragments of a message have consecutive TSNs. Those that arrived are kept in runs, in order of TSN; a run with a first
/// and a last fragment is a message.
struct ReassemblyQueue: Sendable {
  enum Delivery: Sendable {
    case message(SCTPMessage)
    case tooLarge(stream: UInt16)
  }

  struct Run: Sendable {
    var tsns: ClosedRange<Int64>
    /// The fields of the first fragment that arrived, without its payload.
    let chunk: DataChunk
    var isBegun: Bool
    var isEnded: Bool
    var fragments: [ByteBuffer]
    var bytes: Int
    /// Whether the message is too large: its fragments are dropped until its end.
    var isOversized = false

    var cost: Int { bytes + fragments.count * SCTPLimits.entryOverhead }
  }

  struct Stream: Sendable {
    var next: UInt16 = 0
    /// Complete messages that wait for earlier ones, by stream sequence number; nil for one that was too large.
    var waiting: [UInt16: SCTPMessage?] = [:]
  }

  let maximumMessageBytes: Int
  /// The memory of all fragments and waiting messages, with an overhead for each.
  var heldBytes = 0
  var refusedMessages = 0
  var staleMessages = 0
  var skippedMessages = 0
  /// The number of runs, messages and streams that were looked at or moved.
  var visits = 0
  var runs: [Run] = []
  var streams: [UInt16: Stream] = [:]

  init(maximumMessageBytes: Int) {
    self.maximumMessageBytes = maximumMessageBytes
  }

  var partialMessages: Int { runs.count }

  /// Adds a new chunk and returns the messages that can be delivered.
  ///
  /// - Throws: ``Violation`` if the chunk does not continue the message of its neighbours.
  mutating func insert(_ chunk: DataChunk, tsn: Int64) throws(Violation) -> [Delivery] {
    if chunk.isFirst, chunk.isLast {
      let isOversized = chunk.payload.readableBytes > maximumMessageBytes
      return deliver(chunk, payload: isOversized ? nil : chunk.payload.compact)
    }
    let index = try add(chunk, tsn: tsn)
    dropIfOversized(index)
    guard runs[index].isBegun, runs[index].isEnded else { return [] }
    visits += runs.count - index
    let run = runs.remove(at: index)
    heldBytes -= run.cost
    return deliver(run.chunk, payload: run.isOversized ? nil : ByteBuffer(joining: run.fragments, bytes: run.bytes))
  }

  /// A chunk whose fields contradict its place between other fragments.
  struct Violation: Error {}

  /// Adds a fragment to the run before or after it, or to a new one, and returns its index.
  private mutating func add(_ chunk: DataChunk, tsn: Int64) throws(Violation) -> Int {
    let index = index(above: tsn)
    let joinsBefore =
      index > 0 && !chunk.isFirst && !runs[index - 1].isEnded && runs[index - 1].tsns.upperBound + 1 == tsn
    let joinsAfter =
      index < runs.count && !chunk.isLast && !runs[index].isBegun && runs[index].tsns.lowerBound == tsn + 1
    if joinsBefore { try check(chunk, continues: runs[index - 1].chunk) }
    if joinsAfter { try check(chunk, continues: runs[index].chunk) }

    var payload = chunk.payload.compact
    let position = joinsBefore ? index - 1 : index
    if joinsBefore {
      heldBytes -= runs[position].cost
      if runs[position].isOversized { payload.clear() } else { runs[position].fragments.append(payload) }
      runs[position].bytes += payload.readableBytes
      runs[position].tsns = runs[position].tsns.lowerBound...tsn
      runs[position].isEnded = chunk.isLast
    } else {
      visits += runs.count - position
      var header = chunk
      header.payload = ByteBuffer()
      runs.insert(
        Run(
          tsns: tsn...tsn, chunk: header, isBegun: chunk.isFirst, isEnded: chunk.isLast, fragments: [payload],
          bytes: payload.readableBytes),
        at: position)
    }
    if joinsAfter {
      let after = runs.remove(at: position + 1)
      visits += runs.count - position + after.fragments.count
      heldBytes -= after.cost
      runs[position].fragments += after.fragments
      runs[position].bytes += after.bytes
      runs[position].tsns = runs[position].tsns.lowerBound...after.tsns.upperBound
      runs[position].isEnded = after.isEnded
      if after.isOversized { runs[position].isOversized = true }
    }
    heldBytes += runs[position].cost
    return position
  }

  private func check(_ chunk: DataChunk, continues other: DataChunk) throws(Violation) {
    guard chunk.stream == other.stream, chunk.isUnordered == other.isUnordered,
      chunk.isUnordered || chunk.streamSequenceNumber == other.streamSequenceNumber
    else { throw Violation() }
  }

  private mutating func dropIfOversized(_ index: Int) {
    guard runs[index].isOversized || runs[index].bytes > maximumMessageBytes else { return }
    heldBytes -= runs[index].cost
    runs[index].isOversized = true
    runs[index].fragments = []
    runs[index].bytes = 0
  }

  /// Returns the index of the first run that begins above `tsn`.
  private func index(above tsn: Int64) -> Int {
    // Most chunks are the newest.
    guard let last = runs.last, last.tsns.lowerBound > tsn else { return runs.count }
    var low = 0
    var high = runs.count - 1
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].tsns.lowerBound > tsn { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension ByteBuffer {
  /// The same bytes in storage of their own if they would keep a much larger packet in memory.
  fileprivate var compact: ByteBuffer {
    readableBytes * 2 >= storageCapacity ? self : ByteBuffer(bytes: readableBytesView)
  }

  fileprivate init(joining fragments: [ByteBuffer], bytes: Int) {
    self.init()
    reserveCapacity(bytes)
    for fragment in fragments { writeImmutableBuffer(fragment) }
  }
}
