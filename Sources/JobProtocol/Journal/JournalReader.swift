internal import FoundationEssentials
internal import JSON

/// Reads the entries of a journal as it grows: bytes in, entries out.
///
/// An incomplete last line is kept until the rest of it comes; a journal that ends in one is read up to the line before.
package struct JournalReader: Sendable {
  /// The position behind the last complete line, in bytes from the beginning of the file. Reading can go on from there with a
  /// new reader.
  package private(set) var position: Int64
  /// The `seq` of the last entry; 0 before the first.
  package private(set) var lastSeq: Int64
  /// What was read behind ``position``.
  private var rest: [UInt8] = []
  /// What the next call throws, because entries came before the line.
  private var broken: BrokenLine?

  /// - Parameters:
  ///   - position: where the first bytes that come begin in the file: 0, or the ``position`` of an earlier reader.
  ///   - lastSeq: the `seq` of the last entry before that position.
  package init(position: Int64 = 0, lastSeq: Int64 = 0) {
    self.position = position
    self.lastSeq = lastSeq
  }

  /// How many bytes of an incomplete line have been read.
  package var incompleteBytes: Int { rest.count }

  /// Reads the bytes that follow in the file.
  ///
  /// - Returns: the entries of the lines that are complete now; those before a broken line.
  /// - Throws: a ``BrokenLine``, if the next complete line is no entry. The reader then cannot be used any more; ``position`` is the line's.
  package mutating func read(_ bytes: some Sequence<UInt8>) throws(BrokenLine) -> [JournalEntry] {
    if let broken { throw broken }
    // What was there before has no end of a line.
    var searched = rest.count
    rest.append(contentsOf: bytes)
    var entries: [JournalEntry] = []
    var start = 0
    while let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      searched = end + 1
      do {
        entries.append(try entry(of: rest[start..<end]))
      } catch {
        rest.removeFirst(start)
        if entries.isEmpty { throw error }
        broken = error
        return entries
      }
      position += Int64(end + 1 - start)
      start = end + 1
    }
    rest.removeFirst(start)
    guard rest.count <= JournalEntry.maximumBytes else {
      let error = BrokenLine(position: position, after: lastSeq, .tooLong)
      if entries.isEmpty { throw error }
      broken = error
      return entries
    }
    return entries
  }

  private mutating func entry(of line: ArraySlice<UInt8>) throws(BrokenLine) -> JournalEntry {
    guard line.count <= JournalEntry.maximumBytes else {
      throw BrokenLine(position: position, after: lastSeq, .tooLong)
    }
    let limits = JSONLimits(bytes: JournalEntry.maximumBytes, values: 5_000, depth: 4, nameBytes: 64)
    guard let entry = try? JSONReader.decode(JournalEntry.self, from: Data(line), within: limits) else {
      throw BrokenLine(position: position, after: lastSeq, .noEntry)
    }
    guard lastSeq < Int64.max, entry.seq == lastSeq + 1 else {
      throw BrokenLine(position: position, after: lastSeq, .outOfOrder(entry.seq))
    }
    lastSeq = entry.seq
    return entry
  }

  /// A complete line that is no entry.
  package struct BrokenLine: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Cause: Sendable, Hashable {
      case tooLong
      case noEntry
      /// Its `seq`, which does not follow the one before.
      case outOfOrder(Int64)
    }

    /// Where the line begins, in bytes from the beginning of the file.
    package let position: Int64
    /// The `seq` of the last entry before it.
    package let lastSeq: Int64
    package let cause: Cause

    init(position: Int64, after lastSeq: Int64, _ cause: Cause) {
      self.position = position
      self.lastSeq = lastSeq
      self.cause = cause
    }

    package var description: String {
      let reason =
        switch cause {
        case .tooLong: "it has more than \(JournalEntry.maximumBytes) bytes"
        case .noEntry: "it is no entry"
        case .outOfOrder(let seq): "its seq is \(seq)"
        }
      return "The line of the journal at byte \(position), after seq \(lastSeq), cannot be read: \(reason)."
    }
  }
}
